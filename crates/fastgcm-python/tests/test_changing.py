"""Memory that another process changes while it is used: what comes out of an opening is what was sealed, and what comes out of a sealing opens.

A process turns one byte over and back, every few dozen nanoseconds, in memory that it shares with us. Without the copy that `Source::read` makes, these
tests fail where a back end reads a byte twice: `portable` and those of SSE do. So they run with `portable` too, which `FASTGCM_BACKEND` chooses.
"""

import mmap
import os
import random
import re
import signal
import tempfile
import time
from contextlib import contextmanager

import pytest
from calls import exported

from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, CounterNonces, InvalidTag, Sealer, SealingKey, hazmat, jobs, open_file, seal_file
from fastgcm.cobblestone import Cobblestone128Decryptor, Cobblestone128Encryptor, Cobblestone256Decryptor, Cobblestone256Encryptor
from fastgcm.hazmat import CobblestoneChunks

KEY, NONCE, MIB = bytes(range(32)), b"n" * 12, 1 << 20
ONE, SIV, XAES, KC_XAES = AESGCM(KEY), AESGCMSIV(KEY), XAES256GCM(KEY), KCXAES256GCM(KEY)
LONG, FOUR, FOUR_LONG = b"a nonce of more than 12 bytes", bytes(range(48)), bytes(range(96))


class Shared(mmap.mmap):
    """Memory that is a file, too."""

    path: str


@contextmanager
def changing(content, at):
    """Memory with that content, of which another process turns over the byte at `at`, and back, until the end."""
    file = os.memfd_create("changing")
    os.write(file, content)
    with open(file, "rb", buffering=0), Shared(file, len(content)) as memory:
        memory.path = f"/proc/self/fd/{file}"
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


def with_tag(text, parts, tag):
    """A text that parts have, as whoever uses parts verifies it."""
    if hazmat.combine(ONE, NONCE, None, parts) != bytes(tag):
        raise InvalidTag
    return text


def part_into(data):
    buf = bytearray(len(data) - 16)
    return with_tag(buf, [hazmat.open_part_into(ONE, NONCE, 0, data[:-16], buf)], data[-16:])


def part(data):
    text, part = hazmat.open_part(ONE, NONCE, 0, data[:-16])
    return with_tag(text, [part], data[-16:])


def unverified(data):
    opener = hazmat.UnverifiedOpener(ONE, NONCE)
    text = opener.update(data[:777]) + opener.update(data[777:-16])
    opener.verify(data[-16:])
    return text


def unverified_into(data):
    opener, buf = hazmat.UnverifiedOpener(ONE, NONCE), bytearray(len(data) - 16)
    opener.update_into(data[:-16], buf)
    opener.verify(data[-16:])
    return buf


def stream_into(cls, *arguments):
    def run(data):
        each, buf = cls(*arguments), bytearray(len(data) + 100)
        return bytes(buf[: each.update_into(data, buf)]) + each.finalize()

    return run


def with_files(work):
    """What goes from a file to a file. Memory that changes is a file, too."""

    def run(data):
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            source, target = getattr(getattr(data, "obj", None), "path", None), os.path.join(folder, "target")
            if source is None:
                source = os.path.join(folder, "source")
                with open(source, "wb") as file:
                    file.write(data)
            try:
                work(source, target)
            except InvalidTag:
                assert os.listdir(folder) in ([], ["source"]), "text that was refused is left"
                raise
            with open(target, "rb") as file:
                return file.read()

    return run


def by_job(kind):
    def work(source, target):
        job = kind.begin(jobs.FunctionKey("calls:key"), source, target)
        try:
            job.finish([job.run(index) for index in range(job.parts)])
        except BaseException:
            job.abandon()
            raise

    return with_files(work)


def in_pieces(data):
    sealer = Sealer(ONE, NONCE)
    return sealer.update(data[:777]) + sealer.update(data[777:]) + sealer.finalize()


def derived(name, ours, tag):
    """Rows of a class whose nonces have 24 bytes."""
    nonce = NONCE * 2
    return {
        name: (1000, lambda text: ours.encrypt(nonce, text, None), lambda sealed: ours.decrypt(nonce, sealed, None)),
        f"{name} list": (1000, lambda text: ours.seal_batch([nonce], [text])[0], lambda sealed: ours.open_batch([nonce], [sealed])[0]),
        f"{name} array": (4000, lambda text: ours.seal_batch(FOUR_LONG, text), lambda sealed: ours.open_batch(FOUR_LONG, sealed)),
        f"{name} into": (
            1000,
            into(lambda t, buf: ours.encrypt_into(nonce, t, None, buf), 1000 + tag),
            into(lambda s, buf: ours.decrypt_into(nonce, s, None, buf), 1000),
        ),
        f"{name} random": (1000, ours.seal_random, ours.open_random),
        f"{name} array into": (
            4000,
            into(lambda t, buf: ours.seal_batch_into(FOUR_LONG, t, None, buf), 4000 + 4 * tag),
            into(lambda s, buf: ours.open_batch_into(FOUR_LONG, s, None, buf), 4000),
        ),
    }


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
    "sealing": (1000, lambda text: SealingKey(KEY, CounterNonces(b"left")).seal(text), SealingKey(KEY, CounterNonces(b"left")).open),
    "stream": (20_000, stream(Cobblestone256Encryptor, KEY, b""), stream(Cobblestone256Decryptor, KEY, b"")),
    "siv into": (1000, into(lambda t, buf: SIV.encrypt_into(NONCE, t, None, buf), 1016), into(lambda s, buf: SIV.decrypt_into(NONCE, s, None, buf), 1000)),
    "array into": (
        4000,
        into(lambda t, buf: ONE.seal_batch_into(FOUR, t, None, buf), 4064),
        into(lambda s, buf: ONE.open_batch_into(FOUR, s, None, buf), 4000),
    ),
    "array, threads": (4 * MIB, lambda text: ONE.seal_batch(FOUR, text, threads=2), lambda sealed: ONE.open_batch(FOUR, sealed, threads=2)),
    "stream 128": (20_000, stream(Cobblestone128Encryptor, KEY[:16], b""), stream(Cobblestone128Decryptor, KEY[:16], b"")),
    "stream into": (20_000, stream_into(Cobblestone256Encryptor, KEY, b""), stream_into(Cobblestone256Decryptor, KEY, b"")),
    "stream 128 into": (20_000, stream_into(Cobblestone128Encryptor, KEY[:16], b""), stream_into(Cobblestone128Decryptor, KEY[:16], b"")),
    "range": (20_000, stream(Cobblestone256Encryptor, KEY, b""), lambda file: Cobblestone256Decryptor(KEY, b"").decrypt_range(file, 0, 20_000)),
    "range 128": (
        20_000,
        stream(Cobblestone128Encryptor, KEY[:16], b""),
        lambda file: Cobblestone128Decryptor(KEY[:16], b"").decrypt_range(file, 0, 20_000),
    ),
    "part": (1000, lambda text: ONE.encrypt(NONCE, text, None), part),
    "part into": (1000, lambda text: ONE.encrypt(NONCE, text, None), part_into),
    "long part": (MIB, lambda text: ONE.encrypt(NONCE, text, None), part),
    "unverified": (1000, lambda text: ONE.encrypt(NONCE, text, None), unverified),
    "unverified into": (1000, lambda text: ONE.encrypt(NONCE, text, None), unverified_into),
    "file": (60_000, with_files(lambda *names: seal_file(KEY, *names)), with_files(lambda *names: open_file(KEY, *names))),
    "job": (60_000, by_job(jobs.Sealing), by_job(jobs.Opening)),
    "chunks": (20_000, lambda text: by_chunks(text, True), lambda sealed: by_chunks(sealed, False)),
    "pieces": (1000, in_pieces, lambda sealed: ONE.decrypt(NONCE, sealed, None)),
    **derived("xaes", XAES, 16),
    **derived("kc-xaes", KC_XAES, 48),
}


# Every function that opens, and a row of `CALLS` that has it.
OPENS = {
    "AESGCM.decrypt": "one",
    "AESGCM.decrypt_into": "into",
    "AESGCM.open_batch": "list",
    "AESGCM.open_batch_into": "array into",
    "SealingKey.open": "sealing",
    "AESGCMSIV.decrypt": "siv",
    "AESGCMSIV.decrypt_into": "siv into",
    "XAES256GCM.decrypt": "xaes",
    "XAES256GCM.decrypt_into": "xaes into",
    "XAES256GCM.open_random": "xaes random",
    "XAES256GCM.open_batch": "xaes list",
    "XAES256GCM.open_batch_into": "xaes array into",
    "KCXAES256GCM.decrypt": "kc-xaes",
    "KCXAES256GCM.decrypt_into": "kc-xaes into",
    "KCXAES256GCM.open_random": "kc-xaes random",
    "KCXAES256GCM.open_batch": "kc-xaes list",
    "KCXAES256GCM.open_batch_into": "kc-xaes array into",
    "open_part": "part",
    "open_part_into": "part into",
    "hazmat.UnverifiedOpener.update": "unverified",
    "hazmat.UnverifiedOpener.update_into": "unverified into",
    "hazmat.CobblestoneChunks.open": "chunks",
    "cobblestone.Cobblestone128Decryptor.update": "stream 128",
    "cobblestone.Cobblestone128Decryptor.update_into": "stream 128 into",
    "cobblestone.Cobblestone128Decryptor.decrypt_range": "range 128",
    "cobblestone.Cobblestone256Decryptor.update": "stream",
    "cobblestone.Cobblestone256Decryptor.update_into": "stream into",
    "cobblestone.Cobblestone256Decryptor.decrypt_range": "range",
    "files.open_file": "file",
    "jobs.Opening.run": "job",
}


def test_every_function_that_opens_is_here():
    named = re.compile(r"\b(decrypt|open)(_|$)|(Decryptor|Opener)\.update|Opening\.run")
    # (`update_aad` takes what is hashed only.)
    assert {name for name in exported() if named.search(name) and not name.endswith("_aad")} == set(OPENS) and set(OPENS.values()) <= set(CALLS)


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


@pytest.mark.parametrize("ours", [XAES, KC_XAES], ids=lambda ours: type(ours).__name__)
def test_a_nonce_of_xaes_that_changes_meanwhile(ours):
    """What is opened is opened whole under one of both nonces."""
    sealed, other = ours.seal_random(b"text"), bytearray(24)
    assert outcomes(sealed, 3, ours.open_random, 4000) == {b"text", None}
    other[3] = 0xFF
    expected = {ours.seal_batch(nonces, [b"text"])[0] for nonces in (bytes(24), other)}
    assert outcomes(bytes(24), 3, lambda memory: ours.seal_batch(memory, [b"text"])[0], 4000) == expected


@pytest.mark.parametrize("nonce", [NONCE, LONG])
def test_a_nonce_where_the_output_goes(nonce):
    text = random.Random(0).randbytes(5 * MIB)
    for threads in (1, 2):
        memory = bytearray(nonce) + bytes(5 * MIB + 16 - len(nonce))
        ONE.encrypt_into(memoryview(memory)[: len(nonce)], text, None, memory, threads=threads)
        assert memory == ONE.encrypt(nonce, text, None)
