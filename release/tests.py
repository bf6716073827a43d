"""Plants each reason to refuse a release in a copy of the repository, and sees it refused; and changes a file behind its signature.

    python3 release/tests.py
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "release"))
sys.dont_write_bytecode = True

import release  # noqa: E402
from pages import released  # noqa: E402

MAIL = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]


def git(*command, cwd):
    return subprocess.run(["git", *MAIL, *command], cwd=cwd, check=True, capture_output=True, text=True).stdout


def write(path, old, new):
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1))


def committed(copy, name, old, new):
    write(copy / name, old, new)
    git("commit", "--quiet", "--all", "--message", "planted", cwd=copy)


# What is planted in a copy, the command's words, and what it must say.
REFUSED = {
    "no version": (None, ["0.1"], "0.1 is no version"),
    "an older version": (None, ["0.0.9", "--rehearse"], "older than 0.1.0"),
    "a tag": (lambda copy: git("tag", "v0.1.0", cwd=copy), ["0.1.0", "--rehearse"], "there is the tag v0.1.0"),
    "a dirty tree": (lambda copy: write(copy / "README.md", "AES", "DES"), ["0.1.0", "--rehearse"], "README.md"),
    "a file that nobody added": (lambda copy: (copy / "new").write_text("x"), ["0.1.0", "--rehearse"], "?? new"),
    "no entry": (None, ["0.2.0", "--rehearse"], 'no entry "## 0.2.0, unreleased"'),
    "a dated entry": (lambda copy: committed(copy, "CHANGELOG.md", "0.1.0, unreleased", "0.1.0, 2026-11-28"), ["0.1.0", "--rehearse"], "CHANGELOG.md has, 2026-11-28"),
    "no key": (None, ["0.1.0"], "--key names"),
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
    for left in ("It is not published yet.", "cargo add x --path ../fastgcm/lab/x", "A<!-- released B-->"):
        try:
            released(left, source, page, "1.2.3")
        except SystemExit as error:
            assert "still says" in str(error)
        else:
            raise AssertionError(f"not noticed: {left}")
    print("release::pages ok 5")


def verified(folder):
    """What the owner's key has signed is accepted; a changed, a missing and a further file are not, and no other key's signature."""
    out, key = folder / "out", folder / "key"
    (out / "crates").mkdir(parents=True)
    (out / "crates/a.crate").write_text("a")
    for name in ("key", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    release.sign(out, key)
    other = folder / "other-signers"
    other.write_text("fastgcm " + (folder / "other.pub").read_text())
    verify = lambda *signers: subprocess.run([out / "verify.sh", *signers], capture_output=True).returncode  # noqa: E731
    file, more = out / "crates/a.crate", out / "crates/b.crate"
    assert verify(out / "signers") == 0 and verify(other) != 0
    file.write_text("b")
    assert verify() != 0
    file.unlink()
    assert verify() != 0
    file.write_text("a")
    more.write_text("b")
    assert verify() != 0
    more.unlink()
    write(out / "SHA256SUMS", re.search(r"\w", (out / "SHA256SUMS").read_text())[0], "z")
    assert verify() != 0
    print("release::verified ok 6")


def main():
    with tempfile.TemporaryDirectory() as folder:
        refused(pathlib.Path(folder))
        verified(pathlib.Path(folder))
    pages()


if __name__ == "__main__":
    main()
