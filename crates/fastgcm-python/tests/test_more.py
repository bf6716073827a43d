"""Everything beside `AESGCM`: pieces, parts, nonces, other algorithms, streams. pyca/cryptography is the referee where it has the same."""

import ast
import doctest
import hmac
import importlib.metadata
import io
import mmap
import os
import pathlib
import random
import subprocess
import sys

import pytest
from cryptography import cobblestone as pyca_cobblestone
from cryptography.exceptions import AlreadyFinalized, InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV as PycaSiv

import fastgcm
from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, _fastgcm, CounterNonces, Exhausted, OtherText, RandomNonces, Sealer, cobblestone, hazmat
from fastgcm.hazmat import PartHash, Plan, UnverifiedOpener

NONCE = b"n" * 12
CHUNK = 16384


def cut(data, draw):
    while data:
        piece, data = data[: (n := draw.randrange(1, 70_000))], data[n:]
        yield piece


@pytest.mark.parametrize("length", [0, 1, 16, 1000, 300_000])
def test_pieces(length):
    draw = random.Random(length)
    ours, text, aad = AESGCM(bytes(16)), draw.randbytes(length), draw.randbytes(50)
    expected = ours.encrypt(NONCE, text, aad)
    sealer, opener = Sealer(ours, NONCE), UnverifiedOpener(ours, NONCE)
    for each in (sealer, opener):
        each.update_aad(aad[:20])
        each.update_aad(bytearray(aad[20:]))
    sealed = b""
    for number, piece in enumerate(cut(text, draw)):
        if number % 2:
            sealed += sealer.update(piece)
        else:
            buf = bytearray(len(piece) + 3)
            assert sealer.update_into(piece, buf) == len(piece)
            sealed += buf[:-3]
    tag = sealer.finalize()
    assert sealed + tag == expected
    assert b"".join(opener.update(bytearray(piece)) for piece in cut(sealed, draw)) == text
    opener.verify(tag)
    for call in (sealer.finalize, lambda: sealer.update(b""), lambda: sealer.update_aad(b""), lambda: opener.verify(tag), lambda: opener.update(b"")):
        with pytest.raises(AlreadyFinalized):
            call()


def test_pieces_that_are_refused():
    ours = AESGCM(bytes(16))
    sealer = Sealer(ours, NONCE)
    sealed = sealer.update(b"text")
    with pytest.raises(ValueError, match="come before"):
        sealer.update_aad(b"late")
    with pytest.raises(ValueError, match="at least 5"):
        sealer.update_into(b"texts", bytearray(4))
    memory = bytearray(10)
    with pytest.raises(ValueError, match="overlap"):
        sealer.update_into(memoryview(memory)[:5], memoryview(memory)[1:])
    assert sealed + sealer.finalize() == ours.encrypt(NONCE, b"text", None)
    opener = UnverifiedOpener(ours, NONCE)
    with pytest.raises(ValueError, match="16 bytes"):
        opener.verify(bytes(12))
    with pytest.raises(InvalidTag):
        opener.verify(bytes(16))
    with pytest.raises(AlreadyFinalized):
        opener.update(b"")


@pytest.mark.parametrize("length", [0, 1, 4096, 100_000])
def test_parts(length):
    ours, text = AESGCM(bytes(32)), bytes(random.Random(length).choices(range(1, 256), k=length))
    expected = ours.encrypt(NONCE, text, b"aad")
    plan = Plan(NONCE, length, 16384)
    assert plan.parts() == plan.missing() and plan.nonce == NONCE
    sealed = bytearray(length)
    for begin, end in reversed(plan.missing()):
        part, travelled = hazmat.seal_part(ours, NONCE, begin, text[begin:end])
        sealed[begin:end] = part
        part_hash = PartHash.from_bytes(travelled.to_bytes())
        assert (part_hash.offset, part_hash.length) == (begin, end - begin)
        assert hazmat.hash_part(ours, begin, part).to_bytes() == travelled.to_bytes()
        assert hazmat.open_part(ours, NONCE, begin, part)[0] == text[begin:end]
        both = bytearray(text[begin:end])
        assert hazmat.seal_part_into(ours, NONCE, begin, both, both).to_bytes() == travelled.to_bytes()
        assert both == part
        assert hazmat.open_part_into(ours, NONCE, begin, both, both).to_bytes() == travelled.to_bytes()
        assert both == text[begin:end]
        with pytest.raises(ValueError, match="missing"):
            plan.tag(ours, b"aad")
        plan.accept(part_hash)
        plan.accept(part_hash)
        other = hazmat.seal_part(ours, NONCE, begin, bytes(end - begin))[1]
        with pytest.raises(OtherText):
            plan.accept(other)
        assert "hash" not in repr(part_hash).lower().replace("parthash", "")
    assert plan.missing() == []
    tag = plan.tag(ours, b"aad")
    assert sealed + tag == expected
    assert hmac.compare_digest(hazmat.combine(ours, NONCE, b"aad", plan.accepted()), tag)


def test_parts_that_are_refused():
    ours = AESGCM(bytes(32))
    _, first = hazmat.seal_part(ours, NONCE, 0, bytes(32))
    _, third = hazmat.seal_part(ours, NONCE, 64, bytes(32))
    buf = bytearray(8)
    for call in (
        lambda: hazmat.combine(ours, NONCE, None, [first, third]),
        lambda: hazmat.combine(ours, NONCE, None, [third]),
        lambda: hazmat.seal_part(ours, NONCE, 8, b""),
        lambda: hazmat.seal_part(ours, b"n" * 13, 0, b""),
        lambda: hazmat.seal_part_into(ours, NONCE, 8, b"12345678", buf),
        lambda: hazmat.seal_part_into(ours, NONCE, 0, b"1234567", buf),
        lambda: Plan(NONCE, 100, 15),
        lambda: Plan(NONCE, 100, 0),
        lambda: Plan(NONCE, 100, 64).accept(first),
        lambda: PartHash.from_bytes(bytes(31)),
        lambda: PartHash.from_bytes(b"\xff" * 32),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: hazmat.seal_part(ours, NONCE, 1 << 36, b"1"), lambda: Plan(NONCE, 1 << 37, 64)):
        with pytest.raises(OverflowError):
            call()
    assert buf == bytes(8)


def test_nonces():
    nonces = CounterNonces(b"eleven byte")
    assert nonces.draw_batch(255) == b"".join(b"eleven byte" + bytes([n]) for n in range(255))
    assert nonces.position == 255
    assert nonces.draw()[-1] == 255
    assert nonces.position is None
    for call in (nonces.draw, lambda: nonces.draw_batch(1), lambda: CounterNonces(b"eleven byte", 256), RandomNonces(1 << 32).draw):
        with pytest.raises(Exhausted):
            call()
    assert nonces.draw_batch(0) == b""
    for length in range(4, 12):
        assert CounterNonces(b"x" * length, 7).draw() == b"x" * length + (7).to_bytes(12 - length, "big")
    for length in (3, 12):
        with pytest.raises(ValueError):
            CounterNonces(b"x" * length)
    drawn = RandomNonces(5)
    assert len({drawn.draw() for _ in range(100)}) == 100 and drawn.used == 105


@pytest.mark.parametrize("bits", [128, 256])
def test_siv(bits):
    draw = random.Random(bits)
    key = AESGCMSIV.generate_key(bits)
    ours, theirs = AESGCMSIV(key), PycaSiv(key)
    for length in [*range(100), 1000, 4095, 65536, 200_000]:
        nonce, data, aad = draw.randbytes(12), draw.randbytes(length), draw.randbytes(draw.randrange(40))
        sealed = theirs.encrypt(nonce, data, aad)
        whole(ours, nonce, data, aad, sealed)
    for key in (bytes(24), bytes(31)):
        with pytest.raises(ValueError):
            AESGCMSIV(key)
    for bits in (192, 129):
        with pytest.raises(ValueError):
            AESGCMSIV.generate_key(bits)


def whole(ours, nonce, data, aad, sealed):
    """All four calls, apart and in place, and what is refused."""
    length, tag = len(data), len(sealed) - len(data)
    assert ours.encrypt(nonce, data, aad) == sealed
    both = bytearray(data) + bytes(tag)
    view = memoryview(both)
    assert ours.encrypt_into(nonce, view[:length], aad, view) == length + tag
    assert both == sealed
    assert ours.decrypt(nonce, sealed, aad) == ours.decrypt(nonce, both, aad) == data
    assert ours.decrypt_into(nonce, view, aad, view[:length]) == length
    assert both[:length] == data
    for short in (sealed[:tag][:-1], sealed[:-1], sealed[: length + 16 - 1]):
        with pytest.raises(InvalidTag):
            ours.decrypt(nonce, short, aad)
    with pytest.raises(ValueError, match="Nonce must be"):
        ours.encrypt(nonce + b"1", data, aad)
    with pytest.raises(ValueError, match="buffer must be"):
        ours.encrypt_into(nonce, data, aad, bytearray(length + tag + 1))


@pytest.mark.parametrize(("cls", "tag"), [(XAES256GCM, 16), (KCXAES256GCM, 48)])
def test_xaes(cls, tag):
    """The two vectors of C2SP's specification, with commitments that two implementations have made; and round trips."""
    for byte, aad, expected, commitment in (
        (
            1,
            b"",
            "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271",
            "04076b6085eebab138855fe57811c04112eff989d44120dfff662d5475a383c3",
        ),
        (
            3,
            b"c2sp.org/XAES-256-GCM",
            "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
            "5553cd21d1592b422e3129632a3187eee8a658cdca5c5b32ce86308dcc18e9d1",
        ),
    ):
        ours, nonce, text = cls(bytes([byte] * 32)), b"ABCDEFGHIJKLMNOPQRSTUVWX", b"XAES-256-GCM"
        sealed = bytes.fromhex(expected + commitment)[: len(text) + tag]
        whole(ours, nonce, text, aad, sealed)
        # A message of the one is none of the other, whether the commitment is left out or put behind.
        other = XAES256GCM if cls is KCXAES256GCM else KCXAES256GCM
        with pytest.raises(InvalidTag):
            other(bytes([byte] * 32)).decrypt(nonce, sealed, aad)
    ours = cls(cls.generate_key())
    for length in (0, 1000, 100_000):
        data = os.urandom(length)
        nonce = os.urandom(24)
        whole(ours, nonce, data, b"aad", ours.encrypt(nonce, data, b"aad"))
    for wrong in (0, 16, 24, 31, 33):
        with pytest.raises(ValueError, match="key must be 256 bits"):
            cls(bytes(wrong))
    assert len(cls.generate_key()) == 32


@pytest.mark.parametrize(("cls", "size"), [(AESGCM, 12), (AESGCM, 20), (AESGCMSIV, 12), (XAES256GCM, 24), (KCXAES256GCM, 24)])
@pytest.mark.parametrize("length", [64, 1000, 70_000, 5 << 20])
def test_aad_where_the_output_goes(cls, size, length):
    """Associated data that lie in `buf`, wherever, are read before they are written over."""
    ours, nonce, draw = cls(bytes(32)), bytes(size), random.Random(length)
    tag = len(ours.encrypt(nonce, b"", None))
    text, junk = draw.randbytes(length), draw.randbytes(length + tag)
    for at, end in ((0, 40), (0, length), (length // 2, length // 2 + 17), (length - 3, length + tag), (length, length + tag)):
        for threads in (1, 3) if cls is AESGCM else (1,):
            options = {} if threads == 1 else {"threads": threads}
            memory = bytearray(junk)
            view = memoryview(memory)
            aad = bytes(view[at:end])
            sealed = ours.encrypt(nonce, text, aad)
            ours.encrypt_into(nonce, text, view[at:end], view, **options)
            assert memory == sealed
            memory[:] = junk
            if end <= length:
                ours.decrypt_into(nonce, sealed, view[at:end], view[:length], **options)
                assert memory[:length] == text
            # And what is sealed lies there too.
            memory[:] = junk
            memory[:length] = text
            aad = bytes(view[at:end])
            sealed = ours.encrypt(nonce, text, aad)
            ours.encrypt_into(nonce, view[:length], view[at:end], view, **options)
            assert memory == sealed


FORMATS = [(getattr(cobblestone, f"Cobblestone{n}Encryptor"), getattr(cobblestone, f"Cobblestone{n}Decryptor"), n) for n in (128, 256)]


@pytest.mark.parametrize(("encryptor", "decryptor", "n"), FORMATS)
@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7])
def test_streams(encryptor, decryptor, n, length):
    draw = random.Random(length)
    key, text = encryptor.generate_key(), draw.randbytes(length)
    theirs = (getattr(pyca_cobblestone, f"Cobblestone{n}{kind}") for kind in ("Encryptor", "Decryptor"))
    for seal in (encryptor, next(theirs)):
        sealer = seal(key, b"context")
        sealed = b"".join(sealer.update(piece if i % 2 else bytearray(piece)) for i, piece in enumerate(cut(text, draw))) + sealer.finalize()
        for open_ in (decryptor, pyca_cobblestone.__dict__[f"Cobblestone{n}Decryptor"]):
            opener = open_(key, b"context")
            opened = b"".join(opener.update(piece if i % 2 else bytearray(piece)) for i, piece in enumerate(cut(sealed, draw)))
            assert opened + opener.finalize() == text
    both = bytearray(sealed)
    opener = decryptor(key, b"context")
    count = opener.update_into(both, both)
    assert both[:count] + opener.finalize() == text


@pytest.mark.parametrize(("encryptor", "decryptor", "n"), FORMATS)
def test_ranges(encryptor, decryptor, n, tmp_path):
    key, text = encryptor.generate_key(), os.urandom(4 * CHUNK + 100)
    sealer = encryptor(key, b"context")
    sealed = sealer.update(text) + sealer.finalize()
    path = tmp_path / "sealed"
    path.write_bytes(sealed)
    opener = decryptor(key, b"context")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
        for source in (sealed, bytearray(sealed), memory, file, io.BytesIO(sealed)):
            for begin, end in ((0, 0), (0, len(text)), (1, 2), (CHUNK - 1, CHUNK + 1), (len(text) - 1, len(text)), (3 * CHUNK, 4 * CHUNK)):
                assert opener.decrypt_range(source, begin, end - begin) == text[begin:end]
            with pytest.raises(ValueError, match="range"):
                opener.decrypt_range(source, len(text), 1)
    assert opener.update(sealed) + opener.finalize() == text
    for wrong in (sealed[:-1], sealed[: 56 + 16400], sealed + b"1", b"", decryptor):
        with pytest.raises(TypeError if wrong is decryptor else InvalidTag):
            opener.decrypt_range(wrong, 0, 1)

    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        opener.decrypt_range(Broken(sealed), 0, 1)


def test_cpu():
    """The best back end, or that of the environment; a name that means nothing here changes nothing."""
    available = fastgcm.cpu()["available"]
    program = "import fastgcm; print(fastgcm.cpu()['backend'], fastgcm.AESGCM(bytes(16)).encrypt(bytes(12), b'text', None).hex())"
    sealed = AESGCM(bytes(16)).encrypt(bytes(12), b"text", None).hex()
    for named in [None, *available, "nonsense", ""]:
        environment = {name: value for name, value in os.environ.items() if name != "FASTGCM_BACKEND"}
        environment |= {} if named is None else {"FASTGCM_BACKEND": named}
        found = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True).stdout.split()
        assert found == [named if named in available else available[0], sealed]
    assert available[-1] == "portable"


def test_the_version():
    assert fastgcm.__version__ == importlib.metadata.version("fastgcm")


def test_examples():
    finder, runner, attempted = doctest.DocTestFinder(), doctest.DocTestRunner(), 0
    for module in (fastgcm, hazmat, cobblestone):
        for name in set(module.__all__) - {"__version__"}:
            for test in finder.find(getattr(module, name), name, module=False):
                attempted += runner.run(test).attempted
    assert runner.failures == 0 and attempted >= 40


def test_stubs_name_everything():
    """What the stub has and what the module has is the same."""
    tree = ast.parse(pathlib.Path(_fastgcm.__file__).with_name("_fastgcm.pyi").read_text())
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != "Cpu":
            names[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} - {"__new__"}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = set()
    for name in names:
        thing = getattr(_fastgcm, name)
        members = {member for member in vars(thing) if not member.startswith("_")} if isinstance(thing, type) else set()
        assert members == names[name], name
    assert set(names) == {name for name in vars(_fastgcm) if not name.startswith("_")}
