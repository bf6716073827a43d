"""All checks of data beyond one machine in one command, offline: engines, files, objects, encrypted Parquet, the guide.

    python crates/fastgcm-python/interop/run.py [FOLDER] [--official PYTHON] [--official-java FOLDER] [--object PROGRAM] [--module FASTGCM.SO] [--quick]

It works in FOLDER (target/data), which it makes anew. Every server runs on this machine: KMS is moto's, and S3 is moto's and Ceph's (radosgw.py), in turn.
`--official` is a Python that has Amazon's client, `--official-java` what java/pom.xml makes, `--object` the example of fastgcm-s3, `--module` the provider.
`--quick` takes less data and fewer rounds.
"""

import argparse
import base64
import os
import pathlib
import shutil
import subprocess
import sys

import radosgw

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def run(folder, name, *command, **environment):
    """Runs a program of this folder, with these variables. Its output goes to a log."""
    log = folder / f"{name}.log"
    print(f"-- {name}", flush=True)
    with open(log, "wb") as out:
        try:
            options = {"cwd": HERE, "env": os.environ | environment, "stdout": out, "stderr": subprocess.STDOUT, "timeout": 1800}
            code = subprocess.run([sys.executable, *map(str, command)], **options).returncode
        except subprocess.TimeoutExpired:
            code = "none: it hangs"
    if code:
        print(log.read_text(errors="replace")[-5000:])
        sys.exit(f"{name}: exit status {code}; all of its output is in {log}")


def forms(key):
    yield from (key, key.hex().encode(), key.hex().upper().encode(), repr(key)[2:-1].encode())
    yield from (base64.b64encode(key).rstrip(b"="), base64.urlsafe_b64encode(key).rstrip(b"="))
    # Base64 of something longer has the key at one of three places.
    yield from (base64.b64encode(bytes(shift) + key)[4 : 4 * (len(key) // 3)] for shift in (1, 2))


def no_key_anywhere(folder):
    """Looks for FASTGCM_KEY, raw, in hex and in base64, in all files: what engines and tests have serialized, logged, and left in temporary files. One file
    with the key is planted, and must be found."""
    key = bytes.fromhex(os.environ["FASTGCM_KEY"])
    wanted = set(forms(key))
    planted = folder / "planted"
    planted.write_bytes(b"x" * 100 + base64.b64encode(b"zz" + key))
    found, searched = [], 0
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "text":
            data = path.read_bytes()
            searched += 1
            found += [path for form in wanted if form in data]
    planted.unlink()
    if set(found) != {planted}:
        sys.exit(f"the key stands in {sorted(set(map(str, found)) - {str(planted)}) or 'no file, not even in the planted one'}")
    print(f"looked for the key in {searched} files")
    print("data::no_key_anywhere ok 1", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "target/data")
    arguments.add_argument("--official", type=pathlib.Path, default=ROOT / "target/official/bin/python")
    arguments.add_argument("--official-java", type=pathlib.Path, default=ROOT / "target/official-java")
    arguments.add_argument("--object", type=pathlib.Path, default=ROOT / "target/release/examples/object")
    arguments.add_argument("--module", type=pathlib.Path, default=ROOT / "target/openssl/fastgcm.so")
    arguments.add_argument("--quick", action="store_true")
    arguments = arguments.parse_args()
    wanted = {"official": "the official client for Python", "official_java": "the one for Java", "object": "the example of fastgcm-s3"}
    for name, how in (wanted | {"module": "the OpenSSL provider"}).items():
        needed = getattr(arguments, name)
        if not needed.exists():
            sys.exit(f"{needed}: {how} is not there")
    folder = arguments.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    os.environ.update({f"FASTGCM_{name.upper()}": str(getattr(arguments, name).absolute()) for name in wanted})
    os.environ.update(TMPDIR=str(folder / "tmp"), NO_PROXY="127.0.0.1,localhost")
    os.environ["FASTGCM_KEY"] = os.urandom(32).hex()
    mib, rounds = (64, 2) if arguments.quick else (256, 5)
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run(folder, "engines", "engines.py", folder / "engines", mib, rounds)
    run(folder, "parquet", "parquet.py", folder / "parquet", arguments.module.absolute(), 8 if arguments.quick else 32)
    of_s3 = ["test_fsspec.py", "test_rust.py", "test_s3.py"]
    run(folder, "tests", *tests, "--basetemp", folder / "pytest", "test_abstract.py", "test_kinds.py", *of_s3)
    print(f"-- Ceph {radosgw.version()}", flush=True)
    with radosgw.server(folder / "ceph") as url:
        run(folder, "tests-ceph", *tests, "--basetemp", folder / "pytest-ceph", *of_s3, FASTGCM_S3=url)
        run(folder, "guide", "guide.py", folder / "guide", FASTGCM_S3=url)
    no_key_anywhere(folder)


if __name__ == "__main__":
    main()
