"""What comes beyond 2^32 bytes, blocks, chunks and messages: the answers, and not only that there are some. pyca/cryptography (OpenSSL) is the referee."""

import itertools

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as PycaGcm
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from fastgcm import AESGCM, CounterNonces, Exhausted, RandomNonces, Sealer, hazmat
from fastgcm.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from fastgcm.hazmat import CobblestoneChunks, PartHash, Plan, UnverifiedOpener

KEY, NONCE, CHUNK, TAG = bytes(range(32)), b"n" * 12, 16384, 16
ONE, FAR, PIECE = AESGCM(KEY), 1 << 32, 64 << 20


def test_one_message_of_more_than_4_gib():
    """In pieces and in parts, beside OpenSSL: each byte, and the tag."""
    theirs = Cipher(algorithms.AES(KEY), modes.GCM(NONCE)).encryptor()
    theirs.authenticate_additional_data(b"aad")
    sealer, opener = Sealer(ONE, NONCE), UnverifiedOpener(ONE, NONCE)
    for each in (sealer, opener):
        each.update_aad(b"aad")
    parts, ours, expected, again = [], bytearray(PIECE), bytearray(PIECE + TAG), bytearray(PIECE)
    text = bytes(PIECE)
    for at in range(0, FAR + PIECE, PIECE):
        length = PIECE if at < FAR else 1_000_005
        theirs.update_into(memoryview(text)[:length], expected)
        right = memoryview(expected)[:length]
        sealer.update_into(memoryview(text)[:length], ours)
        assert memoryview(ours)[:length] == right, f"the sealer, from {at} on"
        if at < 2 * PIECE or at >= FAR - PIECE:  # the others are hashed only, which is twice as fast
            part = hazmat.seal_part_into(ONE, NONCE, at, memoryview(text)[:length], memoryview(ours)[:length])
            assert memoryview(ours)[:length] == right, f"a part, from {at} on"
            opener.update_into(right, again)
            assert memoryview(again)[:length] == memoryview(text)[:length]
            opened = hazmat.open_part_into(ONE, NONCE, at, right, memoryview(again)[:length])
            assert memoryview(again)[:length] == memoryview(text)[:length] and opened.to_bytes() == part.to_bytes()
        else:
            part = hazmat.hash_part(ONE, at, right)
            opener.update_into(right, again)
        assert (part.offset, part.length) == (at, length)
        parts.append(PartHash.from_bytes(part.to_bytes()))
    theirs.finalize()
    tag = sealer.finalize()
    assert tag == theirs.tag == hazmat.combine(ONE, NONCE, b"aad", parts)
    opener.verify(tag)
    plan = Plan(NONCE, FAR + 1_000_005, PIECE)
    assert plan.parts() == plan.missing() == [(part.offset, part.offset + part.length) for part in parts]
    for part in reversed(parts):
        plan.accept(part)
    assert plan.tag(ONE, b"aad") == tag


@pytest.mark.parametrize("block", [FAR // 16 - 1, FAR // 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 4])
def test_a_part_far_away(block):
    """Its text under CTR, with the counter that OpenSSL has there: up to the last block of a message."""
    text = bytes(range(30))
    theirs = Cipher(algorithms.AES(KEY), modes.CTR(NONCE + (block + 2).to_bytes(4, "big"))).encryptor().update(text)
    sealed, part = hazmat.seal_part(ONE, NONCE, 16 * block, text)
    assert sealed == theirs and (part.offset, part.length) == (16 * block, 30)
    assert hazmat.open_part(ONE, NONCE, 16 * block, theirs)[0] == text
    assert hazmat.hash_part(ONE, 16 * block, theirs).to_bytes() == part.to_bytes()


def test_nonces_carry():
    """Whatever the length of the fixed field: over each byte of the number, in one call and in several, up to the last one."""
    for fixed in range(4, 12):
        size, name = 12 - fixed, b"x" * fixed
        expected = lambda numbers: b"".join(name + number.to_bytes(size, "big") for number in numbers)  # noqa: E731
        for bits in range(8, 8 * size, 8):
            start = (1 << bits) - 2
            nonces = CounterNonces(name, start)
            assert nonces.draw_batch(5) == expected(range(start, start + 5)) and nonces.position == start + 5
            assert nonces.draw() == expected([start + 5])
        last = (1 << 8 * size) - 1
        nonces = CounterNonces(name, last - 2)
        # More than there are: none is drawn.
        for count in (4, 5, 1 << 31, 1 << 32, (1 << 64) - 1):
            with pytest.raises(Exhausted):
                nonces.draw_batch(count)
            assert nonces.position == last - 2
        assert nonces.draw_batch(3) == expected([last - 2, last - 1, last]) and nonces.position is None
        assert nonces.draw_batch(0) == b""
    drawn = RandomNonces((1 << 32) - 2)
    for count in (3, 1 << 32, (1 << 64) - 1):
        with pytest.raises(Exhausted):
            drawn.draw_batch(count)
        assert drawn.used == (1 << 32) - 2
    assert len(drawn.draw_batch(2)) == 24 and drawn.used == 1 << 32
    # And what they seal, a message each, is what OpenSSL seals.
    nonces = CounterNonces(b"left", (1 << 32) - 2).draw_batch(5)
    each = [nonces[at : at + 12] for at in range(0, 60, 12)]
    assert ONE.seal_batch(nonces, [b"text"] * 5) == [PycaGcm(KEY).encrypt(nonce, b"text", None) for nonce in each]


def test_a_stream_of_more_than_4_gib():
    """Its chunks are those that are sealed by number, and it opens."""
    sealer, opener, text = Cobblestone256Encryptor(KEY, b""), Cobblestone256Decryptor(KEY, b""), bytes(PIECE)
    sealed, opened = bytearray(PIECE // CHUNK * (CHUNK + TAG) + 56), bytearray(PIECE)
    for piece in range(FAR // PIECE + 1):
        length = sealer.update_into(text, sealed)
        if piece == 0:
            chunks = CobblestoneChunks(KEY, b"", bytes(sealed[:24]))
        assert opener.update_into(memoryview(sealed)[:length], opened) == PIECE and opened == text
        if piece in (0, 1) or piece >= FAR // PIECE - 1:
            assert chunks.seal(piece * PIECE // CHUNK, text, last=False) == memoryview(sealed)[56 if piece == 0 else 0 : length]
    end = sealer.update(b"end") + sealer.finalize()
    assert end == chunks.seal((FAR + PIECE) // CHUNK, b"end", last=True)
    assert opener.update(end) + opener.finalize() == b"end"


class Sparse:
    """A sealed file of zeros of which some chunks are there, and which is as long as it says."""

    def __init__(self, chunks, texts):
        self.parts = {0: chunks.header} | {56 + number * (CHUNK + TAG): chunks.seal(number, text, last=number == max(texts)) for number, text in texts.items()}
        self.length = max(start + len(part) for start, part in self.parts.items())
        self.at = 0

    def seek(self, to, whence=0):
        self.at = to + (0, self.at, self.length)[whence]
        return self.at

    def read(self, size):
        start = max(start for start in self.parts if start <= self.at)
        found = self.parts[start][self.at - start : self.at - start + size]
        self.at += len(found)
        return found


@pytest.mark.parametrize("first", [FAR // CHUNK - 1, FAR - 2, FAR - 1, FAR, FAR + 1, (1 << 38) - 3])
def test_ranges_and_chunks_far_away(first):
    """Beyond 2^32 bytes, and beyond 2^32 chunks: with a nonce that is worked out here. The format's last chunk has the number 2^38 - 1."""
    chunks = CobblestoneChunks(KEY, b"", b"s" * 24)
    texts = {first: bytes([1]) * CHUNK, first + 1: bytes([2]) * CHUNK, first + 2: b"the end"}
    # RFC 5869 and C2SP's chunked encryption: a key, and a nonce which is XORed with the number of the chunk.
    label = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0" + b"s" * 24
    derived = HKDFExpand(SHA512(), 32 + 12 + 32, label).derive(KEY)
    nonce = (int.from_bytes(derived[32:44], "big") ^ first).to_bytes(12, "big")
    assert chunks.seal(first, texts[first], last=False) == PycaGcm(derived[:32]).encrypt(nonce, texts[first], None)
    both = chunks.seal(first, texts[first] + texts[first + 1], last=False)
    assert both == chunks.seal(first, texts[first], last=False) + chunks.seal(first + 1, texts[first + 1], last=False)
    assert chunks.open(first, both, last=False) == texts[first] + texts[first + 1]
    opener, file = Cobblestone256Decryptor(KEY, b""), Sparse(chunks, texts)
    for offset, length in itertools.product((0, CHUNK - 3, 2 * CHUNK - 3), (0, 1, 5)):
        expected = b"".join(texts.values())[offset : offset + length]
        assert opener.decrypt_range(file, first * CHUNK + offset, length) == expected
    with pytest.raises(ValueError):
        opener.decrypt_range(file, (first + 2) * CHUNK + 3, 5)
