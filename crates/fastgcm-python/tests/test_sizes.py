"""Sizes that wrap, in every function: none ends the process, takes what it must not, or gives a wrong answer.

Numbers around 2^31, 2^32, 2^63 and 2^64 take the place of each number, and memory of more than 2^31, 2^32 and 2^36 bytes that of each buffer. Nobody has written
to that memory, and so it takes none. What a call would allocate for it is refused by the system (`little_memory`).
"""

import ast
import itertools
import mmap
import os
import re
import resource

import pytest
from calls import CALLS, called

import fastgcm
from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, Exhausted, InvalidTag

TEXT, CHUNKS = (1 << 36) - 32, 1 << 38
NUMBERS = [0, -1] + [sign * (1 << bits) + by for bits in (31, 32, 36, 38, 63, 64, 200) for sign in (1, -1) for by in (-16, -1, 0, 1, 16)]
REFUSED = (OverflowError, ValueError, TypeError, IndexError, MemoryError, Exhausted)

# Which numbers are right: all others are refused. (What is right far ahead has its answers in `test_far.py`.)
RIGHT = {
    ("CounterNonces", 1): lambda n: 0 <= n < 1 << 64,
    ("CounterNonces.draw_batch", 0): lambda n: n == 0,
    ("XorNonces", 1): lambda n: 0 <= n < 1 << 64,
    ("XorNonces.at", 1): lambda n: 0 <= n < 1 << 64,
    ("XorNonces.draw_batch", 0): lambda n: n == 0,
    ("SealingKey", "confidentiality"): lambda n: 0 <= n < 1 << 32,
    ("SealingKey", "blocks"): lambda n: 0 <= n < 1 << 64,
    ("SealingKey", "sealers"): lambda n: 0 < n < 1 << 32,
    ("RandomNonces", 0): lambda n: 0 <= n < 1 << 64,
    ("RandomNonces.draw_batch", 0): lambda n: n == 0,
    ("hazmat.Plan", 1): lambda n: 0 <= n <= TEXT,
    ("hazmat.Plan", 2): lambda n: 0 < n < 1 << 64 and n % 16 == 0,
    ("hazmat.CobblestoneChunks.seal", 0): lambda n: 0 <= n < CHUNKS,
    ("jobs.Sealing.begin", "part"): lambda n: n > 0,
    ("jobs.Opening.begin", "part"): lambda n: n > 0,
    ("jobs.Sealing.run", 0): lambda n: n == 0,
    ("jobs.Opening.run", 0): lambda n: n == 0,
    ("hazmat.CobblestoneChunks.open", 0): lambda n: n == 0,
} | {(name, 2 if name != "hash_part" else 1): lambda n: n % 16 == 0 and 0 <= n <= TEXT - 20 for name in
     ("seal_part", "open_part", "seal_part_into", "open_part_into", "hash_part")} \
  | {(f"cobblestone.Cobblestone{bits}Decryptor.decrypt_range", 1): lambda n: 0 <= n <= 16384 for bits in (128, 256)} \
  | {(f"cobblestone.Cobblestone{bits}Decryptor.decrypt_range", 2): lambda n: n == 0 for bits in (128, 256)}
# What takes any number: it is kept, and used by nobody here.
KEPT = {"jobs.Sealing", "jobs.Opening", "exceptions.Exhausted", "exceptions.OtherText"}


# Numbers that `fastgcm.fsspec` and `fastgcm.s3` take.
OF_OTHERS = set(
    """
    fsspec.SealedFileSystem.cat_file.end
    fsspec.SealedFileSystem.cat_file.start
    fsspec.SealedFileSystem.cat_ranges.max_gap
    fsspec.SealedFileSystem.find.maxdepth
    fsspec.SealedFileSystem.rm.maxdepth
    fsspec.SealedReader.readline.size
    fsspec.text_length.sealed
    s3.Opening.begin.part
    s3.Opening.run.index
    s3.Sealing.begin.part
    s3.Sealing.run.index
    s3.download.attempts
    s3.download.part
    s3.download.workers
    s3.upload.attempts
    s3.upload.part
    s3.upload.workers
    """.split()
)


def places(kinds, names=CALLS):
    """Every argument of those kinds, of every function."""
    for name in names:
        call = CALLS[name]
        for place, argument in [*enumerate(call.arguments), *call.named.items()]:
            if type(argument) in kinds:
                yield name, place, argument


def test_modules_that_need_other_packages():
    """Where they take numbers, by their code, as not every Python has those packages. crates/fastgcm-python/interop tests them: `test_sizes`, `test_ranges_are_slices`."""
    taken = set()
    for name in ("fsspec", "s3"):
        path = os.path.join(os.path.dirname(fastgcm.__file__), f"{name}.py")
        with open(path) as file:
            tree = ast.parse(file.read())
        for scope in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
            for function in scope.body:
                if isinstance(function, ast.FunctionDef) and not {scope.__dict__.get("name", "x")[0], function.name[0]} & {"_"}:
                    arguments = [*function.args.args, *function.args.kwonlyargs]
                    numbers = [one.arg for one in arguments if one.annotation and re.search(r"\bint\b", ast.unparse(one.annotation))]
                    taken |= {".".join(filter(None, (name, scope.__dict__.get("name"), function.name, one))) for one in numbers}
    assert taken == OF_OTHERS


def refused(call, folder, change):
    """The error of a call, or None."""
    try:
        called(call, folder, change)
    except (*REFUSED, InvalidTag) as error:
        return error
    return None


@pytest.fixture
def little_memory():
    """There are 1 GiB more, and no more."""
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * mmap.PAGESIZE
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(scope="module")
def giants():
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    return [mmap.mmap(-1, length, flags=flags) for length in ((1 << 31) + 16, (1 << 32) + 16, (1 << 36) + 64)]


def test_numbers(tmp_path, little_memory):
    tried, folders = 0, itertools.count()
    for name, place, right in places({int}, [name for name in CALLS if name not in KEPT]):
        folder = lambda: str(tmp_path / str(next(folders)))  # noqa: E731
        expected = called(CALLS[name], folder())
        for number in NUMBERS:
            tried += 1
            is_right = RIGHT.get((name, place), lambda n: n == right)(number)
            try:
                found = called(CALLS[name], folder(), (place, number))
            except REFUSED as error:
                assert not is_right, f"{name}, argument {place}: {number} is refused: {error!r}"
                assert str(error) or isinstance(error, MemoryError), f"{name}, argument {place}, {number}: no text"
            except InvalidTag:  # a chunk of another number, which nobody has sealed
                assert name == "hazmat.CobblestoneChunks.open" and 0 < number < CHUNKS
            else:
                assert is_right, f"{name}, argument {place}: {number} is taken: {found!r}"
        for wrong in (1.0, float("nan"), "1", None, b"1"):
            assert isinstance(refused(CALLS[name], folder(), (place, wrong)), TypeError), f"{name}, argument {place}: {wrong!r}"
        # To Python, True is 1.
        outcomes = [repr(refused(CALLS[name], str(tmp_path / f"{tried}.{one}"), (place, one))) for one in (True, 1)]
        assert outcomes[0] == outcomes[1], name
        assert called(CALLS[name], folder()) == expected or CALLS[name].is_random, name
    assert tried > 2000


# Associated data and contexts may be longer than a text; other functions read no more than a few bytes of a buffer.
LONG = {("hash_part", 2)}


def test_buffers(tmp_path, giants, little_memory):
    tried = 0
    for name, place, _ in places({bytes, bytearray, list}):
        if is_aad(name, place) or name in KEPT or name.endswith((".finish", "Appearing.write")):  # a file takes any length
            continue
        call = CALLS[name]
        for giant in giants:
            if (name, place) in LONG and len(giant) < TEXT:
                continue
            for value in [giant] if type(call.arguments[place]) is not list else [[giant, giant], [giant] * 2 + [b""]]:
                tried += 1
                if name.endswith(".update_into") and place == 1:  # its first bytes are written
                    assert called(call, "", (place, value)) == called(call, "") and value[len(value) - 1] == 0
                    continue
                assert refused(call, str(tmp_path / str(tried)), (place, value)), f"{name}, argument {place}: {value!r} is taken"
    assert tried > 300


def test_data_and_buffers(giants, little_memory):
    """More than a text may have, in place."""
    tried = 0
    for name, call in CALLS.items():
        if name.endswith("_into"):
            places = [place for place, argument in enumerate(call.arguments) if type(argument) in (bytes, bytearray) and not is_aad(name, place)][-2:]
            tried += 1
            with pytest.raises(REFUSED):
                called(call, "", *((place, giants[-1]) for place in places))
            assert giants[-1][0] == giants[-1][-1] == 0
    assert tried > 15


@pytest.mark.parametrize(("cls", "size", "tag"), [(AESGCM, 12, 16), (AESGCMSIV, 12, 16), (XAES256GCM, 24, 16), (KCXAES256GCM, 24, 48)])
def test_the_longest_text(cls, size, tag, giants, little_memory):
    """The longest text that there may be lacks memory only. One byte more is refused by its number, before anybody asks for memory."""
    ours, nonce, giant = cls(bytes(32)), bytes(size), memoryview(giants[-1])
    for length, error, says in ((TEXT, MemoryError, "^$"), (TEXT + 1, OverflowError, "too long")):
        text, sealed = giant[:length], giant[: length + tag]
        calls = [lambda: ours.encrypt(nonce, text, None), lambda: ours.decrypt(nonce, sealed, None)]
        if cls is not AESGCMSIV:
            calls += [lambda: ours.seal_batch([nonce], [text]), lambda: ours.open_batch([nonce], [sealed])]
            calls += [lambda: ours.seal_batch(nonce, text), lambda: ours.open_batch(nonce, sealed)]
        if size == 24:
            calls += [lambda: ours.seal_random(text), lambda: ours.open_random(giant[: size + length + tag])]
        for number, call in enumerate(calls):
            with pytest.raises(error, match=says):
                pytest.fail(f"call {number} with {length} bytes: {len(call())}")
        # What is written has the length that it must have, or there is none.
        for call, written in ((ours.encrypt_into, sealed), (ours.decrypt_into, text)):
            with pytest.raises(ValueError if length == TEXT else error, match=says if length > TEXT else f"buffer must be {len(written)} bytes"):
                call(nonce, text if written is sealed else sealed, None, bytearray(1))


def is_aad(name, place):
    """Associated data, or a context: bytes that are hashed only."""
    argument = CALLS[name].arguments[place] if isinstance(place, int) else b"context"
    return argument in (b"associated", b"context") or argument == [b"associated", b""]


def test_associated_data_beyond_the_limit():
    """Of 2^62 bytes: that there are none is not seen, as nobody reads before he has looked at their number."""
    ctypes = pytest.importorskip("ctypes")  # where CPython was built without libffi, there is none
    page = mmap.mmap(-1, mmap.PAGESIZE)
    giant = (ctypes.c_char * (1 << 62)).from_address(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    tried = 0
    for name, place, argument in places({bytes, list}):
        if is_aad(name, place) and isinstance(place, int) and b"context" != argument:
            tried += 1
            assert isinstance(refused(CALLS[name], "", (place, giant)), OverflowError), f"{name}, argument {place}"
    assert tried > 15
