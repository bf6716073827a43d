"""Attacks the verification of a release. Each attack uses a small release with unusual file names. It runs against the script and, where possible,
against the lines of SECURITY.md. Then each line of verify.sh is removed, one after the other: an attack must succeed then, or an honest release must
fail.

    python3 release/attacks.py
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERIFY = HERE / "verify.sh"
FILE = "fastgcm-0.1.0.tgz"
NAMES = [FILE, "fastgcm-0.1.0.crate", "-n", "two words", "two\nlines", "back\\slash", "two  blanks", ".hidden"]


def write(path, text):
    path.write_text(text)
    return path


def key(folder, name):
    """Returns a key's file, and its public key in two words."""
    file = folder / name
    if not file.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file], check=True)
    return file, " ".join(file.with_suffix(".pub").read_text().split()[:2])


def sums(out):
    """Writes SHA256SUMS as `sha256sum` does: a name with a backslash or a newline has a backslash in front."""
    files = sorted(path.name for path in out.iterdir() if not path.name.startswith("SHA256SUMS"))
    made = subprocess.run(["sha256sum", "--", *files], cwd=out, check=True, capture_output=True).stdout
    (out / "SHA256SUMS").write_bytes(b"".join(sorted(made.splitlines(keepends=True))))


def sign(out, with_key, version="0.1.0", namespace="fastgcm-"):
    (out / "SHA256SUMS.sig").unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", with_key, "-n", namespace + version, out / "SHA256SUMS"]
    subprocess.run(command, check=True, capture_output=True)


class Release:
    """A folder `out` with a release that the owner has signed, in a folder that has the attacker's key, too."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "out"
        self.out.mkdir()
        for number, name in enumerate(NAMES):
            write(self.out / name, f"file {number}\n")
        (self.key, self.public), (self.other, self.evil) = key(folder, "owner"), key(folder, "evil")
        sums(self.out)
        sign(self.out, self.key)

    def signed_by_another(self):
        write(self.out / FILE, "evil")
        sums(self.out)
        sign(self.out, self.other)


def a_second_line(one):
    one.signed_by_another()
    one.public = f'{one.public}\nf* namespaces="fastgcm-*" {one.evil}'


def signers_beside_the_files(one):
    for name in ("signers", "allowed_signers"):
        write(one.out / name, f"fastgcm {one.public}\nf* {one.evil}\n")
    one.signed_by_another()


def another_name(one):
    """Renames the old release's files to the new version."""
    for path in list(one.out.iterdir()):
        path.rename(one.out / path.name.replace("0.1.0", "0.1.1"))
    write(one.out / "SHA256SUMS", (one.out / "SHA256SUMS").read_text().replace("0.1.0", "0.1.1"))
    one.version = "0.1.1"


def other_sums(one):
    other = one.folder / "other"
    other.mkdir()
    write(other / "another.crate", "another")
    sums(other)
    sign(other, one.key)
    shutil.copy(other / "SHA256SUMS.sig", one.out)


def replaced(one):
    write(one.out / FILE, "evil")
    sums(one.out)


def another_before(one):
    """Puts two signatures in one file: the attacker's of other files, and the owner's of the release."""
    signature = (one.out / "SHA256SUMS.sig").read_text()
    one.signed_by_another()
    write(one.out / "SHA256SUMS.sig", (one.out / "SHA256SUMS.sig").read_text() + signature)


def linked(one):
    """Replaces a file of the release by a link: its sum is right, until somebody else changes the target."""
    (one.out / FILE).rename(one.folder / "elsewhere")
    (one.out / FILE).symlink_to(one.folder / "elsewhere")


def pipe(one):
    (one.out / "SHA256SUMS").unlink()
    os.mkfifo(one.out / "SHA256SUMS")


def no_find(one):
    """Installs a `find` that fails silently where it looks for links."""
    (one.out / "link").symlink_to("/bin/sh")
    (one.folder / "bin").mkdir()
    script = 'case "$*" in *sha256sum*) exec /usr/bin/find "$@" ;; esac\nexit 1\n'
    write(one.folder / "bin/find", f"#!/bin/sh\n{script}").chmod(0o755)


def no_room(one):
    """Installs a `mktemp` that fails, as on a full disk."""
    (one.folder / "bin").mkdir()
    write(one.folder / "bin/mktemp", "#!/bin/sh\nexit 1\n").chmod(0o755)


def add(name, text="evil"):
    return lambda one: write(one.out / name, text)


# The attacks, each with True if it also affects a user who has only the file FILE and types the lines of SECURITY.md.
ATTACKS = {
    "verify.sh replaced": (add("verify.sh", "#!/bin/sh\necho verified\n"), False),
    "a second line of signers": (a_second_line, False),
    "signers beside the files": (signers_beside_the_files, True),
    "the beginning of a listed name": (add(FILE[:-1]), False),
    "a name that ends in a space": (add(f"{FILE} "), False),
    "a name within a listed name": (add("0.1.0"), False),
    "a name in capitals": (add(FILE.upper()), False),
    "a symbolic link": (lambda one: (one.out / "install.sh").symlink_to("/bin/sh"), False),
    "a file behind a link": (linked, False),
    "a folder": (lambda one: (one.out / "folder").mkdir(), False),
    "a FIFO": (lambda one: os.mkfifo(one.out / "fifo"), False),
    "sums that are a FIFO": (pipe, False),
    "SHA256SUMS-x": (add("SHA256SUMS-x"), False),
    "SHA256SUMS in a folder": (lambda one: ((one.out / "f").mkdir(), write(one.out / "f/SHA256SUMS", "evil")), False),
    "a hidden file": (add(".evil"), False),
    "a name that speaks to the terminal": (add("\x1b[2K\rGood"), False),
    "a replaced package": (add(FILE), True),
    "a replaced package with a new sum": (replaced, True),
    "a replaced package with a new sum, signed by another key": (Release.signed_by_another, True),
    "an old release": (lambda one: setattr(one, "version", "0.1.1"), True),
    "an old release under a new name": (another_name, True),
    "sums without a signature": (lambda one: (one.out / "SHA256SUMS.sig").unlink(), True),
    "a signature of other sums": (other_sums, True),
    "the owner's signature for another purpose": (lambda one: sign(one.out, one.key, "0.1.0", "git-"), True),
    "a truncated file": (lambda one: os.truncate(one.out / FILE, 3), True),
    "truncated sums": (lambda one: os.truncate(one.out / "SHA256SUMS", 80), True),
    "a package missing": (lambda one: (one.out / FILE).unlink(), False),
    "a find that fails": (no_find, False),
    "a disk that is full": (no_room, False),
    "sums with lines of Windows": (lambda one: (one.out / "SHA256SUMS").write_bytes((one.out / "SHA256SUMS").read_bytes().replace(b"\n", b"\r\n")), True),
    "a version with a suffix": (lambda one: setattr(one, "version", "0.1.0-rc1"), True),
    "a version that ends in a newline": (lambda one: setattr(one, "version", "0.1.0\n"), False),
    "another's signature before the owner's": (another_before, True),
}


def ran(one, command):
    """Runs a command in the folder of the release. It must leave no temporary files."""
    temporary = one.folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(one.folder), "TMPDIR": str(temporary), "PATH": f"{one.folder}/bin{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=one.out, env=environment, capture_output=True, timeout=20, errors="replace", stdin=subprocess.DEVNULL)
    assert not any(temporary.iterdir()), "a file was left"
    return done


def accepted(script, *shell):
    """Checks that an honest release passes, with the output of ssh-keygen."""
    with tempfile.TemporaryDirectory() as folder:
        one = Release(pathlib.Path(folder))
        done = ran(one, [*shell, script, one.public, "0.1.0"])
        fingerprint = subprocess.run(["ssh-keygen", "-lf", one.key], check=True, capture_output=True, text=True).stdout.split()[1]
        assert done.returncode == 0 and re.fullmatch(rf'Good "fastgcm-0.1.0" signature for fastgcm with ED25519 key {re.escape(fingerprint)}\n', done.stdout), done
        for words in ([], [one.public], ["", "0.1.0"], [one.public, ""], [f"{one.public} comment", "0.1.0"], ["ssh-ed25519", "0.1.0"]):
            done = ran(one, [*shell, script, *words])
            assert done.returncode and done.stderr and "Good" not in done.stdout, (words, done)


def refused(script, name):
    plant, alone = ATTACKS[name]
    with tempfile.TemporaryDirectory() as folder:
        one = Release(pathlib.Path(folder))
        plant(one)
        done = ran(one, [script, one.public, getattr(one, "version", "0.1.0")])
        assert done.returncode and "Good" not in done.stdout, f"{name}: {done}"
        assert "\x1b" not in done.stderr and (done.returncode == 255 or name in ("a find that fails", "a disk that is full") or "refused: " in done.stderr), f"{name}: {done}"
    return alone


def refused_by_lines(name, page):
    """Checks that the lines of SECURITY.md refuse an attack on a single downloaded file."""
    from rehearse import lines

    with tempfile.TemporaryDirectory() as folder:
        one = Release(pathlib.Path(folder))
        typed, owner = lines(page)
        typed = typed.replace(owner, one.public)
        for path in one.out.iterdir():
            if path.name != FILE and not path.name.startswith("SHA256SUMS"):
                path.unlink()
        done = ran(one, ["sh", "-c", typed])
        assert done.returncode == 0 and f"{FILE}: OK" in done.stdout and "Good" in done.stdout, done
        ATTACKS[name][0](one)
        version = getattr(one, "version", "0.1.0")
        done = ran(one, ["sh", "-c", typed.replace("-n fastgcm-0.1.0", f"-n fastgcm-{version}")])
        assert done.returncode and ": OK" not in done.stdout, f"{name}: {done}"


def kept_signers(page):
    """Checks that the lines fail if the first one cannot replace the attacker's file of signers: here because the shell replaces no file."""
    from rehearse import lines

    with tempfile.TemporaryDirectory() as folder:
        one = Release(pathlib.Path(folder))
        typed, owner = lines(page)
        one.signed_by_another()
        write(one.folder / "fastgcm.signers", f"fastgcm {one.evil}\n")
        done = ran(one, ["sh", "-C", "-c", typed.replace(owner, one.public)])
        assert done.returncode and not done.stdout, done


def attacked(script):
    accepted(script)
    return [name for name in ATTACKS if refused(script, name)]


def every_line(folder):
    """Checks that without any one of its lines the script refuses an honest release, or an attack succeeds."""
    text, count = VERIFY.read_text().splitlines(keepends=True), 0
    for number, line in enumerate(text):
        if line.startswith("#") and number:
            continue
        script = write(folder / f"{number}.sh", "".join(text[:number] + text[number + 1 :]))
        script.chmod(0o755)
        try:
            attacked(script)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as why:
            print(f"without {line.strip()[:60]!r}: {str(why)[:100]!r}")
            count += 1
            continue
        raise AssertionError(f"no attack needs this line of verify.sh: {line}")
    return count


def main():
    page = (HERE.parent / "SECURITY.md").read_text()
    alone = attacked(VERIFY)
    for shell in ("dash", "bash", "busybox"):
        if found := shutil.which(shell):
            accepted(VERIFY, *([found, "sh"] if shell == "busybox" else [found]))
    for name in alone:
        refused_by_lines(name, page)
    kept_signers(page)
    assert len(VERIFY.read_text().splitlines()) <= 30
    print(f"release::attacks ok {len(ATTACKS)}")
    print(f"release::documented_lines ok {len(alone) + 1}")
    with tempfile.TemporaryDirectory() as folder:
        print(f"release::lines_of_verify ok {every_line(pathlib.Path(folder))}")


if __name__ == "__main__":
    main()
