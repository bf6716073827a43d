"""Keys that know when they are used up, and nonces in processes that fork."""

import os
import pickle
import subprocess
import sys
import threading

import pytest

from fastgcm import AESGCM, CounterNonces, Exhausted, InvalidTag, RandomNonces, SealingKey, XorNonces

KEY, IV = bytes(range(32)), bytes(range(100, 112))
LIMIT = 24_296_003_999 - 1  # the square root of 2^(129 - 60), less one


def in_child(work):
    """What `work` returns in a child of this process, or the text of the error that it raises there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = work()
        except BaseException as error:
            result = type(error), str(error)
        os.write(writing, pickle.dumps(result))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        result = pickle.loads(pipe.read())
    assert os.waitpid(child, 0)[1] == 0
    return result


@pytest.mark.parametrize("make", [lambda: CounterNonces(b"left"), lambda: XorNonces(IV), RandomNonces])
def test_what_is_sealed(make):
    sealing, plain, nonces = SealingKey(KEY, make()), AESGCM(KEY), set()
    for length in (*range(0, 70), 16_384, 40_000, 100_001):
        text, aad = os.urandom(length), os.urandom(length % 50) or None
        message, before = sealing.seal(bytearray(text), aad), sealing.blocks_left
        assert plain.decrypt(message[:12], message[12:], aad) == text == sealing.open(bytearray(message), aad)
        assert sealing.blocks_left == before
        nonces.add(message[:12])
        for at in (0, 11, 12, len(message) // 2, len(message) - 1):
            wrong = bytearray(message)
            wrong[at] ^= 1
            with pytest.raises(InvalidTag):
                sealing.open(wrong, aad)
        with pytest.raises(InvalidTag):
            sealing.open(message, b"another")
    assert len(nonces) == 73
    assert sealing.blocks_sealed == sum(-(-length // 16) + 1 for length in (*range(0, 70), 16_384, 40_000, 100_001))
    for short in range(28):
        with pytest.raises(InvalidTag):
            sealing.open(bytes(short))


def test_blocks_end():
    assert SealingKey(KEY, RandomNonces()).blocks_left == 398_065_729_532_859
    assert SealingKey(KEY, RandomNonces(), confidentiality=60).blocks_left == LIMIT
    assert SealingKey(KEY, RandomNonces(), confidentiality=60, sealers=10).blocks_left == LIMIT // 10
    nonces = CounterNonces(b"left")
    sealing = SealingKey(KEY, nonces, confidentiality=60, blocks=LIMIT - 10)
    assert (sealing.blocks_left, sealing.blocks_sealed) == (10, LIMIT - 10)
    sealing.seal(bytes(33))
    for length in (81, 96, 1 << 20):
        with pytest.raises(Exhausted):
            sealing.seal(bytes(length))
    assert (sealing.blocks_left, nonces.position) == (6, 1), "a refused message takes nothing"
    assert sealing.seal(bytes(80), b"aad" * 1000)[:12] == b"left" + (1).to_bytes(8, "big")
    with pytest.raises(Exhausted):
        sealing.seal(b"")
    ended = SealingKey(KEY, CounterNonces(b"eleven byte", 255))
    ended.seal(b"")
    with pytest.raises(Exhausted):
        ended.seal(b"")
    assert ended.blocks_sealed == 1, "nonces that end take no block"
    assert SealingKey(KEY, RandomNonces(), blocks=(1 << 64) - 1).blocks_left == 0
    for wrong in (AESGCM(KEY), b"n" * 12, None):
        with pytest.raises(TypeError):
            SealingKey(KEY, wrong)  # type: ignore[arg-type]
    for wrong in (15, 33):
        with pytest.raises(ValueError):
            SealingKey(bytes(wrong), RandomNonces())


def test_threads_take_each_block_once():
    sealing, sealed = SealingKey(KEY, XorNonces(IV), confidentiality=60, blocks=LIMIT - 1000), []

    def work():
        try:
            while True:
                sealed.append(sealing.seal(bytes(48))[:12])
        except Exhausted:
            pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sealed) == len(set(sealed)) == 250 and sealing.blocks_left == 0


def test_xored():
    nonces = XorNonces(IV, 5)
    expected = [bytes(a ^ b for a, b in zip(IV, number.to_bytes(12, "big"))) for number in (5, 6, 1 << 63, (1 << 64) - 2)]
    assert [nonces.draw(), nonces.draw_batch(1), XorNonces.at(IV, 1 << 63), XorNonces(IV, (1 << 64) - 2).draw()] == expected
    assert nonces.position == 7
    last = XorNonces(bytearray(IV), (1 << 64) - 3)
    with pytest.raises(Exhausted):
        last.draw_batch(3)
    assert last.draw_batch(2) and last.position is None and last.draw_batch(0) == b""
    for call in (last.draw, lambda: last.draw_batch(1), XorNonces(IV, (1 << 64) - 1).draw):
        with pytest.raises(Exhausted):
            call()
    for length in (0, 11, 13):
        for make in (XorNonces, lambda iv: XorNonces.at(iv, 0)):
            with pytest.raises(ValueError):
                make(bytes(length))


def test_a_child_is_told():
    told = (Exhausted, "This process was forked, and these nonces are its parent's.")
    for nonces in (CounterNonces(b"left"), XorNonces(IV)):
        sealing = SealingKey(KEY, nonces)
        sealing.seal(b"")
        for call in (nonces.draw, lambda: nonces.draw_batch(2), lambda: sealing.seal(b""), lambda: in_child(nonces.draw)):
            assert in_child(call) == told
        assert in_child(lambda: (sealing.open(AESGCM_MESSAGE), nonces.position)) == (b"text", 1), "the child opens, and is told the number"
        assert nonces.draw() and nonces.position == 2, "the parent goes on"
    sealing = SealingKey(KEY, RandomNonces())
    first = sealing.seal(b"")
    assert in_child(lambda: len({sealing.seal(b""), first})) == 2, "random nonces differ in each process"


AESGCM_MESSAGE = bytes(12) + AESGCM(KEY).encrypt(bytes(12), b"text", None)


def test_a_child_has_a_field_of_its_own():
    nonces = CounterNonces(b"left", 7)
    sealing = SealingKey(KEY, nonces)

    def child():
        drawn = []
        for fixed in (b"left", b"five.", b"", b"x" * 12):
            with pytest.raises(ValueError):
                nonces.after_fork(fixed)
            with pytest.raises(Exhausted):
                nonces.draw()
        nonces.after_fork(bytearray(b"kid1"))
        drawn += [nonces.draw(), sealing.seal(b"")[:12]]
        with pytest.raises(ValueError):
            nonces.after_fork(b"kid2")  # which would count from 0 once more, and back

        def grandchild():
            with pytest.raises(Exhausted):
                nonces.draw()
            nonces.after_fork(b"kid3")
            return nonces.draw()

        made = CounterNonces(b"born")
        return [*drawn, in_child(grandchild), made.draw(), nonces.draw()]

    fields = [(b"kid1", 0), (b"kid1", 1), (b"kid3", 0), (b"born", 0), (b"kid1", 2)]
    assert in_child(child) == [name + number.to_bytes(8, "big") for name, number in fields]
    with pytest.raises(ValueError):
        nonces.after_fork(b"kid1")
    assert nonces.draw() == b"left" + (7).to_bytes(8, "big")


FIRST = """
import os
def drawn():
    try:
        return nonces.draw()
    except Exhausted:
        return b"told"
os.register_at_fork(after_in_child=lambda: told.append(drawn()))  # before the package can say anything
told = []
from fastgcm import CounterNonces, Exhausted
nonces = CounterNonces(b"left")
for hidden in range(2):
    if os.fork() == 0:
        os._exit(told != [b"told"])
    assert os.wait()[1] == 0
"""


def test_a_hook_that_came_first():
    """A hook of the program runs in a child before those that later modules register. It is told nevertheless."""
    subprocess.run([sys.executable, "-c", FIRST], check=True, timeout=60)


def test_forks_of_other_code():
    """`fork` of the C library, which Python does not hear of."""
    ctypes = pytest.importorskip("ctypes")
    nonces = CounterNonces(b"left")
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        try:
            nonces.draw()
        except Exhausted:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0 and nonces.draw()
