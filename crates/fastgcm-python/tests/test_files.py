"""Whole files: what is sealed and opened, what appears when, and who may read it."""

import doctest
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

import pytest
from cryptography import cobblestone
from fastgcm import InvalidTag, files, jobs, open_file, seal_file

CHUNK = 16384


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("size", [16, 32])
@pytest.mark.parametrize("length", [0, 1, CHUNK, 70 * CHUNK + 5])
def test_there_and_back(tmp_path, size, length, open_umask):
    key, text = os.urandom(size), os.urandom(length)
    source, sealed, opened = (tmp_path / name for name in ("a.csv", "a.csv.sealed", "opened"))
    source.write_bytes(text)
    seal_file(key, source, sealed, context=b"a.csv")
    pyca = (cobblestone.Cobblestone128Decryptor if size == 16 else cobblestone.Cobblestone256Decryptor)(key, b"a.csv")
    assert pyca.update(sealed.read_bytes()) + pyca.finalize() == text
    open_file(key, str(sealed), str(opened), context=b"a.csv")
    assert opened.read_bytes() == text and mode(opened) == 0o600 and mode(sealed) == 0o666
    # Two files never have the same salt, and a file is bound to its context.
    seal_file(key, source, tmp_path / "again", context=b"a.csv")
    assert (tmp_path / "again").read_bytes()[:24] != sealed.read_bytes()[:24]
    with pytest.raises(InvalidTag):
        open_file(key, sealed, tmp_path / "other", context=b"b.csv")
    assert names(tmp_path) == ["a.csv", "a.csv.sealed", "again", "opened"]


def test_what_appears(tmp_path):
    key, source, target = os.urandom(32), tmp_path / "text", tmp_path / "sealed"
    source.write_bytes(bytes(3 << 20))
    seal_file(key, source, target)
    before = target.read_bytes()
    for call in (lambda: seal_file(key, source, target), lambda: open_file(key, target, source)):
        with pytest.raises(FileExistsError):
            call()
    assert target.read_bytes() == before
    seal_file(key, source, target, overwrite=True)
    assert target.read_bytes() != before
    # Its last byte is wrong: what was opened before it does not appear, and what is there stays.
    damaged = bytearray(target.read_bytes())
    damaged[-1] ^= 1
    target.write_bytes(damaged)
    for options in ({}, {"overwrite": True}):
        with pytest.raises(InvalidTag):
            open_file(key, target, tmp_path / "opened", **options)
    with pytest.raises(InvalidTag):
        open_file(key, target, source, overwrite=True)
    assert source.read_bytes() == bytes(3 << 20)
    with pytest.raises(IsADirectoryError):
        seal_file(key, source, tmp_path)
    with pytest.raises(FileNotFoundError):
        seal_file(key, tmp_path / "not there", tmp_path / "never")
    for wrong in (b"", bytes(24)):
        with pytest.raises(ValueError, match="key must be"):
            seal_file(wrong, source, tmp_path / "never")
    # In place.
    seal_file(key, source, source, overwrite=True)
    open_file(key, source, source, overwrite=True)
    assert source.read_bytes() == bytes(3 << 20) and names(tmp_path) == ["sealed", "text"]


def test_a_link_stays(tmp_path):
    key, source, real, link = os.urandom(32), tmp_path / "text", tmp_path / "real", tmp_path / "link"
    source.write_bytes(b"text")
    real.write_bytes(b"old")
    link.symlink_to("real")
    with pytest.raises(FileExistsError):
        seal_file(key, source, link)
    seal_file(key, source, link, overwrite=True)
    assert link.is_symlink() and os.readlink(link) == "real" and len(real.read_bytes()) == 56 + 4 + 16


def test_it_is_on_the_disk_before_it_appears(tmp_path):
    """All of its content first, then the name, then the folder that has the name."""
    for fault, code in (("EINVAL", 0), ("EIO", 1)):
        script = f"from fastgcm import seal_file; seal_file(bytes(32), {str(tmp_path / 'one')!r}, {str(tmp_path / fault)!r})"
        (tmp_path / "one").write_bytes(bytes(3 << 20))
        inject = ["-e", f"inject=fsync:error={fault}:when=2"]
        try:
            ran = subprocess.run(["strace", "-f", "-y", "-e", "trace=/write|sync|rename|linkat", *inject, sys.executable, "-c", script], capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("no strace")
        calls = [line for line in ran.stderr.splitlines() if re.search(r"sync\(|rename|linkat|write.*\.partial>", line)]
        order = " ".join(re.search("write|sync|rename", line)[0] for line in calls)
        assert re.fullmatch("(write ){3,}sync rename sync", order) and ".partial>" in calls[-3] and str(tmp_path) + ">" in calls[-1], calls
        # That a folder cannot be synced is no failure; any other error is told.
        assert "(INJECTED)" in calls[-1] and (ran.returncode, (tmp_path / fault).exists()) == (code, True), ran.stderr[-500:]


@pytest.fixture
def unlinked():
    """A folder on a file system that has neither hard links nor a rename that replaces nothing: exFAT by FUSE."""
    if "FASTGCM_UNLINKED" not in os.environ:
        pytest.skip("there is no file system without links (`.ci/run python` makes one)")
    with tempfile.TemporaryDirectory(dir=os.environ["FASTGCM_UNLINKED"]) as folder:
        yield pathlib.Path(folder)


def test_without_links(unlinked, monkeypatch):
    key, text = os.urandom(32), os.urandom(3 * CHUNK)
    monkeypatch.setenv("FASTGCM_TEST_KEY", key.hex())
    (unlinked / "text").write_bytes(text)
    with pytest.raises(OSError):
        os.link(unlinked / "text", unlinked / "link")

    def by_job(begin, source, target, overwrite=False):
        job = begin("environment:FASTGCM_TEST_KEY", source, target, part=CHUNK)
        try:
            receipts = [job.run(part) for part in (*range(job.parts), 0)]  # one part twice
            assert begin == jobs.Opening.begin or len(set(receipts)) == job.parts
            job.finish(receipts, overwrite=overwrite)
        except BaseException:
            job.abandon()
            raise

    for number, (seal, open_) in enumerate(
        [
            (lambda *names, **how: seal_file(key, *names, **how), lambda *names, **how: open_file(key, *names, **how)),
            (lambda *names, **how: by_job(jobs.Sealing.begin, *names, **how), lambda *names, **how: by_job(jobs.Opening.begin, *names, **how)),
        ]
    ):
        sealed, opened = unlinked / f"sealed{number}", unlinked / f"opened{number}"
        seal(unlinked / "text", sealed)
        open_(sealed, opened)
        for call in (lambda: seal(unlinked / "text", opened), lambda: open_(sealed, opened)):
            with pytest.raises(FileExistsError):
                call()
        assert opened.read_bytes() == text
        seal(unlinked / "text", opened, overwrite=True)
        open_(opened, sealed, overwrite=True)
        assert sealed.read_bytes() == text
    # A job whose part has other text than before.
    job = jobs.Sealing.begin("environment:FASTGCM_TEST_KEY", unlinked / "text", unlinked / "never", part=CHUNK)
    job.run(0)
    (unlinked / "text").write_bytes(bytes(3 * CHUNK))
    with pytest.raises(jobs.OtherText):
        job.run(0)
    job.abandon()
    assert names(unlinked) == ["opened0", "opened1", "sealed0", "sealed1", "text"]


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser makes a file of another user")
def test_what_a_stranger_put_there(tmp_path):
    """In a folder that others share: a link that leads to one's own file, or a pipe, is not followed or replaced."""
    key, stranger, source, own = os.urandom(32), 65534, tmp_path / "text", tmp_path / "own"
    source.write_bytes(b"text")
    own.write_bytes(b"precious")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to(own)
    os.mkfifo(shared / "pipe")
    for name in ("link", "pipe"):
        os.chown(shared / name, stranger, stranger, follow_symlinks=False)
        for overwrite in (False, True):
            with pytest.raises(PermissionError if overwrite else FileExistsError):
                seal_file(key, source, shared / name, overwrite=overwrite)
    (tmp_path / "through").symlink_to(shared / "link")
    with pytest.raises(PermissionError, match="belongs to another user"):
        seal_file(key, source, tmp_path / "through", overwrite=True)
    assert own.read_bytes() == b"precious" and names(shared) == ["link", "pipe"]
    # One's own, and in a folder of one's own.
    os.chown(shared / "link", 0, 0, follow_symlinks=False)
    seal_file(key, source, shared / "link", overwrite=True)
    os.chown(shared / "link", stranger, stranger, follow_symlinks=False)
    shared.chmod(0o755)
    seal_file(key, source, shared / "link", overwrite=True)
    assert (shared / "link").is_symlink() and len(own.read_bytes()) == 56 + 4 + 16


DROP = """
import os, sys
from fastgcm import open_file, seal_file
os.setgroups([]), os.setgid(65534), os.setuid(65534)
key, source, box = bytes(32), sys.argv[1], sys.argv[2]
seal_file(key, source, box + "/sealed")
open_file(key, box + "/sealed", box + "/opened")
seal_file(key, source, box + "/opened", overwrite=True)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser becomes another user")
def test_a_folder_that_may_not_be_listed():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o711)
        (folder / "text").write_bytes(b"text")
        box = folder / "box"
        box.mkdir()
        box.chmod(0o733)
        subprocess.run([sys.executable, "-c", DROP, folder / "text", box], check=True)
        assert names(box) == ["opened", "sealed"]


def test_the_example():
    assert doctest.testmod(files).attempted > 5 and not doctest.testmod(files).failed


def test_a_refusal_says_what_it_may_be(tmp_path, monkeypatch):
    """As does that of a job; and the text has neither key nor context."""
    key, source, sealed, target = os.urandom(32), tmp_path / "text", tmp_path / "sealed", tmp_path / "target"
    monkeypatch.setenv("FASTGCM_TEST_KEY", key.hex())
    source.write_bytes(os.urandom(3 * CHUNK))
    seal_file(key, source, sealed, context=b"context")
    right = sealed.read_bytes()
    changed = bytearray(right)
    changed[56 + 2 * CHUNK] ^= 1
    other = "was sealed with another key or another context, or is no sealed file"
    for content, context, why in (
        (right, b"other", other),
        (source.read_bytes(), b"context", other),
        (bytes([right[0] ^ 1]) + right[1:], b"context", other),
        (b"", b"context", "is shorter than the header of one"),
        (right[:55], b"context", "is shorter than the header of one"),
        (right[:56], b"context", "was changed or cut"),
        (right[:-1], b"context", "was changed or cut"),
        (right[: -CHUNK - 32], b"context", "was changed or cut"),
        (bytes(changed), b"context", "was changed or cut"),
    ):
        sealed.write_bytes(content)

        def by_job():
            job = jobs.Opening.begin("environment:FASTGCM_TEST_KEY", sealed, target, context=context)
            try:
                job.run(0)
            finally:
                job.abandon()

        for call in (lambda: open_file(key, sealed, target, context=context), by_job):
            with pytest.raises(InvalidTag, match=why) as error:
                call()
            assert str(sealed) in str(error.value) and key.hex() not in str(error.value) and "other," not in str(error.value)
        assert names(tmp_path) == ["sealed", "text"]
    with pytest.raises(InvalidTag, match=other):
        sealed.write_bytes(right)
        open_file(bytes(16), sealed, target, context=b"context")
