"""Tests releases: plants each reason for refusal in a copy of the repository; signs stand-ins for packages, and downloads and attacks them.

    python3 release/tests.py
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "release"))
sys.dont_write_bytecode = True

import attacks  # noqa: E402
import make  # noqa: E402
import publish  # noqa: E402
import release  # noqa: E402
from pages import released  # noqa: E402
from rehearse import download  # noqa: E402
from rehearse import CHECK, COMPARED, CRATES, IMAGE, MAKE, NPM, step  # noqa: E402
from rehearse import lines as release_lines  # noqa: E402

MAIL = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]


def git(*command, cwd):
    return subprocess.run(["git", *MAIL, *command], cwd=cwd, check=True, capture_output=True, text=True).stdout


def write(path, old, new):
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1))


def refuses(call, expected="", of=SystemExit):
    """That call ends with that error, which says this."""
    try:
        call()
    except of as error:
        assert expected in str(error), error
    else:
        raise AssertionError(f"not refused: {expected}")


def committed(copy, name, old, new):
    write(copy / name, old, new)
    git("commit", "--quiet", "--all", "--message", "planted", cwd=copy)


# The planted change, the arguments, and the expected message.
REFUSED = {
    "no version": (None, ["0.1"], "0.1 is no version"),
    "an older version": (None, ["0.0.9", "--rehearse"], "older than 0.1.0"),
    "a tag": (lambda copy: git("tag", "v0.1.0", cwd=copy), ["0.1.0", "--rehearse"], "there is the tag v0.1.0"),
    "a dirty tree": (lambda copy: write(copy / "README.md", "AES", "DES"), ["0.1.0", "--rehearse"], "README.md"),
    "a file that nobody added": (lambda copy: (copy / "new").write_text("x"), ["0.1.0", "--rehearse"], "?? new"),
    "no entry": (None, ["0.2.0", "--rehearse"], 'no entry "## 0.2.0, unreleased"'),
    "a dated entry": (lambda copy: committed(copy, "CHANGELOG.md", "0.1.0, unreleased", "0.1.0, 2026-11-28"), ["0.1.0", "--rehearse"], "CHANGELOG.md has, 2026-11-28"),
    "no key": (None, ["0.1.0"], "--key names"),
    "no private key": (None, ["0.1.0", "--key", "README.md", "--checks", "no_such_check"], "README.md signs nothing"),
    "a failed check": (lambda copy: committed(copy, "xtask/src/main.rs", "fn main", "fn  main"), ["0.1.0", "--rehearse", "--checks", "format"], "a check failed"),
}


def refused(folder):
    for number, (name, (plant, words, expected)) in enumerate(REFUSED.items()):
        copy = folder / str(number)
        git("clone", "--quiet", "--shared", "--no-tags", ROOT, copy, cwd=folder)
        if plant:
            plant(copy)
        ran = subprocess.run([sys.executable, "-B", "release/release.py", *words], cwd=copy, capture_output=True, text=True)
        found = f"{name}: {ran.stdout[-400:]}{ran.stderr}"
        assert ran.returncode == 1 and "refused, and nothing is made" in ran.stderr and expected in ran.stderr, found
        assert not (copy / "target/releases").exists(), f"{name}: something was made"
    print(f"release::refused ok {len(REFUSED)}")


def pages():
    page, source = ROOT / "README.md", ROOT
    text = 'A<!-- unreleased --> (not published yet)<!-- released -->.\nx = { path = "../fastgcm/crates/aes-gcm-010" }\ncargo add y --path ../fastgcm/crates/y\n'
    assert released(text, source, page, "1.2.3") == 'A.\nx = { version = "0.10" }\ncargo add y\n'
    crate = ROOT / "crates/fastgcm-java/README.md"
    assert released("[a](../../docs/java.md#b) [c](https://d)", source, crate, "1.2.3").startswith("[a](https://github.com/fastgcm/fastgcm/blob/v1.2.3/docs/java.md#b) [c](https://d)")
    for left in ("This page is of no release.", "cargo add x --path ../fastgcm/lab/x", "A<!-- released B-->"):
        refuses(lambda: released(left, source, page, "1.2.3"), "still says")
    print("release::pages ok 5")


def owners(folder):
    """Checks that only the key of SECURITY.md is accepted, before anything is made."""
    key, public = attacks.key(folder, "owner")
    other, evil = attacks.key(folder, "other")
    locked = folder / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", locked], check=True)
    page = (ROOT / "SECURITY.md").read_text()
    release.ROOT = folder
    os.environ |= {"SSH_ASKPASS": "/bin/false", "SSH_ASKPASS_REQUIRE": "force"}  # no prompts
    try:
        (folder / "SECURITY.md").write_text(page.replace(release_lines(page)[1], public))
        release.refuse_another_key(key)
        for wrong, expected in ((other, "is not the key of SECURITY.md"), (folder / "SECURITY.md", "signs nothing"), (locked, "signs nothing")):
            refuses(lambda: release.refuse_another_key(wrong), expected)
        (folder / "SECURITY.md").write_text(page.replace(release_lines(page)[1], public) + f"\necho 'fastgcm {evil}' > ~/fastgcm.signers\n")
        refuses(lambda: release.refuse_another_key(key), "2 keys")
    finally:
        release.ROOT = ROOT
    print("release::owners ok 5")


def published(folder):
    """Signs stand-ins for packages, serves them over HTTP, and downloads and verifies them with the lines of the released page; checks the tag."""
    out, there, source = (folder / name for name in ("made", "there", "source"))
    for each in (out, there / "downloaded", source):
        each.mkdir(parents=True)
    for name in ("fastgcm-0.1.1.crate", "fastgcm-0.1.1.tar.gz", "fastgcm-0.1.1-cp311-abi3-manylinux_2_28_x86_64.whl", "libfastgcm-dev_0.1.1_arm64.deb"):
        (out / name).write_text(name)
    page = released((ROOT / "SECURITY.md").read_text(), ROOT, ROOT / "SECURITY.md", "0.1.1")
    public = release.signed(out, None, "0.1.1")
    assert download(out, there / "downloaded", page, public, "0.1.1") == 6
    git("init", "--quiet", cwd=source)
    git("commit", "--quiet", "--allow-empty", "--message", "Release 0.1.1", cwd=source)
    release.tag_signature(source, out, "0.1.1")
    for name in ("SHA256SUMS", "SHA256SUMS.sig"):
        assert git("show", f"signed-0.1.1:{name}", cwd=source) == (out / name).read_text()
    assert len(git("ls-tree", "signed-0.1.1", cwd=source).splitlines()) == 2
    # Text that no page of a release has; and a page with other files than were signed.
    for wrong in ("two words", "folder/file"):
        (out / wrong).parent.mkdir(exist_ok=True)
        (out / wrong).write_text("x")
        refuses(lambda: release.signed(out, None, "0.1.1"), wrong.split("/")[0])
        shutil.rmtree(out / "folder", ignore_errors=True)
        (out / "two words").unlink(missing_ok=True)
    for change in (lambda: (out / "fastgcm-0.1.1.crate").write_text("y"), lambda: (out / "more").write_text("x")):
        change()
        shutil.rmtree(there)
        (there / "downloaded").mkdir(parents=True)
        refuses(lambda: download(out, there / "downloaded", page, public, "0.1.1"), of=(SystemExit, subprocess.CalledProcessError))
        (out / "fastgcm-0.1.1.crate").write_text("fastgcm-0.1.1.crate")
    print("release::published ok 5")


def security():
    """Checks that each package's page has the lines of verification for its version."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "clone")
        git("clone", "--quiet", "--shared", "--no-tags", ROOT, source, cwd=folder)
        shutil.copy(ROOT / "SECURITY.md", source)
        pages = [source / "SECURITY.md", *sorted(source.glob("crates/*/README.md")), source / "docs/java.md"]
        for path in pages:
            shutil.copy(ROOT / path.relative_to(source), path)
            path.write_text(released(path.read_text(), source, path, "1.2.3"))
            text = path.read_text()
            typed, key = release_lines(text)
            assert "-n fastgcm-1.2.3 " in typed and f"verify.sh '{key}' 1.2.3" in text, path
            assert "/blob/main/" not in text, path
    print(f"release::security ok {len(pages)}")


class Registries(BaseHTTPRequestHandler):
    """Answers like the index of crates.io, npm and PyPI, from `pages`."""

    pages = {}

    def do_GET(self):
        page = self.pages.get(self.path)
        self.send_response(404 if page is None else 500 if page == "ill" else 200)
        self.end_headers()
        self.wfile.write((page or "").encode())

    def log_message(self, *_):
        pass


def resumed(folder):
    """Checks publishing three packages, one of each kind, if a registry has nothing, equal bytes, or other bytes."""
    made = folder / "to-publish"
    made.mkdir()
    crate, wheel, package = (made / name for name in ("fastgcm-0.1.0.crate", "fastgcm-0.1.0-py3-none-any.whl", "fastgcm-linux-x64-gnu-0.1.0.tgz"))
    crate.write_text("crate")
    wheel.write_text("wheel")
    described = folder / "package/package.json"
    described.parent.mkdir()
    described.write_text('{"name": "@fastgcm/linux-x64-gnu", "version": "0.1.0"}')
    with tarfile.open(package, "w:gz") as archive:
        archive.add(described, "package/package.json")
    digest = lambda text: hashlib.sha256(text.encode()).hexdigest()  # noqa: E731
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    index = lambda sum: f'{{"vers": "0.0.9", "cksum": "{digest("old")}"}}\n{{"vers": "0.1.0", "cksum": "{sum}"}}\n'  # noqa: E731
    npm = lambda sum: f'{{"versions": {{"0.1.0": {{"dist": {{"integrity": "{sum}"}}}}}}}}'  # noqa: E731
    simple = lambda sum: f'<a href="https://files.example/x/{wheel.name}#sha256={sum}">{wheel.name}</a>'  # noqa: E731
    answers = {"/fa/st/fastgcm": (index, digest("crate")), "/@fastgcm%2Flinux-x64-gnu": (npm, integrity), "/simple/fastgcm/": (simple, digest("wheel"))}
    with ThreadingHTTPServer(("127.0.0.1", 0), Registries) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ |= {f"FASTGCM_{name}": f"http://127.0.0.1:{server.server_port}" for name in ("CRATES", "NPM", "PYPI")}
        names = lambda: sorted(file.name for files in publish.found(made).values() for _, file in files)  # noqa: E731
        assert len(names()) == 3
        for place, (page, right) in answers.items():
            Registries.pages[place] = page(right)
        assert names() == []
        count = 2
        for place, (page, right) in answers.items():
            Registries.pages[place] = page("0" * 64)
            refuses(lambda: publish.found(made), "nothing is uploaded")
            del Registries.pages[place]
            assert len(names()) == 1
            for answer in ("ill", "<html>Please accept the rules of this network</html>", page(right)[:40]):
                Registries.pages[place] = answer
                refuses(lambda: publish.found(made), of=(SystemExit, ValueError, OSError))
                count += 1
            Registries.pages[place] = page(right)
            count += 2
        before = Registries.pages["/simple/fastgcm/"]
        Registries.pages["/simple/fastgcm/"] = f'{before}<a href="x/fastgcm-0.1.0.post1-py3-none-any.whl#sha256={"0" * 64}"></a>'
        refuses(lambda: publish.found(made), "nobody made here: fastgcm-0.1.0.post1")
        Registries.pages["/simple/fastgcm/"] = before.replace("0.1.0", "0.1.01") + before
        assert names() == []
        wheel.unlink()
        refuses(lambda: publish.found(made), "nothing for python")
        server.shutdown()
    print(f"release::resumed ok {count + 1}")


def habits(folder):
    """Checks that the commit of a release does not depend on the owner's settings of Git."""
    source = folder / "habits"
    source.mkdir()
    settings = {"commit.gpgSign": "true", "tag.gpgSign": "true", "core.autocrlf": "true", "core.hooksPath": str(source), "gpg.program": "false"}
    (source / "config").write_text("".join(f"[{name.split('.')[0]}]\n{name.split('.')[1]} = {value}\n" for name, value in settings.items()))
    (source / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (source / "pre-commit").chmod(0o755)
    copy = source / "copy"
    git("clone", "--quiet", "--shared", "--no-tags", ROOT, copy, cwd=source)
    if os.geteuid() == 0:  # as a runner's checkout, which belongs to another user
        subprocess.run(["chown", "-R", "1001:1001", copy], check=True)
    program = "import release; release.reset_settings(); release.clone('0.1.0')"
    commits = []
    for config in ("/dev/null", source / "config"):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": str(config), "PYTHONPATH": str(copy / "release"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", program], cwd=copy, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        made = copy / "target/releases/source"
        assert git("cat-file", "-t", "v0.1.0", cwd=made) == "commit\n" and b"\r\n" not in (made / "README.md").read_bytes()
        commits.append(git("rev-parse", "HEAD", cwd=made))
    assert commits[0] == commits[1]
    print(f"release::habits ok {len(settings)}")


def kept(folder):
    """Checks that a crate with a version of its own is made once, and all others for each release."""
    there = folder / "kept"
    (there / "crates/own").mkdir(parents=True)
    (there / "crates/ours").mkdir()
    own, ours = there / "crates/own/Cargo.toml", there / "crates/ours/Cargo.toml"
    own.write_text('version = "0.10.3" # that of another crate\n')
    ours.write_text("version.workspace = true\n")
    git("init", "--quiet", cwd=there)
    git("add", "--all", cwd=there)
    git("commit", "--quiet", "--message", "Release 0.1.0", cwd=there)
    maker = make.Maker.__new__(make.Maker)
    maker.source, maker.version = there, "0.1.1"
    answer = lambda: (maker.released_before(own), maker.released_before(ours))  # noqa: E731
    assert answer() == (False, False)
    git("tag", "v0.1.0", cwd=there)
    assert answer() == (True, False)
    maker.version = "0.1.0"
    assert answer() == (False, False)
    maker.version = "0.1.1"
    own.write_text('version = "0.10.4"\n')
    assert answer() == (False, False)
    print("release::kept ok 4")


WHEELS = "wheels and sources"
PAGE = "the files, the sums and their signature, as they were verified"
# runner.py runs the first two, the rehearsal the others; the last one installs a version of Rust, which is already installed here.
ELSEWHERE = [IMAGE, MAKE, CHECK, CRATES, NPM, "the Cargo that has packed the crates"]


def steps(folder):
    """Checks that a test or the rehearsal runs the shell of each step of the workflow, and that PyPI's action and the page get the right files."""
    names = re.findall(r"- name: (.*)\n +run:", (ROOT / ".github/workflows/release.yml").read_text())
    assert sorted(names) == sorted([COMPARED, WHEELS, PAGE, *ELSEWHERE]), names
    there = folder / "steps"
    (there / "made").mkdir(parents=True)
    files = ["fastgcm-0.1.0.crate", "fastgcm-0.1.0.tar.gz", "fastgcm-0.1.0-x86_64-linux.tar.gz", "fastgcm-0.1.0-abi3.whl", "SHA256SUMS", "SHA256SUMS.sig"]
    for name in files:
        (there / "made" / name).write_text(name)
    program = there / "gh"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "GITHUB_REF_NAME": "v0.1.0", "PATH": f"{there}{os.pathsep}{os.environ['PATH']}"}
    typed = lambda name: subprocess.run(["sh", "-e", "-c", step(ROOT, name)], cwd=there, env=environment, check=True, capture_output=True, text=True).stdout  # noqa: E731
    words = typed(PAGE).splitlines()
    assert words[:3] == ["release", "create", "v0.1.0"] and "--verify-tag" in words and "--draft" in words, words
    assert words[-len(files) :] == sorted(f"made/{name}" for name in files) and "fastgcm 0.1.0" in words, words
    typed(WHEELS)
    # The workflow's checkout belongs to another user than the one who runs the steps, so Git does not read it without configuration.
    [trust] = re.findall(r"^ +(git config --global .*)", (ROOT / ".github/workflows/release.yml").read_text(), re.MULTILINE)
    home, checkout = there / "home", there / "checkout"
    home.mkdir()
    git("clone", "--quiet", "--no-checkout", ROOT, checkout, cwd=there)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "1001:1001", checkout], check=True)
        # A rehearsal sets GIT_CONFIG_GLOBAL, whose file `git config --global` would replace.
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"HOME": str(home)}
        cloned = lambda: subprocess.run(["git", "clone", "--quiet", "--bare", checkout, there / "clone"], env=own, capture_output=True).returncode  # noqa: E731
        assert cloned(), "another user's repository is read"
        subprocess.run(["sh", "-e", "-c", trust], env=own, check=True)
        assert cloned() == 0
        assert pathlib.Path(os.devnull).is_char_device()
    assert sorted(file.name for file in (there / "python").iterdir()) == ["fastgcm-0.1.0-abi3.whl", "fastgcm-0.1.0.tar.gz"]
    print(f"release::steps ok {len(names)}")


def rust():
    """Checks that the owner builds with the workflow's version of Rust, because another one makes other files."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    named = re.findall(r"(?:toolchain|toolchain install|RUSTUP_TOOLCHAIN:) (\d[\d.]+)", workflow)
    assert named == [release.wanted_rust()] * 3, named
    release.refuse_another_rust(subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()[1])
    refuses(lambda: release.refuse_another_rust("1.0.0"), "1.0.0")
    print("release::rust ok 2")


def compared(folder):
    """Checks that the workflow's step of comparison succeeds only if its files are those that the owner has signed."""
    there, made = folder / "workflow", "target/releases/0.1.0"
    (there / "release").mkdir(parents=True)
    shutil.copy(ROOT / "release/verify.sh", there / "release")
    key, public = attacks.key(folder, "owner")
    page = (ROOT / "SECURITY.md").read_text()
    (there / "SECURITY.md").write_text(page.replace(release_lines(page)[1], public))
    git("init", "--quiet", cwd=there)
    git("add", "--all", cwd=there)
    git("commit", "--quiet", "--message", "Release 0.1.0", cwd=there)

    def make_it(text):
        shutil.rmtree(there / "made", ignore_errors=True)
        (there / made).mkdir(parents=True)
        (there / made / "fastgcm-0.1.0.crate").write_text(text)

    def typed():
        return subprocess.run(["sh", "-e", "-c", step(ROOT, COMPARED)],
                              cwd=there, env={**os.environ, "GITHUB_REF_NAME": "v0.1.0"}, capture_output=True, text=True)

    make_it("crate")
    assert typed().returncode, "nothing is signed"
    make_it("crate")
    attacks.sums(there / made)
    attacks.sign(there / made, key)
    release.tag_signature(there, there / made, "0.1.0")
    done = typed()
    assert done.returncode == 0 and 'Good "fastgcm-0.1.0"' in done.stdout, done
    make_it("another crate")
    assert typed().returncode
    make_it("crate")
    (there / "SECURITY.md").write_text(page)
    assert typed().returncode, "signed by nobody"
    print("release::compared ok 4")


def main():
    with tempfile.TemporaryDirectory() as folder:
        refused(pathlib.Path(folder))
        owners(pathlib.Path(folder))
        published(pathlib.Path(folder))
        resumed(pathlib.Path(folder))
        kept(pathlib.Path(folder))
        habits(pathlib.Path(folder))
        compared(pathlib.Path(folder))
        steps(pathlib.Path(folder))
    rust()
    pages()
    security()
    attacks.main()


if __name__ == "__main__":
    main()
