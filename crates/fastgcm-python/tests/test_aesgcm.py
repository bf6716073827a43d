"""`AESGCM` beside pyca/cryptography: answers, errors, and every kind of buffer."""

import array
import mmap
import os
import random
import threading

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Pyca

from fastgcm import AESGCM

NONCE = b"n" * 12
LENGTHS = [*range(300), 1000, 4095, 16384, 32767, 32768, 65535, 65536, 65552, 65553, 200_000, 1 << 20]


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_answers(bits):
    draw = random.Random(bits)
    key = AESGCM.generate_key(bit_length=bits)
    ours, theirs = AESGCM(key), Pyca(key)
    for length in LENGTHS:
        nonce = draw.randbytes(12 if length % 3 else draw.randrange(8, 129))
        data, aad = draw.randbytes(length), draw.randbytes(draw.randrange(40))
        sealed = theirs.encrypt(nonce, data, aad)
        assert ours.encrypt(nonce, data, aad) == sealed
        buffer = bytearray(length + 16)
        assert ours.encrypt_into(nonce, bytearray(data), bytearray(aad), buffer) == length + 16
        assert buffer == sealed
        for source in (sealed, buffer, memoryview(sealed)):
            text = bytearray(length)
            assert ours.decrypt(nonce, source, aad) == data
            assert ours.decrypt_into(nonce, source, aad, text) == length
            assert text == data
        # In place, as pyca's does it.
        both = bytearray(data) + bytes(16)
        view = memoryview(both)
        assert ours.encrypt_into(nonce, view[:length], aad, view) == length + 16
        assert both == sealed
        assert ours.decrypt_into(nonce, view, aad, view[:length]) == length
        assert both == data + sealed[length:]


class Endless:
    def __buffer__(self, flags):
        raise BufferError("no")


def calls(cls):
    """What is wrong, and how pyca says it."""
    aesgcm = cls(bytes(16))
    sealed = aesgcm.encrypt(NONCE, b"text", None)
    yield from ((cls, key) for key in (b"", bytes(15), bytes(17), bytes(33), "k" * 16, None, 16))
    yield from ((cls.generate_key, bits) for bits in (0, 127, 512, "128", None, 128.0, -1))
    for call, data in ((aesgcm.encrypt, b"text"), (aesgcm.decrypt, sealed)):
        yield from ((call, nonce, data, None) for nonce in (b"", bytes(7), bytes(129), "n" * 12, None))
        yield from ((call, NONCE, data, aad) for aad in ("aad", 3, [b"aad"]))
        yield from ((call, NONCE, data, None, None), (call, NONCE, data), (call,))
        yield from ((call, NONCE, what, None) for what in ("text", None, 4, Endless(), memoryview(sealed)[::2]))
    yield from ((aesgcm.decrypt, NONCE, sealed[:n], None) for n in (0, 15, 16, 19))
    for call, data, length in ((aesgcm.encrypt_into, b"text", 20), (aesgcm.decrypt_into, sealed, 4)):
        yield from ((call, NONCE, data, None, bytearray(n)) for n in (0, length - 1, length + 1))
        yield from ((call, NONCE, data, None, buf) for buf in (bytes(length), "x" * length, None, memoryview(bytearray(2 * length))[::2]))
        yield from ((call, bytes(7), data, None, bytearray(length)), (call, NONCE, data, None), (call, NONCE, "text", None, bytearray(length)))
    yield aesgcm.decrypt_into, NONCE, bytes(3), None, bytearray(0)


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return type(error), str(error)


def test_errors_are_pycas():
    ours, theirs = list(calls(AESGCM)), list(calls(Pyca))
    for mine, other in zip(ours, theirs, strict=True):
        assert outcome(*mine) == outcome(*other), mine[1:]
    assert len(ours) > 60


def test_keywords_are_pycas():
    for cls in (AESGCM, Pyca):
        aesgcm = cls(key=bytes(16))
        sealed = aesgcm.encrypt(associated_data=None, nonce=NONCE, data=b"text")
        buf = bytearray(20)
        aesgcm.encrypt_into(buf=buf, associated_data=b"", nonce=NONCE, data=b"text")
        assert buf == sealed
        assert aesgcm.decrypt(nonce=NONCE, data=sealed, associated_data=None) == b"text"
        with pytest.raises(TypeError):
            type("Sub", (cls,), {})


def test_any_buffer():
    ours, text = AESGCM(bytes(32)), os.urandom(4096)
    sealed = ours.encrypt(NONCE, text, None)
    with mmap.mmap(-1, 4096) as memory:
        memory[:] = text
        assert ours.encrypt(NONCE, memory, None) == sealed
    assert ours.encrypt(NONCE, array.array("d", text), None) == sealed
    assert ours.encrypt(NONCE, memoryview(text).cast("B", (64, 64)), None) == sealed
    out = array.array("Q", bytes(4112))
    assert ours.encrypt_into(NONCE, text, None, out) == 4112
    assert out.tobytes() == sealed


def test_overlap_is_refused():
    ours = AESGCM(bytes(32))
    for distance in (1, 15, 16, 100, 999):
        memory = bytearray(os.urandom(3000))
        before, view = bytes(memory), memoryview(memory)
        for call, data, buf in ((ours.encrypt_into, 1000, 1016), (ours.decrypt_into, 1016, 1000)):
            for first, second in ((0, distance), (distance, 0)):
                with pytest.raises(ValueError, match="overlap"):
                    call(NONCE, view[first : first + data], None, view[second : second + buf])
        assert memory == before


def test_associated_data_where_the_output_goes():
    ours = AESGCM(bytes(32))
    memory = bytearray(os.urandom(1016))
    aad, text = bytes(memory[500:600]), os.urandom(1000)
    nonce = bytes(memory[:12])
    ours.encrypt_into(memoryview(memory)[:12], text, memoryview(memory)[500:600], memory)
    assert memory == ours.encrypt(nonce, text, aad)


def test_a_buffer_in_use_keeps_its_length():
    ours, sealed = AESGCM(bytes(32)), bytearray(1 << 24)
    done = threading.Event()

    def work():
        for _ in range(5):
            ours.encrypt(NONCE, sealed, None)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    refused = 0
    while not done.is_set():
        try:
            sealed.append(0)
            sealed.pop()
        except BufferError:
            refused += 1
    worker.join()
    assert refused > 0


def test_many_threads():
    ours = AESGCM(bytes(32))
    expected = {n: ours.encrypt(NONCE, bytes(n), None) for n in (10, 5000, 100_000)}
    wrong = []

    def work():
        for _ in range(200):
            wrong.extend(n for n, sealed in expected.items() if ours.encrypt(NONCE, bytes(n), None) != sealed)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
