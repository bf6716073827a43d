"""`AESGCM` beside pyca/cryptography: answers, and every kind of buffer."""

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
