"""An error at every point where control leaves our code: whatever comes there gets out as it is, and the object works as if that call had not been.

Buffers that have none to give, numbers and paths that raise, elements of lists and iterators, files that are read for a range; and in jobs and files each call of
the operating system in turn. Each raises an error, or an interrupt; or uses up the very object that it was asked for.
"""

import contextlib
import io
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

import pytest
from calls import CALLS, CHUNK, KEY, KEY_OF, NONCE, ONE, TEXT, called, exported

from fastgcm import AlreadyFinalized, InvalidTag, Sealer, cobblestone, files, hazmat, jobs


class Boom(Exception):
    pass


ERRORS = (Boom("here"), KeyboardInterrupt("here"), MemoryError("here"))


class Hostile:
    """Does `action` instead of giving a buffer, a number, a path, or an item."""

    def __init__(self, action, first=None):
        self.action, self.first = action, first

    def __len__(self):
        return len(self.action())

    def __index__(self):
        return self.action()

    def __fspath__(self):
        return self.action()

    def __iter__(self):
        yield self.first
        self.action()

    def __buffer__(self, flags):
        return memoryview(self.action())


def raising(error, first=None):
    return Hostile(raised(error), first)


HAS_BUFFERS = sys.version_info >= (3, 12)  # before, Python has no `__buffer__`: where there is a compiler, the class gets the slot itself
if not HAS_BUFFERS and sys.implementation.name == "cpython" and shutil.which("cc"):
    import ctypes

    SLOT = """
    extern void *PyObject_CallMethod(void *, const char *, const char *, ...);
    extern int PyObject_GetBuffer(void *, void *, int);
    extern void Py_DecRef(void *);
    int getbuffer(void *self, void *view, int flags) {
        void *given = PyObject_CallMethod(self, "action", "");
        int got = given ? PyObject_GetBuffer(given, view, flags) : -1;
        Py_DecRef(given);
        return got;
    }"""
    # (Under an emulator, that compiler is another machine's.)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError, subprocess.CalledProcessError):
        library = os.path.join(folder, "slot.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SLOT.encode(), check=True)
        getbuffer = ctypes.CDLL(library).getbuffer
        # `tp_as_buffer` of a class, whose first slot is `bf_getbuffer`.
        slots = ctypes.c_void_p.from_address(id(Hostile) + 160).value
        ctypes.c_void_p.from_address(slots).value = ctypes.cast(getbuffer, ctypes.c_void_p).value
        HAS_BUFFERS = True


def places():
    """Every argument of every function that asks its object for something: (name, place)."""
    for name, call in CALLS.items():
        if name.startswith("exceptions.") or name in ("jobs.Sealing", "jobs.Opening") or name.endswith("Key"):
            continue
        for place, argument in [*enumerate(call.arguments), *call.named.items()]:
            innermost = argument[0] if type(argument) is list else argument
            if type(argument) in (int, list, str) and type(innermost) is not bytes or HAS_BUFFERS and type(innermost) in (bytes, bytearray):
                yield name, place, argument


def test_every_function_is_known():
    assert exported() == set(CALLS), "calls.py lacks functions of the package, or has others"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_argument_that_raises(error, tmp_path):
    tried = 0
    for name, place, argument in places():
        call, forms = CALLS[name], [raising(error, argument[0] if type(argument) is list else None)]
        if type(argument) is list and name != "combine" and not name.endswith("finish"):
            forms = [[argument[0], raising(error)], [raising(error), argument[1]], raising(error)]
        for hostile in forms:
            tried += 1
            folder = str(tmp_path / str(tried))
            on = call.begin(folder)
            before = set(os.listdir(folder)) if os.path.exists(folder) else set()
            with pytest.raises(type(error), match="here|^$") as caught:
                called(call, folder, (place, hostile), on=on)
            assert caught.value is error or caught.value.args == error.args, (name, place)
            assert {path for path in (os.listdir(folder) if before else ())} - before == set(), f"{name}, {place}: something is left"
            # On the same object.
            found, expected = called(call, folder, on=on), called(call, f"{folder}.again")
            assert found == expected or call.is_random, (name, place)
    assert tried > (150 if HAS_BUFFERS else 30)


@pytest.mark.skipif(not HAS_BUFFERS, reason="no class of Python gives buffers before 3.12, and there is no compiler")
def test_an_argument_that_uses_up_the_object(tmp_path):
    """What it was called for ends meanwhile, or is busy: either is said, and what comes afterwards is right or refused."""
    for make in (lambda: Sealer(ONE, NONCE), lambda: hazmat.UnverifiedOpener(ONE, NONCE), lambda: cobblestone.Cobblestone256Encryptor(KEY, b""),
                 lambda: cobblestone.Cobblestone256Decryptor(KEY, b"")):
        for method, end in itertools.product(("update", "update_aad", "update_into", "verify"), ("finalize", "verify", "update")):
            each = make()
            if not hasattr(each, method) or not hasattr(each, end):
                continue
            met = []

            def action():
                try:
                    getattr(each, end)(*([bytes(16)] if end != "finalize" else []))
                except (RuntimeError, AlreadyFinalized, InvalidTag) as error:
                    met.append(type(error))
                return bytes(16)

            arguments = (Hostile(action), bytearray(64)) if method == "update_into" else (Hostile(action),)
            with contextlib.suppress(AlreadyFinalized, InvalidTag) if method != "update_aad" else contextlib.suppress(AlreadyFinalized, InvalidTag, ValueError):
                getattr(each, method)(*arguments)
            assert met == [] or set(met) <= {RuntimeError, InvalidTag, AlreadyFinalized}
    # The list that is sealed is emptied by an item of it.
    texts = [TEXT, None, TEXT]
    texts[1] = Hostile(lambda: (texts.clear(), b"other")[1])
    nonces = [bytes([n]) * 12 for n in range(3)]
    assert ONE.seal_batch(nonces, texts) == ONE.seal_batch(nonces, [TEXT, b"other", TEXT])


@pytest.mark.skipif(not HAS_BUFFERS, reason="no class of Python gives buffers before 3.12, and there is no compiler")
def test_a_buffer_of_another_length_each_time():
    lengths = itertools.cycle((5, 1000, 0))
    for _ in range(30):
        sealed = ONE.encrypt(NONCE, Hostile(lambda: bytes(next(lengths))), None)
        assert ONE.decrypt(NONCE, sealed, None) == bytes(len(sealed) - 16)


class File:
    """One whose n-th call goes wrong."""

    def __init__(self, data, wrong_at, wrong):
        self.file, self.calls, self.wrong_at, self.wrong = io.BytesIO(data), itertools.count(), wrong_at, wrong

    def read(self, size):
        return self.call("read", size)

    def seek(self, *to):
        return self.call("seek", *to)

    def call(self, name, *arguments):
        right = getattr(self.file, name)(*arguments)
        return self.wrong(name, right) if next(self.calls) == self.wrong_at else right


def raised(error):
    def wrong(*_):
        raise error

    return wrong


def test_a_file_that_goes_wrong_while_a_range_is_read():
    opener, chunks, text = cobblestone.Cobblestone256Decryptor(KEY, b"context"), hazmat.CobblestoneChunks(KEY, b"context", b"s" * 24), os.urandom(3 * CHUNK)
    data = chunks.header + chunks.seal(0, text, last=True)
    good = File(data, -1, None)
    assert opener.decrypt_range(good, CHUNK - 5, 10) == text[CHUNK - 5 : CHUNK + 5]
    calls = next(good.calls)
    assert calls >= 5
    for at in range(calls):
        for error in ERRORS:
            with pytest.raises(type(error), match="here"):
                opener.decrypt_range(File(data, at, raised(error)), CHUNK - 5, 10)
        wrongs = {
            "nothing": lambda name, right: b"" if name == "read" else right,
            "less": lambda name, right: right[: len(right) // 2] if name == "read" else right,
            "more": lambda name, right: right + b"1" if name == "read" else right,
            "another type": lambda name, right: "text",
            "none": lambda name, right: None,
            "negative": lambda name, right: right if name == "read" else -1,
            "far": lambda name, right: right if name == "read" else 1 << 63,
            "farther": lambda name, right: right if name == "read" else 1 << 64,
        }
        for how, wrong in wrongs.items():
            try:
                found = opener.decrypt_range(File(data, at, wrong), CHUNK - 5, 10)
            except (TypeError, ValueError, OverflowError, InvalidTag, OSError, MemoryError):
                continue
            assert found == text[CHUNK - 5 : CHUNK + 5], (at, how)
    assert opener.update(data) + opener.finalize() == text


class Counted:
    """Calls of the operating system that files and jobs make; the n-th raises, before or after it did its work."""

    def __init__(self, monkeypatch, at=-1, error=None, late=False):
        self.at, self.error, self.late, self.count = at, error, late, 0
        for name in ("fsync", "unlink", "rename", "mkdir", "stat", "fstat", "pwrite", "pread"):
            monkeypatch.setattr(os, name, self.one(getattr(os, name)))
        for module, name in ((files, "place"), (files, "publish"), (jobs, "publish"), (jobs, "in_place")):
            monkeypatch.setattr(module, name, self.one(getattr(module, name)))
        for module in (files, jobs):
            monkeypatch.setattr(module, "open", lambda *a, **k: self.file(self.one(open)(*a, **k)), raising=False)

    def one(self, function):
        def instead(*arguments, **named):
            number, self.count = self.count, self.count + 1
            if number == self.at and not self.late:
                raise self.error
            result = function(*arguments, **named)
            if number == self.at:
                raise self.error
            return result

        return instead

    def file(self, file):
        return Proxy(file, self)


class Proxy:
    def __init__(self, file, counted):
        self.file, self.counted = file, counted

    def __enter__(self):
        self.file.__enter__()
        return self

    def __exit__(self, *error):
        return self.file.__exit__(*error)

    def __getattr__(self, name):
        found = getattr(self.file, name)
        return self.counted.one(found) if name in ("read", "write", "flush") else found


def seal(folder):
    files.seal_file(KEY, folder / "text", folder / "sealed", context=b"context")


def open_(folder):
    files.open_file(KEY, folder / "first", folder / "opened", context=b"context")


def replace(folder):
    files.open_file(KEY, folder / "first", folder / "old", context=b"context", overwrite=True)


def with_job(begin):
    def whole(folder):
        job = begin(folder)
        try:
            job.finish([job.run(index) for index in range(job.parts)])
        except BaseException:
            job.abandon()
            raise

    return whole


def seal_job(folder):
    return jobs.Sealing.begin(KEY_OF, folder / "text", folder / "sealed", context=b"context", part=CHUNK)


def open_job(folder):
    return jobs.Opening.begin(KEY_OF, folder / "first", folder / "opened", context=b"context", part=CHUNK)


@pytest.mark.parametrize("work", [seal, open_, replace, with_job(seal_job), with_job(open_job)], ids=["seal", "open", "replace", "sealing", "opening"])
def test_each_call_of_the_system_fails_once(work, tmp_path, monkeypatch):
    """A file is there whole or not at all, whatever was there before stays until then, and nothing lies beside it."""
    text = os.urandom(CHUNK + 100)

    def folder(name):
        made = tmp_path / name
        made.mkdir()
        (made / "text").write_bytes(text)
        (made / "old").write_bytes(b"old")
        files.seal_file(KEY, made / "text", made / "first", context=b"context")
        return made

    def run(place, **how):
        with monkeypatch.context() as patches:
            counted = Counted(patches, **how)
            work(place)
        return counted.count

    def whole(place):
        """Whether what was made is there; fails if it is there in part, or something else is."""
        there = {path.name for path in place.iterdir()}
        made = there - {"text", "first", "old"}
        assert made <= {"sealed", "opened"}, made
        if "sealed" in made:
            files.open_file(KEY, place / "sealed", tmp_path / "back", context=b"context", overwrite=True)
            assert (tmp_path / "back").read_bytes() == text
        if "opened" in made:
            assert (place / "opened").read_bytes() == text
        assert (place / "old").read_bytes() in (b"old", text)
        return bool(made) or (place / "old").read_bytes() == text

    calls = run(folder("control"))
    assert whole(tmp_path / "control") and calls > 8
    for at, error, late in itertools.product(range(calls), (KeyboardInterrupt(), OSError(28, "No space left on device")), (False, True)):
        place = folder(f"{at}.{type(error).__name__}.{late}")
        try:
            run(place, at=at, error=error, late=late)
        except (KeyboardInterrupt, OSError) as met:
            assert met is error or isinstance(met, FileNotFoundError), (at, late, met)
        if not whole(place):
            run(place)
            assert whole(place)


def test_a_part_whose_work_was_interrupted_is_run_again(tmp_path, monkeypatch):
    """A job is the same after an error in the middle of a part: the engine runs that part once more."""
    text = os.urandom(3 * CHUNK + 1)
    (tmp_path / "text").write_bytes(text)
    for begin, made in ((seal_job, "sealed"), (open_job, "opened")):
        if made == "opened":
            os.rename(tmp_path / "sealed", tmp_path / "first")
        job = begin(tmp_path)
        with monkeypatch.context() as patches:
            counted = Counted(patches)
            receipts = [job.run(0)]
        for at, late in itertools.product(range(counted.count), (False, True)):
            with monkeypatch.context() as patches, contextlib.suppress(KeyboardInterrupt):
                Counted(patches, at=at, error=KeyboardInterrupt(), late=late)
                job.run(0)
        assert job.run(0) == receipts[0]
        job.finish(receipts + [job.run(index) for index in range(1, job.parts)])
    assert (tmp_path / "opened").read_bytes() == text
