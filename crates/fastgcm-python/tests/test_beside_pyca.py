"""Every call that is also pyca/cryptography's, with whatever an argument could be: the same answer, or the same error with the same text."""

import array
import copy
import io
import itertools
import mmap
import operator
import pickle
import re
import weakref

import pytest
from cryptography import cobblestone as pyca_cobblestone
from cryptography.hazmat.primitives.ciphers import aead as pyca_aead

import fastgcm
from fastgcm import cobblestone

ctypes = pytest.importorskip("ctypes")  # where CPython was built without libffi, there is none
NONCE, TEXT = b"n" * 12, b"0123456789abcdef"


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        if self.value is None:
            raise RuntimeError("no number")
        return self.value


class Refuses:
    def __buffer__(self, flags):
        raise BufferError("no")


def subclass(of, *arguments):
    return type("Subclass", (of,), {})(*arguments)


def things(length):
    """What could stand where bytes are wanted, and what cannot: most have that length."""
    released, closed = memoryview(bytes(length)), mmap.mmap(-1, 16)
    released.release()
    closed.close()
    yield from {
        "bytes": bytes(length),
        "a subclass of bytes": subclass(bytes, length),
        "bytearray": bytearray(length),
        "a subclass of bytearray": subclass(bytearray, length),
        "memoryview": memoryview(bytes(length)),
        "a view of a bytearray": memoryview(bytearray(length)),
        "read-only": memoryview(bytearray(length)).toreadonly(),
        "characters": memoryview(bytearray(length)).cast("c"),
        "array": array.array("B", bytes(length)),
        "every other byte": memoryview(bytearray(2 * length))[::2],
        "backwards": memoryview(bytearray(length))[::-1],
        "two dimensions": memoryview(bytearray(length)).cast("B", (length // 4, 4)),
        "released": released,
        "a closed map": closed,
        "objects": (ctypes.py_object * length)(),
        "records with objects": (type("Record", (ctypes.Structure,), {"_fields_": [("number", ctypes.c_long), ("object", ctypes.py_object)]}) * length)(),
        "str": "x" * length,
        "a subclass of str": subclass(str, "é" * length),
        "None": None,
        "int": length,
        "bool": True,
        "float": 1.5,
        "list": [0] * length,
        "tuple": (0,) * length,
        "a class": bytes,
        "object": object(),
        "refuses": Refuses(),
        "generator": (each for each in ()),
        "file": io.BytesIO(bytes(length)),
    }.items()


NUMBERS = (0, 1, 127, 129, 512, -1, 1 << 31, 1 << 63, 1 << 64, 1 << 70, -(1 << 70), "128", b"128", None, 128.0, True, Index(0), Index(None), [], object())
ANY_OBJECT = {
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "weakref": weakref.ref,
    "hash": lambda it: bool(hash(it)),
    "bool": bool,
    "len": len,
    "iter": iter,
    "bytes": bytes,
    "equal": lambda it: it == it,
    "less": lambda it: it < it,
    "add": lambda it: it + it,
    "item": lambda it: it[0],
    "call": lambda it: it(),
    "with": lambda it: it.__enter__(),
    "dict": lambda it: it.__dict__,
    "key": lambda it: it.key,
    "set": lambda it: setattr(it, "other", 1),
    "set a method": lambda it: setattr(it, "encrypt" if hasattr(it, "encrypt") else "update", 1),
    "delete a method": lambda it: delattr(it, "encrypt" if hasattr(it, "encrypt") else "update"),
    "set in the class": lambda it: (setattr(type(it), "other", 1), delattr(type(it), "other")),
    "another class": lambda it: setattr(it, "__class__", object),
    "init": lambda it: it.__init__(),
    "new": lambda it: type(it).__new__(type(it)),
    "object.__new__": lambda it: object.__new__(type(it)),
    "subclass": lambda it: type("Subclass", (type(it),), {}),
}


def keys(cls, *more):
    """Calls of the class itself. `more` is what comes behind the key."""
    yield from ((("key of", length), cls, (bytes(length), *more)) for length in (0, 1, 15, 16, 17, 25, 31, 32, 33, 64, 1000))
    yield from ((("key", name), cls, (thing, *more)) for name, thing in things(16))
    yield from ((("arguments", count), cls, (b"k" * 16, *more, 1, 2)[:count]) for count in range(len(more) + 3))
    yield "a word", lambda: cls(bytes(16), *more, kay=1), ()
    yield "twice", lambda: cls(bytes(16), *more, key=bytes(16)), ()


def of_aead(cls):
    """Names, and calls with their arguments: what is wrong with each argument, and with two at once."""
    yield from keys(cls)
    if cls.__name__ == "AESGCM":  # of the other the text is another, on purpose
        yield from ((("generate", number, type(value).__name__), cls.generate_key, (value,)) for number, value in enumerate(NUMBERS))
    yield from ((("generate", count), cls.generate_key, (128, 1)[2 - count :]) for count in (2,))
    aead = cls(b"k" * 16)
    yield from (((name,), call, (aead,)) for name, call in ANY_OBJECT.items())
    sealed = aead.encrypt(NONCE, TEXT, None)
    for verb, data, length in (("encrypt", TEXT, 32), ("decrypt", sealed, 16)):
        call, into = getattr(aead, verb), getattr(aead, verb + "_into")
        right = (NONCE, data, None)
        others = (
            [*((n, bytes(n)) for n in (0, 1, 7, 8, 11, 12, 13, 16, 128, 129, 1000)), *things(12)],
            [*((n, bytes(n)) for n in (0, 1, 15, 16, 17)), *things(16), *things(32)],
            [("empty", b""), *things(16)],
        )
        for at, values in enumerate(others):
            for number, (name, value) in enumerate(values):
                arguments = (*right[:at], value, *right[at + 1 :])
                yield (verb, at, number, name), call, arguments
                yield (verb, "into", at, number, name), into, (*arguments, bytearray(length))
        yield from (((verb, "buf", name), into, (*right, value)) for name, value in things(length))
        yield from (((verb, "buf of", n), into, (*right, bytearray(n))) for n in (0, length - 1, length + 1, 1000))
        wrong = ((bytes(7), "s" * 12), (b"x", "s"), ("s", 3), (bytearray(3), "s", bytes(length)))
        for (at, these), (also, those) in itertools.combinations(enumerate(wrong), 2):
            for this, that in itertools.product(these, those):
                arguments = [*right, bytearray(length)]
                arguments[at], arguments[also] = this, that
                yield (verb, at, also, this, that), into, arguments
                if also < 3:
                    yield (verb, "both", at, also, this, that), call, arguments[:3]
        yield from (((verb, "arguments", n), call, (*right, None, None)[:n]) for n in range(6))
        yield from (((verb, "into, arguments", n), into, (*right, bytearray(length), 1, 2)[:n]) for n in range(7))
        yield (verb, "a word"), lambda call=call, right=right: call(*right[:2], aad=None), ()
        yield (verb, "twice"), lambda call=call, right=right: call(*right, nonce=NONCE), ()


def of_stream(cls):
    length = 16 if "128" in cls.__name__ else 32
    yield from keys(cls, b"context")
    yield from ((("context", name), cls, (bytes(length), thing)) for name, thing in things(length))
    yield from ((("context of", n), cls, (bytes(length), bytes(n))) for n in (0, 1, 65535, 65536, 100_000))
    if "Encryptor" in cls.__name__:
        yield "generate", cls.generate_key, (1,)
    yield from (((name,), call, (cls(bytes(length), b""),)) for name, call in ANY_OBJECT.items())

    def fresh(method, *arguments):
        result = getattr(cls(bytes(length), b""), method)(*arguments)
        return len(result) if isinstance(result, bytes) else result  # a header has random bytes

    yield from ((("update", name), fresh, ("update", thing)) for name, thing in things(16))
    yield from ((("update_into", name), fresh, ("update_into", thing, bytearray(100))) for name, thing in things(16))
    yield from ((("update_into, buf", name), fresh, ("update_into", b"x", thing)) for name, thing in things(56))
    yield from ((("update_into, buf of", n), fresh, ("update_into", bytes(20_000), bytearray(n))) for n in (0, 1, 55, 56, 57, 16471, 16472))
    steps = (
        ("finalize",),
        ("finalize", 1),
        ("update", b"x"),
        ("update", "x"),
        ("update", b"g" * 20_000),
        ("update_into", b"x", bytearray(100)),
        ("update_into", b"x", bytearray(0)),
        ("update_into", b"x", bytes(100)),
    )
    for which in itertools.product(range(len(steps)), repeat=3):

        def three(which=which):
            it = cls(bytes(length), b"")
            found = [outcome(getattr(it, steps[step][0]), steps[step][1:]) for step in which]
            return [len(each) if isinstance(each, bytes) else each for each in found]

        yield which, three, ()
    if "Decryptor" in cls.__name__:
        sealer = getattr(pyca_cobblestone, cls.__name__.replace("De", "En"))(bytes(length), b"")
        sealed = sealer.update(bytes(40_000)) + sealer.finalize()

        def opened(data):
            opener = cls(bytes(length), b"")
            return opener.update(data) + opener.finalize()

        cuts = (0, 1, 55, 56, 57, 71, 72, 73, 16471, 16472, 16473, 20_000, len(sealed) - 1, len(sealed))
        yield from ((("cut", n), opened, (sealed[:n],)) for n in cuts)
        yield from ((("longer", n), opened, (sealed + bytes(n),)) for n in (1, 16, 17_000))
        for at in (0, 24, 55, 56, 16472, len(sealed) - 1):
            yield ("changed", at), opened, (sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :],)


CLASSES = [
    *((of_aead, getattr(fastgcm, name), getattr(pyca_aead, name), 550) for name in ("AESGCM", "AESGCMSIV")),
    *((of_stream, theirs, getattr(pyca_cobblestone, name), 700) for name, theirs in vars(cobblestone).items() if name.startswith("Cobblestone")),
]


def outcome(call, arguments):
    try:
        found = call(*arguments)
    except BaseException as error:
        return type(error), re.sub(r"0x[0-9a-f]+|cryptography\.hazmat\.bindings\._rust\.[.\w]+|fastgcm\.[.\w]+", "IT", str(error))
    return found if isinstance(found, (bytes, int, list)) else type(found).__name__


@pytest.mark.parametrize(("calls", "ours", "theirs", "many"), CLASSES, ids=[cls.__name__ for _, cls, _, _ in CLASSES])
def test_every_call(calls, ours, theirs, many):
    assert [method for method in dir(ours) if method[0] != "_" and hasattr(theirs, method)] == [method for method in dir(theirs) if method[0] != "_"]
    count = 0
    for (name, *mine), (same, *other) in zip(calls(ours), calls(theirs), strict=True):
        assert name == same
        assert outcome(*mine) == outcome(*other), name
        count += 1
    assert count > many, count


def test_what_pyca_refuses_by_intent():
    """Any contiguous buffer does, whatever its items are; but for references to objects, which text would overwrite."""
    for cls, key in ((fastgcm.AESGCM, bytes(16)), (fastgcm.AESGCMSIV, bytes(16))):
        ours = cls(key)
        sealed = ours.encrypt(NONCE, bytes(16), None)
        for zeros in (
            memoryview(bytes(16)).cast("b"),
            memoryview(bytes(16)).cast("d"),
            array.array("I", bytes(16)),
            (ctypes.c_ubyte * 16)(),
            (ctypes.c_double * 2)(),
            type("Two", (ctypes.Structure,), {"_fields_": [("one", ctypes.c_uint64), ("two", ctypes.c_uint64)]})(),
        ):
            assert ours.encrypt(NONCE, zeros, None) == sealed
            assert cls(zeros).encrypt(NONCE, zeros, None) == sealed
    numbers, objects = (ctypes.c_uint64 * 4)(), (ctypes.py_object * 2)("left", "right")
    assert ours.encrypt_into(NONCE, bytes(16), None, numbers) == 32 and bytes(numbers) == sealed
    sealer = fastgcm.Sealer(fastgcm.AESGCM(key), NONCE)
    for call in (
        lambda: ours.decrypt_into(NONCE, sealed, None, objects),
        lambda: sealer.update_into(bytes(16), objects),
        lambda: sealer.update(objects),
        lambda: fastgcm.AESGCM(key).seal_batch(NONCE, objects),
        lambda: fastgcm.AESGCM(key).open_batch_into(NONCE, sealed, None, objects),
    ):
        with pytest.raises(TypeError, match="Cannot convert .*py_object_Array.* to a buffer"):
            call()
    assert list(objects) == ["left", "right"]
    # A field may have any name.
    named = (type("Named", (ctypes.Structure,), {"_fields_": [("O", ctypes.c_uint64), ("SOON", ctypes.c_uint64)]}) * 1)()
    assert "O" in memoryview(named).format and operator.eq(ours.encrypt(NONCE, named, None), sealed)
