"""Two walks through every function of the library, by the names of their arguments. The first gives each number that is too large, negative or none, and each
buffer the sizes around 2^31 and 2^32 (memory that nobody has written costs none). The second forces an error wherever a function leaves our code: the items of
a list, the length of a list, a file that is read, a list of parts. Whatever happens, the call raises an ordinary exception and writes no text, and the same
object then does what it should.
"""

import inspect
import mmap
import resource

import pytest
from fastgcm import _fastgcm, exceptions

TEXT, AAD, NONCE, SALT = bytes(range(100)), b"aad", b"n" * 12, bytes(24)
ORDINARY = (ArithmeticError, AttributeError, BufferError, LookupError, MemoryError, RuntimeError, TypeError, ValueError, OSError)
ORDINARY += tuple(getattr(exceptions, name) for name in exceptions.__all__)
SIZES = [sign * (size + more) for size in (2**31, 2**32, 2**36, 2**63, 2**64, 2**127) for more in (-1, 0, 1) for sign in (1, -1)]
SIZES += [-1, -16, 0.5, float("nan"), float("inf"), "5", None, b"5", [], True]
NUMBERS = {"threads", "bit_length", "start", "used", "count", "offset", "length", "text_length", "part_length", "first"}


class Mine(Exception):
    pass


def wide(name):
    return 24 if name == "XAES256GCM" else 12


def made(name):
    """A new object of that class."""
    key = bytes(16) if "128" in name else bytes(32)
    of = {
        "Sealer": lambda: _fastgcm.Sealer(_fastgcm.AESGCM(key), NONCE),
        "UnverifiedOpener": lambda: _fastgcm.UnverifiedOpener(_fastgcm.AESGCM(key), NONCE),
        "CounterNonces": lambda: _fastgcm.CounterNonces(b"four"),
        "RandomNonces": lambda: _fastgcm.RandomNonces(),
        "PartHash": lambda: _fastgcm.hash_part(_fastgcm.AESGCM(key), 0, TEXT),
        "Plan": lambda: _fastgcm.Plan(NONCE, len(TEXT), 112),
        "CobblestoneChunks": lambda: _fastgcm.CobblestoneChunks(key, AAD, SALT),
    }
    if name.startswith("Cobblestone") and name != "CobblestoneChunks":
        return getattr(_fastgcm, name)(key, AAD)
    return of.get(name, lambda: getattr(_fastgcm, name)(key))()


def whole(name):
    """A sealed file for that class."""
    each = made(name.replace("Decryptor", "Encryptor"))
    return each.update(TEXT) + each.finalize()


def right(cls, name, parameters):
    """Right arguments, by their names."""
    width = wide(cls)
    opens = name.startswith(("open", "decrypt"))
    nonces = [bytes([i]) * width for i in (1, 2)]
    aead = made(cls) if hasattr(getattr(_fastgcm, cls, None), "encrypt") else None
    sealed = aead.encrypt(b"n" * width, TEXT, AAD) if aead else TEXT
    batch = [aead.encrypt(nonce, TEXT, AAD) if opens else TEXT for nonce in nonces] if aead else []
    data = {"open_random": lambda: aead.seal_random(TEXT, AAD), "from_bytes": lambda: made("PartHash").to_bytes()}.get(
        name, lambda: sealed if opens and aead else whole(cls) if cls.endswith("Decryptor") else TEXT
    )()
    if cls == "CobblestoneChunks" and name == "open":
        data = made(cls).seal(0, TEXT, last=True)
    length = len(data) + (16 if aead and not opens else -16 if aead else 20_000 if cls.startswith("Cobblestone") else 0)
    one = _fastgcm.AESGCM(bytes(32))
    by_name = {
        "key": bytes(16) if "128" in cls else bytes(32),
        "nonce": b"n" * width,
        "data": data,
        "associated_data": AAD,
        "buf": bytearray(b"\7" * max(length, 0)),
        "nonces": nonces if not name.endswith("_into") else b"".join(nonces),
        "datas": batch if not name.endswith("_into") else b"".join(batch),
        "aads": AAD,
        "tag": made("Sealer").finalize(),
        "aesgcm": one,
        "parts": [_fastgcm.seal_part(one, NONCE, 0, TEXT)[1]],
        "part": made("PartHash"),
        "source": whole(cls) if cls.endswith("Decryptor") else b"",
        "context": AAD,
        "salt": SALT,
        "fixed": b"four",
        "last": True,
        **{"threads": 1, "bit_length": 256, "start": 7, "used": 7, "count": 3, "offset": 0, "length": 50},
        **{"text_length": 100, "part_length": 112, "first": 0},
    }
    if name.endswith("batch_into"):
        by_name["buf"] = bytearray(b"\7" * sum(len(text) + (-16 if opens else 16) for text in batch))
    return {parameter: by_name[parameter] for parameter in parameters}


def functions():
    """Each function of the library, by its class and name: a new argument without a right value is a `KeyError` here."""
    for name in _fastgcm.__all__:
        value = getattr(_fastgcm, name)
        if inspect.isclass(value):
            if name != "PartHash":  # nobody makes one
                yield name, "__new__", list(inspect.signature(value).parameters)
            for method, found in vars(value).items():
                if not method.startswith("_") and callable(getattr(value, method)):
                    yield name, method, [each for each in inspect.signature(getattr(value, method)).parameters if each != "self"]
        elif callable(value):
            yield "", name, list(inspect.signature(value).parameters)


def call_of(cls, name):
    """The call, of a new object."""
    if name == "__new__":
        return getattr(_fastgcm, cls)
    each = made(cls) if cls else _fastgcm
    if name == "tag":
        each.accept(_fastgcm.seal_part(_fastgcm.AESGCM(bytes(32)), NONCE, 0, TEXT)[1])
    if cls.endswith("Decryptor") and name == "finalize":
        each.update(whole(cls))
    return getattr(each, name)


def called(call, arguments):
    """Its result, or the exception. A panic of Rust and a `SystemError` are none that may come."""
    named = {name: value for name, value in arguments.items() if name in ("threads", "last")}
    try:
        return call(*[value for name, value in arguments.items() if name not in named], **named), None
    except (*ORDINARY, Mine) as error:
        assert not isinstance(error, SystemError)
        return None, error


def works_still(call, cls, name, parameters, how):
    _, error = called(call, right(cls, name, parameters))
    assert error is None, f"{cls}.{name} behind {how}: {error!r}"


@pytest.fixture(autouse=True)
def little_memory():
    """What asks for gigabytes gets none, and does not take them from others."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30) + (5 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


ALL = [pytest.param(*each, id=".".join(each[:2]).strip(".")) for each in functions()]


@pytest.mark.parametrize(("cls", "name", "parameters"), ALL)
def test_right(cls, name, parameters):
    _, error = called(call_of(cls, name), right(cls, name, parameters))
    assert error is None, error


@pytest.mark.parametrize(("cls", "name", "parameters"), ALL)
def test_sizes(cls, name, parameters):
    for parameter in parameters:
        if parameter in NUMBERS:
            for size in SIZES:
                if parameter == "count" and isinstance(size, int) and 2**20 < size < 2**34:
                    continue  # so many nonces are drawn, which takes their memory
                call, arguments = call_of(cls, name), right(cls, name, parameters)
                before = bytes(arguments.get("buf", b""))
                _, error = called(call, arguments | {parameter: size})
                if error is None:
                    # Numbers that are only counted or limited may be large; what is cut out, or made, may not.
                    assert isinstance(size, int) and size >= 0, f"{parameter}={size!r} is taken"
                    refused = parameter in ("count", "bit_length", "length") or cls.endswith("Decryptor")
                    assert size < 2 or not refused, f"{parameter}={size} is taken"
                else:
                    assert bytes(arguments.get("buf", b"")) in (before, bytes(len(before))), f"{parameter}={size}: text in buf"
                    works_still(call, cls, name, parameters, f"{parameter}={size}")


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**32 + 16])
def test_buffers_of_such_sizes(size):
    """Where they are too long. (Associated data, texts and long nonces of that size are right.)"""
    with mmap.mmap(-1, size) as giant:
        for cls, name, parameters in functions():
            for parameter in parameters:
                too_long = {"key", "tag", "fixed", "salt"} | ({"buf", "datas", "nonces"} if name.endswith("_into") and "update" not in name else set())
                if parameter in too_long or (parameter == "nonce" and cls in ("AESGCMSIV", "XAES256GCM")):
                    call = call_of(cls, name)
                    _, error = called(call, right(cls, name, parameters) | {parameter: giant})
                    assert error is not None, f"{cls}.{name}: {parameter} of {size} bytes"
                    works_still(call, cls, name, parameters, f"{parameter} of {size} bytes")


class Failing:
    """A list or a file that fails at the n-th thing that is asked of it."""

    def __init__(self, content, fails):
        self.content, self.left, self.failed = content, fails, False

    def point(self):
        self.left -= 1
        if self.left < 0:
            self.failed = True
            raise Mine

    def __iter__(self):
        for item in self.content:
            self.point()
            yield item

    def __len__(self):
        self.point()
        return len(self.content)

    def __getitem__(self, at):
        self.point()
        return self.content[at]

    def seek(self, *_):
        self.point()
        return len(self.content)

    def read(self, size):
        self.point()
        return self.content[:size]

    def __index__(self):
        self.point()
        return self.content


@pytest.mark.parametrize(("cls", "name", "parameters"), ALL)
def test_errors_in_the_middle(cls, name, parameters):
    for parameter in parameters:
        for fails in range(6):
            call, arguments = call_of(cls, name), right(cls, name, parameters)
            before = bytes(arguments.get("buf", b""))
            failing = Failing(arguments[parameter], fails)
            _, error = called(call, arguments | {parameter: failing})
            assert isinstance(error, Mine) or not failing.failed, f"{parameter}: its own error became {error!r}"
            if error is not None:
                assert bytes(arguments.get("buf", b"")) in (before, bytes(len(before))), f"{parameter}, {fails}: text in buf"
                works_still(call, cls, name, parameters, f"{parameter} that fails at {fails}")
