"""Memory that another process changes while it is used: what comes out of an opening is what was sealed, and what comes out of a sealing opens.

A process turns one byte over and back, every few dozen nanoseconds, in memory that it shares with us. Without the copy that `Source::read` makes, these
tests fail where a back end reads a byte twice: `portable` and those of SSE do. So they run with `portable` too, which `FASTGCM_BACKEND` chooses.
"""

import mmap
import os
import random
import signal
import time
from contextlib import contextmanager

import pytest

from fastgcm import AESGCM, AESGCMSIV, XAES256GCM, InvalidTag, Sealer
from fastgcm.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from fastgcm.hazmat import CobblestoneChunks

KEY, NONCE, MIB = bytes(range(32)), b"n" * 12, 1 << 20
ONE, SIV, XAES = AESGCM(KEY), AESGCMSIV(KEY), XAES256GCM(KEY)
LONG, FOUR = b"a nonce of more than 12 bytes", bytes(range(48))


@contextmanager
def changing(content, at):
    """Memory with that content, of which another process turns over the byte at `at`, and back, until the end."""
    with mmap.mmap(-1, len(content)) as memory:
        memory[:] = content
        parent, child = os.getpid(), os.fork()
        if child == 0:
            before, after = memory[at], memory[at] ^ 0xFF
            while os.getppid() == parent:
                for _ in range(1000):
                    memory[at] = after
                    memory[at] = before
            os._exit(0)
        try:
            with memoryview(memory) as view:
                yield view
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def outcomes(content, at, call, rounds):
    """What comes of that many calls, at least; and of more, until two different things have come."""
    found, end = {}, time.monotonic() + 60
    with changing(content, at) as memory:
        while rounds > 0 or len(found) < 2:
            assert time.monotonic() < end, f"always the same: {found}"
            for _ in range(50 if len(content) < MIB else 1):
                try:
                    outcome = bytes(call(memory))
                except InvalidTag:
                    outcome = None
                found[outcome] = found.get(outcome, 0) + 1
                rounds -= 1
    return set(found)


def into(call, length):
    def to(memory):
        buf = bytearray(length)
        call(memory, buf)
        return bytes(buf)

    return to


def stream(cls, *arguments):
    def run(data):
        each = cls(*arguments)
        return each.update(data) + each.finalize()

    return run


def by_chunks(data, seal):
    chunks = CobblestoneChunks(KEY, b"", bytes(24))
    return chunks.seal(0, data, last=True) if seal else chunks.open(0, data, last=True)


def in_pieces(data):
    sealer = Sealer(ONE, NONCE)
    return sealer.update(data[:777]) + sealer.update(data[777:]) + sealer.finalize()


CALLS = {
    # name: (length of the text, what seals, what opens)
    "one": (1000, lambda text: ONE.encrypt(NONCE, text, None), lambda sealed: ONE.decrypt(NONCE, sealed, None)),
    "short": (7, lambda text: ONE.encrypt(NONCE, text, None), lambda sealed: ONE.decrypt(NONCE, sealed, None)),
    "another nonce": (1000, lambda text: ONE.encrypt(LONG, text, None), lambda sealed: ONE.decrypt(LONG, sealed, None)),
    "several pieces": (100_000, lambda text: ONE.encrypt(NONCE, text, None), lambda sealed: ONE.decrypt(NONCE, sealed, None)),
    "threads": (5 * MIB, lambda text: ONE.encrypt(NONCE, text, None, threads=2), lambda sealed: ONE.decrypt(NONCE, sealed, None, threads=2)),
    "into": (1000, into(lambda t, buf: ONE.encrypt_into(NONCE, t, None, buf), 1016), into(lambda s, buf: ONE.decrypt_into(NONCE, s, None, buf), 1000)),
    "list": (1000, lambda text: ONE.seal_batch([NONCE], [text])[0], lambda sealed: ONE.open_batch([NONCE], [sealed])[0]),
    "array": (4000, lambda text: ONE.seal_batch(FOUR, text), lambda sealed: ONE.open_batch(FOUR, sealed)),
    "siv": (1000, lambda text: SIV.encrypt(NONCE, text, None), lambda sealed: SIV.decrypt(NONCE, sealed, None)),
    "xaes": (1000, lambda text: XAES.encrypt(NONCE * 2, text, None), lambda sealed: XAES.decrypt(NONCE * 2, sealed, None)),
    "xaes list": (1000, lambda text: XAES.seal_batch([NONCE * 2], [text])[0], lambda sealed: XAES.open_batch([NONCE * 2], [sealed])[0]),
    "xaes array": (4000, lambda text: XAES.seal_batch(bytes(range(96)), text), lambda sealed: XAES.open_batch(bytes(range(96)), sealed)),
    "stream": (20_000, stream(Cobblestone256Encryptor, KEY, b""), stream(Cobblestone256Decryptor, KEY, b"")),
    "chunks": (20_000, lambda text: by_chunks(text, True), lambda sealed: by_chunks(sealed, False)),
    "pieces": (1000, in_pieces, lambda sealed: ONE.decrypt(NONCE, sealed, None)),
}


@pytest.mark.parametrize("name", CALLS)
def test_memory_that_changes_meanwhile(name):
    length, seal, opens = CALLS[name]
    draw = random.Random(name)
    text = draw.randbytes(length)
    rounds = 4000 if length < 10_000 else 1500 if length < 50_000 else 600 if length < MIB else 20
    for at in (length // 2, length - 1):
        for sealed in outcomes(text, at, seal, rounds):
            # It opens, to what the memory held. A byte at the end of a text may be read in two steps: then it is both of its values at once.
            opened = opens(sealed)
            assert opened[:at] == text[:at] and opened[at + 1 :] == text[at + 1 :]
    sealed = seal(text)
    for at in (len(sealed) // 2, len(sealed) - 1):
        assert outcomes(sealed, at, opens, rounds) == {text, None}


def test_a_nonce_that_changes_meanwhile():
    """One nonce, whichever it is, is that of the whole message: also of the parts that threads seal."""
    for nonce, text, threads in ((NONCE, bytes(100), 1), (LONG, bytes(100), 1), (LONG, bytes(5 * MIB), 2)):
        other = bytearray(nonce)
        other[0] ^= 0xFF
        expected = {ONE.encrypt(nonce, text, None), ONE.encrypt(other, text, None)}
        rounds = 4000 if threads == 1 else 20
        assert outcomes(nonce, 0, lambda memory: ONE.encrypt(memory, text, None, threads=threads), rounds) == expected


def test_a_nonce_of_xaes_that_changes_meanwhile():
    """What is opened is opened whole under one of both nonces."""
    sealed, other = XAES.seal_random(b"text"), bytearray(24)
    assert outcomes(sealed, 3, XAES.open_random, 4000) == {b"text", None}
    other[3] = 0xFF
    expected = {XAES.seal_batch(nonces, [b"text"])[0] for nonces in (bytes(24), other)}
    assert outcomes(bytes(24), 3, lambda memory: XAES.seal_batch(memory, [b"text"])[0], 4000) == expected


@pytest.mark.parametrize("nonce", [NONCE, LONG])
def test_a_nonce_where_the_output_goes(nonce):
    text = random.Random(0).randbytes(5 * MIB)
    for threads in (1, 2):
        memory = bytearray(nonce) + bytes(5 * MIB + 16 - len(nonce))
        ONE.encrypt_into(memoryview(memory)[: len(nonce)], text, None, memory, threads=threads)
        assert memory == ONE.encrypt(nonce, text, None)
