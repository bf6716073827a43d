#!/usr/bin/env python3
"""NIST's CAVP vectors for AES-GCM, rewritten as one line per case.

    make_cavp_sample.py WHEEL                     rebuild cavp_gcm_sample.txt (504 cases) beside this file
    make_cavp_sample.py --fetch DIR               the same, from the wheel in DIR, which pip downloads if it is not there
    make_cavp_sample.py ... --check               write no sample, but fail unless the committed one has just these bytes
    make_cavp_sample.py ... --full OUT            also write all 47,250 cases to OUT, in the same format

The source is the wheel of cryptography_vectors that is pinned below, by version and by SHA-256; see NOTICE. Each of its six files
holds 525 groups of 15 cases: every combination of 3 lengths of the nonce, 5 of the text, 5 of the AAD and 7 of the tag. The sample
has the first case of each group with a tag of 16 bytes. Of each shorter tag it has, for each key, one case that is sealed, one that
is opened and one that is refused, with text and AAD.

A line of the output:

    encrypt|decrypt KEY NONCE AAD PLAINTEXT|FAIL CIPHERTEXT TAG

in lower-case hexadecimal, "-" for an empty field. FAIL in place of the plaintext: the tag is wrong, opening must fail.

Python's standard library only.
"""

import argparse
import hashlib
import pathlib
import subprocess
import sys
import zipfile

VERSION = "50.0.2"
WHEEL = f"cryptography_vectors-{VERSION}-py3-none-any.whl"
SHA256 = "51641f03a3eb4edbe9fb68e3a3574d25f86aa502d06391fffa886330d02778a0"
FILES = [f"gcm{kind}{bits}.rsp" for kind in ("EncryptExtIV", "Decrypt") for bits in (128, 192, 256)]
CASES_PER_FILE = 7875
SAMPLE = pathlib.Path(__file__).parent / "cavp_gcm_sample.txt"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("wheel", nargs="?", type=pathlib.Path, metavar="WHEEL")
    source.add_argument("--fetch", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--full", type=pathlib.Path, metavar="OUT")
    arguments = parser.parse_args()

    wheel = arguments.wheel or fetch(arguments.fetch)
    files = read(wheel)
    sample = [(name, chosen(found)) for name, found in files]
    if not arguments.check:
        write(SAMPLE, sample)
    elif SAMPLE.read_bytes() == as_text(sample):
        print(f"{SAMPLE.name} ok {count(sample)}")
    else:
        sys.exit(f"{SAMPLE.name} is not what {wheel.name} gives: run {pathlib.Path(__file__).name} without --check")
    if arguments.full:
        write(arguments.full, files)


def fetch(folder):
    """The wheel in `folder`; if it is not there, as pip finds it (pip's own configuration says where)."""
    if not (folder / WHEEL).exists():
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
            + [f"cryptography_vectors=={VERSION}"],
            check=True,
        )
    return folder / WHEEL


def read(wheel):
    """The six files as (name, cases), after the wheel's digest has been checked."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{wheel.name}: SHA-256 is {digest}, not the pinned {SHA256}")
    with zipfile.ZipFile(wheel) as archive:
        files = [(name, cases(archive.read(f"cryptography_vectors/ciphers/AES/GCM/{name}").decode("ascii"))) for name in FILES]
    for name, found in files:
        if len(found) != CASES_PER_FILE:
            sys.exit(f"{name}: {len(found)} cases, not {CASES_PER_FILE}")
    return files


def cases(response):
    """The cases of one response file, each a dictionary: "Key", "IV", "AAD", "CT", "Tag" and either "PT" or "FAIL"."""
    found = []
    for line in response.splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if name == "Count":
            found.append({})
        elif found and name and not name.startswith(("[", "#")):
            found[-1][name] = value
    return found


def chosen(found):
    """The first case of each kind in one file."""
    kinds = {}
    for case in found:
        if len(case["Tag"]) == 32:
            kinds.setdefault(tuple(len(case[name]) for name in ("IV", "AAD", "CT")), case)
        elif case["AAD"] and case["CT"]:
            kinds.setdefault((len(case["Tag"]), "FAIL" in case), case)
    return list(kinds.values())


def count(files):
    return sum(len(found) for _, found in files)


def write(path, files):
    path.write_bytes(as_text(files))
    print(f"{path.name} written {count(files)}")


def as_text(files):
    lines = [
        f"# NIST CAVP, AES-GCM: {count(files)} cases. Made by make_cavp_sample.py; see NOTICE.",
        "# encrypt|decrypt KEY NONCE AAD PLAINTEXT|FAIL CIPHERTEXT TAG",
    ]
    for name, found in files:
        lines.append(f"# {name}")
        lines += [as_line("encrypt" if "Encrypt" in name else "decrypt", case) for case in found]
    return ("\n".join(lines) + "\n").encode("ascii")


def as_line(direction, case):
    plaintext = "FAIL" if "FAIL" in case else case["PT"]
    fields = [case["Key"], case["IV"], case["AAD"], plaintext, case["CT"], case["Tag"]]
    return " ".join([direction] + [field or "-" for field in fields])


if __name__ == "__main__":
    main()
