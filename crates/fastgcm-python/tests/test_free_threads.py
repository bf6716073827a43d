"""Objects that threads share, with or without a GIL. pyca/cryptography is not needed: it has no wheel for some interpreters without a GIL."""

import io
import os
import subprocess
import sys
import threading

import pytest

import fastgcm
from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, CounterNonces, InvalidTag, RandomNonces, Sealer
from fastgcm.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from fastgcm.hazmat import Plan, UnverifiedOpener, seal_part

THREADS, MIB = 8, 1 << 20
KEY, NONCE = bytes(range(32)), b"n" * 12


def together(work):
    """Runs `work(number)` in threads that begin at once, and returns what each returned. Whatever one raises, this raises."""
    barrier, results, errors = threading.Barrier(THREADS), [None] * THREADS, []

    def run(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(THREADS)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the interpreter goes to another thread as often as it can
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive(), "two threads wait for each other"
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]
    return results


def test_the_gil_stays_off():
    """Importing the package does not turn the GIL on again. FASTGCM_NO_GIL says that there must be none."""
    assert fastgcm.cpu()
    assert getattr(sys, "_is_gil_enabled", lambda: True)() == ("FASTGCM_NO_GIL" not in os.environ)


@pytest.mark.parametrize(
    "cls, nonce",
    [(AESGCM, NONCE), (AESGCM, b"n" * 20), (AESGCMSIV, NONCE), (XAES256GCM, NONCE * 2), (KCXAES256GCM, NONCE * 2)],
)
def test_one_key(cls, nonce):
    one, texts = cls(KEY), [os.urandom(n) for n in (0, 1, 64, 1000, 40_000, 100_000)]
    sealed = [one.encrypt(nonce, text, b"aad") for text in texts]

    def work(number):
        for at in range(300):
            at = (at + number) % len(texts)
            buf = bytearray(len(sealed[at]))
            one.encrypt_into(nonce, texts[at], b"aad", buf)
            assert one.encrypt(nonce, texts[at], b"aad") == sealed[at] == buf
            assert one.decrypt(nonce, sealed[at], b"aad") == one.decrypt(nonce, buf, b"aad") == texts[at]
            with pytest.raises(InvalidTag):
                one.decrypt(nonce, sealed[at], b"other")

    together(work)


def test_pools_of_threads():
    """Threads that ask for the same pools, which nobody has made yet."""
    one, text = AESGCM(KEY), os.urandom(5 * MIB)
    sealed = one.encrypt(NONCE, text, None)
    together(lambda number: [one.encrypt(NONCE, text, None, threads=2 + at) == sealed or pytest.fail("other bytes") for at in range(4)])
    records = bytes(64 * 20_000)
    nonces = CounterNonces(b"left").draw_batch(20_000)
    assert len(set(together(lambda number: one.seal_batch(nonces, records, threads=3)))) == 1


@pytest.mark.parametrize("make", [lambda: CounterNonces(b"eight by"), RandomNonces])
def test_no_nonce_comes_twice(make):
    nonces = make()

    def work(number):
        return b"".join(nonces.draw() if at % 2 else nonces.draw_batch(3) for at in range(2000))

    drawn = b"".join(together(work))
    assert len({drawn[at : at + 12] for at in range(0, len(drawn), 12)}) == len(drawn) // 12 == THREADS * 4000


FIRST = """
import sys, threading
from fastgcm import CounterNonces, Exhausted
sys.setswitchinterval(1e-6)
nonces, barrier, drawn = CounterNonces(b"eleven byte", 200), threading.Barrier(8), []
def work():
    barrier.wait()
    try:
        while True:
            drawn.append(nonces.draw()[-1])
    except Exhausted:
        pass
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*drawn)
"""


def test_the_last_nonces():
    """The first error of a process, for which Python looks up its class, is not made while others wait for the counter: they would wait for ever."""
    for _ in range(20):
        ran = subprocess.run([sys.executable, "-c", FIRST], check=True, timeout=60, capture_output=True, text=True)
        assert sorted(map(int, ran.stdout.split())) == [*range(200, 256)]


def test_a_plan_of_many_workers():
    one, text = AESGCM(KEY), os.urandom(100_000)
    plan = Plan(NONCE, len(text), 16)
    parts = plan.missing()

    def work(number):
        sealed = {}
        for begin, end in parts[number::2]:  # each part by several workers
            sealed[begin], part = seal_part(one, NONCE, begin, text[begin:end])
            plan.accept(part)
        return sealed

    sealed = {}
    for each in together(work):
        sealed |= each
    assert plan.missing() == []
    assert b"".join(sealed[begin] for begin, _ in parts) + plan.tag(one, None) == one.encrypt(NONCE, text, None)


@pytest.mark.parametrize("length", [37, 50_000, MIB])
def test_a_message_is_for_one_thread_at_a_time(length):
    """A thread waits for the other, whatever the length: each piece happens once and whole. Pieces of equal bytes add up whatever their order."""
    one, piece, rounds = AESGCM(KEY), bytes(length), 20
    text = bytes(THREADS * rounds * length)
    sealer, sealed = Sealer(one, NONCE), one.encrypt(NONCE, text, None)
    pieces = sum(together(lambda number: [sealer.update(piece) for _ in range(rounds)]), [])
    assert sorted(pieces) == sorted(sealed[at : at + length] for at in range(0, len(text), length)) and sealer.finalize() == sealed[-16:]
    opener = UnverifiedOpener(one, NONCE)
    together(lambda number: [opener.update_into(piece, bytearray(length)) for _ in range(rounds)])
    with pytest.raises(InvalidTag):
        opener.verify(bytes(16))

    stream = Cobblestone256Encryptor(KEY, b"")
    begin = stream.update(b"")
    count = sum(sum(together(lambda number: [len(stream.update(piece)) for _ in range(rounds)]), []))
    end = stream.finalize()
    assert len(begin) + count + len(end) == 56 + len(text) + 16 * (len(text) // 16384 + 1)
    # One thread opens, and the others ask in the middle of it.
    opener, sealed = Cobblestone256Decryptor(KEY, b""), sealed_whole(text[: 4 * MIB])
    works = [lambda: len(opener.update(sealed) + opener.finalize()), *[lambda: sum(len(opener.update(b"")) for _ in range(rounds))] * (THREADS - 1)]
    try:
        together(lambda number: works[number]())
    except fastgcm.AlreadyFinalized:
        pass


def sealed_whole(text):
    stream = Cobblestone256Encryptor(KEY, b"")
    return stream.update(text) + stream.finalize()


def test_a_file_that_uses_the_object_that_reads_it():
    opener, sealed = Cobblestone256Decryptor(KEY, b""), io.BytesIO(sealed_whole(bytes(50_000)))

    class File:
        def seek(self, *where):
            return sealed.seek(*where)

        def read(self, size):
            opener.update(b"")
            return sealed.read(size)

    assert opener.decrypt_range(File(), 20_000, 5) == bytes(5)


def test_the_last_call_of_a_message_is_of_one_thread():
    for make in (lambda: Sealer(AESGCM(KEY), NONCE), lambda: Cobblestone256Encryptor(KEY, b"")):
        one = make()
        one.update(b"text")

        def ends(number):
            try:
                return one.finalize()
            except fastgcm.AlreadyFinalized:
                return None

        assert sum(ended is not None for ended in together(ends)) == 1


def test_buffers_in_use_keep_their_length():
    """What another thread does to a `bytearray` or to a list meanwhile is an error of that thread, or comes too late."""
    one, stop = AESGCM(KEY), threading.Event()
    data, datas = bytearray(100_000), [bytearray(100) for _ in range(500)]
    nonces = CounterNonces(b"left").draw_batch(500)

    def work(number):
        if number == 0:
            for _ in range(200):
                assert len(one.encrypt(NONCE, data, None)) >= 100_016
                try:
                    assert len(one.seal_batch(nonces, datas)) == 500
                except ValueError as error:
                    assert "500 nonces" in str(error)
            stop.set()
        while number == 1 and not stop.is_set():
            try:
                data.append(0)
                data.pop()
            except (BufferError, IndexError):
                pass
        while number == 2 and not stop.is_set():
            datas.append(datas.pop(0))
            datas[0] = bytearray(100)
            try:
                datas[7].extend(b"1234")
                del datas[7][100:]
            except BufferError:
                pass

    together(work)


def test_a_range_of_one_file_by_many():
    stream, text = Cobblestone256Encryptor(KEY, b""), os.urandom(300_000)
    sealed = stream.update(text) + stream.finalize()
    opener = Cobblestone256Decryptor(KEY, b"")

    def work(number):
        for at in range(100):
            begin = (at * 7919 + number * 104_729) % 290_000
            assert opener.decrypt_range(sealed, begin, 5000) == text[begin : begin + 5000]

    together(work)
