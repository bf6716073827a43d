"""Whole files: what is sealed and opened, what appears when, and who may read it."""

import doctest
import os
import stat

import pytest
from cryptography import cobblestone
from fastgcm import InvalidTag, files, jobs, open_file, seal_file
from fastgcm.files import Appearing

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


def test_it_is_on_the_disk_before_it_appears(tmp_path, monkeypatch):
    """Content first, then the name, then the folder that has the name."""
    done = []
    fsync, link, replace = os.fsync, os.link, os.replace
    kind = lambda file: "folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file"
    monkeypatch.setattr(os, "fsync", lambda file: (done.append(kind(file)), fsync(file)))
    monkeypatch.setattr(os, "link", lambda *names: (done.append("name"), link(*names)))
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("name"), replace(*names)))
    for exclusive in (True, False):
        one = Appearing(str(tmp_path / "one"), exclusive)
        one.write(b"text")
        one.finish()
        one.commit()
        assert done == ["file", "name", "folder"]
        done.clear()


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
