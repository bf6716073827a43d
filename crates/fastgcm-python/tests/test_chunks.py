"""Ranges of chunks that are sealed apart make one file, which pyca/cryptography opens."""

import os

import pytest
from cryptography import cobblestone
from cryptography.exceptions import InvalidTag

from fastgcm.hazmat import CobblestoneChunks

CHUNK = 16384
PYCA = {16: cobblestone.Cobblestone128Decryptor, 32: cobblestone.Cobblestone256Decryptor}


@pytest.mark.parametrize("key_len", [16, 32])
@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * CHUNK + 7])
def test_ranges_make_a_file(key_len, length):
    key, salt, text = os.urandom(key_len), CobblestoneChunks.generate_salt(), os.urandom(length)
    for workers in (1, 2, 3):
        step = max(1, -(-(length // CHUNK + 1) // workers))
        parts = []
        for first in range(0, length // CHUNK + 1, step):
            chunks = CobblestoneChunks(key, b"context", salt)  # as on another machine
            last = (first + step) * CHUNK > length
            data = text[first * CHUNK : (first + step) * CHUNK]
            sealed = chunks.seal(first, data, last=last)
            for source in (sealed, bytearray(sealed)):
                assert chunks.open(first, source, last=last) == data
            parts.append(sealed)
            for at in (0, len(sealed) - 1):
                wrong = bytearray(sealed)
                wrong[at] ^= 1
                with pytest.raises(InvalidTag):
                    chunks.open(first, wrong, last=last)
            with pytest.raises(InvalidTag):
                chunks.open(first + 1, sealed, last=last)
        file = chunks.header + b"".join(parts)
        opener = PYCA[key_len](key, b"context")
        assert opener.update(file) + opener.finalize() == text


def test_what_is_refused():
    chunks = CobblestoneChunks(bytes(32), b"", bytes(24))
    for data in (b"1", bytes(CHUNK - 1), bytes(CHUNK + 1)):
        with pytest.raises(ValueError, match="only the last range"):
            chunks.seal(0, data, last=False)
    assert chunks.seal(0, b"", last=False) == b""
    assert len(chunks.seal((1 << 38) - 1, b"", last=True)) == 16
    for first, data, last in (((1 << 38), b"", True), ((1 << 38) - 1, bytes(CHUNK), True), ((1 << 64) - 1, bytes(CHUNK), False)):
        with pytest.raises(ValueError, match="maximum"):
            chunks.seal(first, data, last=last)
    for sealed, last in ((b"", True), (bytes(15), True), (bytes(16), False), (bytes(CHUNK + 16), True)):
        with pytest.raises(InvalidTag):
            chunks.open(0, sealed, last=last)
    for key, salt in ((bytes(24), bytes(24)), (bytes(32), bytes(23)), (b"", bytes(24))):
        with pytest.raises(ValueError):
            CobblestoneChunks(key, b"", salt)

