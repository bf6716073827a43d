"""Publishes a finished release without compiling. Files that a registry already has with equal bytes are skipped, so an interrupted run can be repeated.

        python3 release/publish.py MADE check     lists the state of each file; an error if a registry has other bytes under a name of MADE
        python3 release/publish.py MADE crates    also uploads the missing crates
        python3 release/publish.py MADE npm       also uploads the missing packages of npm

PyPI's own action uploads the wheels. FASTGCM_CRATES, FASTGCM_NPM and FASTGCM_PYPI name registries in place of the public ones (in a rehearsal).
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]


def fetched(variable, public, path):
    """Returns a registry's answer, or an empty string for an unknown name."""
    request = urllib.request.Request(os.environ.get(variable, public).rstrip("/") + path, headers={"User-Agent": "fastgcm-release"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return ""
        raise


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def crate(file):
    """Returns a crate's name, and its state: whether the index of crates.io has its sum, another, or none."""
    name, version = re.fullmatch(r"(.+?)-(\d+\.\d+\.\d+)\.crate", file.name).groups()
    folder = f"{name[:2]}/{name[2:4]}" if len(name) > 3 else {1: "1", 2: "2", 3: f"3/{name[0]}"}[len(name)]
    lines = map(json.loads, fetched("FASTGCM_CRATES", "https://index.crates.io", f"/{folder}/{name}").splitlines())
    return name, compared({each["vers"]: each["cksum"] for each in lines}.get(version), sha256(file))


def npm(file):
    with tarfile.open(file) as archive:
        described = json.load(archive.extractfile("package/package.json"))
    page = fetched("FASTGCM_NPM", "https://registry.npmjs.org", "/" + urllib.parse.quote(described["name"], safe="@"))
    there = json.loads(page or "{}").get("versions", {}).get(described["version"], {}).get("dist", {})
    digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    # The package that selects a library comes after the libraries.
    return (described["name"] == "fastgcm", described["name"]), compared(there and there["integrity"], f"sha512-{digest}")


def wheel(file):
    page = fetched("FASTGCM_PYPI", "https://pypi.org", "/simple/fastgcm/")
    there = dict(re.findall(r'/([^/"#]+)#sha256=([0-9a-f]{64})', page))
    if page and not there:
        raise SystemExit("publish: PyPI's answer has no sums of files")
    # pip would prefer a foreign wheel of this version that names the machine more closely than ours.
    ours = re.match(r"fastgcm-\d+\.\d+\.\d+(?=[-.])", file.name)[0]
    if strangers := [name for name in there if re.match(rf"{re.escape(ours)}(?!\d)", name) and not (file.parent / name).exists()]:
        raise SystemExit(f"publish: refused, and nothing is uploaded: PyPI has files of this version that nobody made here: {', '.join(strangers)}")
    return file.name, compared(there.get(file.name), sha256(file))


def compared(there, here):
    return "missing" if not there else "there" if there == here else "other bytes"


KINDS = {"crates": (["*.crate"], crate), "python": (["*.whl", "fastgcm-[0-9]*[0-9].tar.gz"], wheel), "npm": (["*.tgz"], npm)}


def found(made):
    """Returns the missing files of each kind by name. Fails before any upload if a registry has other bytes."""
    missing, other = {}, []
    for kind, (patterns, ask) in KINDS.items():
        asked_for = [(*ask(file), file) for pattern in patterns for file in sorted(made.glob(pattern))]
        if not asked_for:
            raise SystemExit(f"publish: there is nothing for {kind} in {made}")
        for _, state, file in asked_for:
            print(f"publish: {state:11}  {file.name}", flush=True)
        other += [file.name for _, state, file in asked_for if state == "other bytes"]
        missing[kind] = sorted((name, file) for name, state, file in asked_for if state == "missing")
    if other:
        raise SystemExit(f"publish: refused, and nothing is uploaded: a registry has other bytes of {', '.join(other)}")
    return missing


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def upload_crates(made, missing):
    """Uploads crates. Cargo packs them again (it sends no file that it has not packed), and sends nothing unless it packs the bytes of MADE."""
    to = json.loads(os.environ.get("FASTGCM_CARGO_OPTIONS", "[]"))
    # The crate outside the workspace comes last, because it depends on one of the workspace.
    outside = ROOT / "crates/aes-gcm-010"
    number = re.search(r'^version = "([\d.]+)"', (outside / "Cargo.toml").read_text(), re.MULTILINE)[1]
    for folder in (ROOT, outside):
        files = [file for _, file in missing if (file.name == f"fastgcm-aes-gcm-{number}.crate") == (folder == outside)]
        if not files:
            continue
        names = [word for file in files for word in ("--package", re.sub(r"-\d.*", "", file.name))]
        run("cargo", "package", "--no-verify", *to, *names, cwd=folder)
        packed = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", folder / "target")) / "package"
        if differ := [file.name for file in files if sha256(packed / file.name) != sha256(file)]:
            raise SystemExit(f"publish: Cargo packs other bytes than were made: {', '.join(differ)}")
        run("cargo", "publish", "--no-verify", *to, *names, cwd=folder)


def upload_npm(made, missing):
    # Only a workflow with an identity can attest where the packages were made.
    provenance = ["--provenance"] if "ACTIONS_ID_TOKEN_REQUEST_URL" in os.environ else []
    for _, file in missing:
        run("npm", "publish", *provenance, "--access", "public", file.resolve())


def main(made, what):
    missing = found(made)
    if what != "check":
        {"crates": upload_crates, "npm": upload_npm}[what](made, missing[what])


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("check", "crates", "npm"):
        raise SystemExit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
