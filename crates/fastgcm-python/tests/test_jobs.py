"""One file by many workers, without an engine: what a job makes, what it refuses, and what it leaves behind."""

import contextlib
import doctest
import os
import pickle
import stat
import threading
import time

import pytest
from cryptography import cobblestone
from fastgcm import jobs
from fastgcm.exceptions import InvalidTag, OtherText
from fastgcm.jobs import CHUNK, EnvironmentKey, FileKey, FunctionKey, Opening, Sealing, key_of

KEY = os.urandom(32)
NAME = EnvironmentKey("FASTGCM_TEST_KEY")


@pytest.fixture
def paths(tmp_path, monkeypatch):
    monkeypatch.setenv("FASTGCM_TEST_KEY", KEY.hex())
    return [tmp_path / name for name in ("text", "sealed", "opened")]


def all_of(job):
    job.finish([pickle.loads(pickle.dumps(job)).run(i) for i in reversed(range(job.parts))])


@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 64 * CHUNK - 1, 64 * CHUNK, 66 * CHUNK + 7, 128 * CHUNK - 5])
@pytest.mark.parametrize("part", [CHUNK - 1, 3 * CHUNK + 5, 65 * CHUNK, 1 << 30])
def test_there_and_back(paths, length, part):
    text, sealed, opened = paths
    text.write_bytes(os.urandom(length))
    all_of(Sealing.begin(NAME, text, sealed, context=b"context", part=part))
    pyca = cobblestone.Cobblestone256Decryptor(KEY, b"context")
    assert pyca.update(sealed.read_bytes()) + pyca.finalize() == text.read_bytes()
    all_of(Opening.begin(NAME, sealed, opened, context=b"context", part=part))
    assert opened.read_bytes() == text.read_bytes()
    assert sorted(path.name for path in text.parent.iterdir()) == ["opened", "sealed", "text"]


def test_a_part_has_one_text(paths):
    text, sealed, _ = paths
    data = bytearray(os.urandom(10 * CHUNK))
    text.write_bytes(data)
    job = Sealing.begin(NAME, text, sealed, part=2 * CHUNK)
    receipt = job.run(1)
    written = lambda: open(job._body(), "rb").read()[: 56 + 4 * (CHUNK + 16)]
    before = written()
    assert job.run(1) == receipt
    for at in (2 * CHUNK, 4 * CHUNK - 1):
        data[at] ^= 1
        text.write_bytes(data)
        with pytest.raises(OtherText):
            job.run(1)
        data[at] ^= 1
    for other in (data[:-1], data + b"1"):
        text.write_bytes(other)
        with pytest.raises(OtherText):
            [job.run(i) for i in (job.parts - 2, job.parts - 1)]
    assert written() == before
    with pytest.raises(ValueError, match="missing"):
        job.finish([receipt])
    text.write_bytes(data)
    receipts = [job.run(i) for i in range(job.parts)]
    with pytest.raises(OtherText):
        job.finish(receipts[:-1] + [(job.parts - 1, "0" * 64)])
    assert not sealed.exists()
    job.finish(receipts)
    # The same job anew has another salt.
    again = Sealing.begin(NAME, text, sealed)
    assert again.salt != job.salt
    with pytest.raises(FileExistsError):
        again.finish([again.run(0)])
    again.abandon()
    for index in (-1, job.parts):
        with pytest.raises(IndexError):
            job.run(index)


def test_what_was_not_sealed_is_refused(paths):
    text, sealed, opened = paths
    text.write_bytes(bytes(5 * CHUNK))
    all_of(Sealing.begin(NAME, text, sealed, part=CHUNK))
    good = sealed.read_bytes()
    for at in (0, 55, 56, 56 + 3 * (CHUNK + 16), len(good) - 1):
        sealed.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises(InvalidTag):
            all_of(Opening.begin(NAME, sealed, opened, part=CHUNK))
    for length in (0, 56, 71, len(good) - 1, len(good) - 16, 56 + 2 * (CHUNK + 16)):
        sealed.write_bytes(good[:length])
        with pytest.raises(InvalidTag):
            all_of(Opening.begin(NAME, sealed, opened, part=CHUNK))
    assert not opened.exists()


def test_keys(paths, monkeypatch):
    text, sealed, _ = paths
    text.write_bytes(b"1")
    text.with_name("key").write_text(KEY.hex() + "\n")
    assert FileKey(str(text.with_name("key")))() == KEY == NAME()
    for wrong in ("", "00" * 24, "zz" * 32, KEY.hex() + "0"):
        monkeypatch.setenv("FASTGCM_TEST_KEY", wrong)
        with pytest.raises(ValueError) as error:
            NAME()
        assert "has no key" in str(error.value) and (wrong == "" or wrong not in str(error.value))
    # A function goes by its name. Nothing is taken that would be pickled with the key.
    text.with_name("kms_of_tests.py").write_text(f"class Kms:\n  def key(): return bytes.fromhex('{KEY.hex()}')\n")
    monkeypatch.syspath_prepend(text.parent)
    assert key_of("function:kms_of_tests:Kms.key") == FunctionKey("kms_of_tests:Kms.key") and FunctionKey("kms_of_tests:Kms.key")() == KEY
    assert key_of("environment:A") == EnvironmentKey("A") and key_of("file:/a") == FileKey("/a")
    with pytest.raises(ValueError, match="no key of 16 or 32 bytes"):
        FunctionKey("kms_of_tests:Kms")()

    class Own(EnvironmentKey):
        pass

    for wrong in (KEY, KEY.hex(), lambda: KEY, Own("A"), None):
        with pytest.raises(ValueError, match="is not the key") as error:
            Sealing.begin(wrong, text, sealed)
        assert KEY.hex() not in str(error.value)
    job = Sealing.begin(FileKey(str(text.with_name("key"))), text, sealed)
    for form in (KEY, KEY.hex().encode()):
        assert form not in pickle.dumps(job) and form not in repr(job).encode()
    job.abandon()


def test_nothing_is_left_while_workers_go_on(paths):
    """They do not know yet that the job was given up."""
    text, sealed, _ = paths
    text.write_bytes(bytes(4 * CHUNK))
    for _ in range(20):
        job = Sealing.begin(NAME, text, sealed, part=CHUNK)
        ends = threading.Event()

        def worker():
            while not ends.is_set():
                with contextlib.suppress(FileNotFoundError):
                    job.run(1)

        workers = [threading.Thread(target=worker) for _ in range(3)]
        for one in workers:
            one.start()
        time.sleep(0.01)
        job.abandon()
        assert [path.name for path in text.parent.iterdir()] == ["text"]
        ends.set()
        for one in workers:
            one.join()
        assert [path.name for path in text.parent.iterdir()] == ["text"]


def test_what_counts_is_on_the_disk(paths, monkeypatch):
    """A receipt is for a part that a crash does not take back, and so is its claim, with its name; and a target for all of them."""
    text, sealed, opened = paths
    text.write_bytes(bytes(3 * CHUNK))
    synced, fsync = [], os.fsync

    def noting(file):
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{file}")).split(".")[0])
        fsync(file)

    monkeypatch.setattr(os, "fsync", noting)
    for name in ("in_place", "publish"):  # each ends with the name
        done = getattr(jobs, name)
        monkeypatch.setattr(jobs, name, lambda *a, done=done: (done(*a), synced.append(os.path.basename(os.path.dirname(a[min(1, len(a) - 1)])).split(".")[0])))
    job = Sealing.begin(NAME, text, sealed, part=CHUNK)
    receipts = [job.run(i) for i in range(job.parts)]
    # A claim is a folder with a receipt in it, and the folder beside `sealed` has the names of claims.
    assert synced == [name for i in range(4) for name in ("receipt", str(i), "sealed", "body")]
    synced.clear()
    job.finish(receipts)
    assert synced == ["body", text.parent.name]
    job = Opening.begin(NAME, sealed, opened, part=CHUNK)
    synced.clear()
    receipts = [job.run(i) for i in range(job.parts)]
    assert synced == ["body"] * 4
    job.finish(receipts)
    assert synced == ["body"] * 4 + [text.parent.name]


def test_a_system_that_writes_less(paths, monkeypatch):
    """`pwrite` may write some of what it is asked to."""
    text, sealed, opened = paths
    text.write_bytes(os.urandom(5 * CHUNK + 1))
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: pwrite(file, memoryview(data)[:1001], at))
    all_of(Sealing.begin(NAME, text, sealed, part=2 * CHUNK))
    all_of(Opening.begin(NAME, sealed, opened, part=2 * CHUNK))
    assert opened.read_bytes() == text.read_bytes()


def test_only_the_owner_reads(paths):
    text, sealed, opened = paths
    text.write_bytes(bytes(CHUNK))
    mode = lambda path: stat.S_IMODE(os.stat(path).st_mode)
    before = os.umask(0)
    try:
        for begin, source, target in ((Sealing.begin, text, sealed), (Opening.begin, sealed, opened)):
            job = begin(NAME, source, target)
            assert mode(job.stage) == 0o700 and mode(job._body()) == 0o600
            all_of(job)
            assert mode(target) == 0o600
    finally:
        os.umask(before)


def test_the_example():
    assert doctest.testmod(jobs).attempted > 5 and not doctest.testmod(jobs).failed
