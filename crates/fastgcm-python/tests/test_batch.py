"""Batches and threads beside pyca/cryptography, message by message."""

import array
import os
import random
import signal

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Pyca

from fastgcm import AESGCM, KCXAES256GCM, XAES256GCM, CounterNonces

KEY = bytes(range(32))
MIB = 1 << 20


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lengths", [[], [0], [64] * 1000, [*range(100)], [300_000, 0, 900_000, 1, 2 * MIB]], ids=str)
def test_lists(lengths, threads):
    draw = random.Random(len(lengths))
    ours, theirs = AESGCM(KEY), Pyca(KEY)
    datas = [draw.randbytes(n) for n in lengths]
    nonces = [draw.randbytes(12) for _ in datas]
    each = [draw.randbytes(draw.randrange(40)) for _ in datas]
    for aads in (None, b"for all", each, tuple(each)):
        of_each = [aads] * len(datas) if aads is None or isinstance(aads, bytes) else aads
        expected = [theirs.encrypt(n, d, a) for n, d, a in zip(nonces, datas, of_each, strict=True)]
        assert ours.seal_batch(nonces, datas, aads, threads=threads) == expected
        assert ours.seal_batch(b"".join(nonces), tuple(map(bytearray, datas)), aads, threads=threads) == expected
        for sealed in (expected, list(map(bytearray, expected))):
            assert ours.open_batch(nonces, sealed, aads, threads=threads) == datas


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("records", "length"), [(1, 0), (7, 1), (1000, 64), (140, 16384), (3, MIB)])
def test_records(records, length, threads):
    ours = AESGCM(KEY)
    nonces, data = CounterNonces(b"left").draw_batch(records), os.urandom(records * length)
    lists = [data[i * length : (i + 1) * length] for i in range(records)]
    expected = b"".join(ours.seal_batch(nonces, lists, b"aad"))
    for source in (data, bytearray(data), memoryview(data)):
        assert ours.seal_batch(nonces, source, b"aad", threads=threads) == expected
    buf = bytearray(len(expected))
    assert ours.seal_batch_into(nonces, array.array("B", data), b"aad", buf, threads=threads) == len(expected)
    assert buf == expected
    for source in (expected, buf):
        assert ours.open_batch(nonces, source, [b"aad"] * records, threads=threads) == data
        text = bytearray(len(data))
        assert ours.open_batch_into(nonces, source, b"aad", text, threads=threads) == len(data)
        assert text == data
        wrong = bytearray(source)
        wrong[-1] ^= 1
        with pytest.raises(InvalidTag) as refused:
            ours.open_batch_into(nonces, wrong, b"aad", text, threads=threads)
        assert text == bytes(len(data))
        assert refused.value.__notes__ == [f"message {records - 1} of the batch"]


def test_what_is_refused():
    ours = AESGCM(KEY)
    sealed = ours.seal_batch(bytes(12) + bytes(range(12)), [b"one", b"two"])
    for wrong, which in (([sealed[1], sealed[1]], 0), ([sealed[0], b"short"], 1), ([sealed[0], sealed[0]], 1)):
        with pytest.raises(InvalidTag) as refused:
            ours.open_batch(bytes(12) + bytes(range(12)), wrong)
        assert refused.value.__notes__ == [f"message {which} of the batch"]
    two = [bytes(12), bytes(range(12))]
    for call in (
        lambda: ours.seal_batch([bytes(12), bytes(12)], [b"1", b"2"]),
        lambda: ours.seal_batch([bytes(11), bytes(12)], [b"1", b"2"]),
        lambda: ours.seal_batch(bytes(23), [b"1", b"2"]),
        lambda: ours.seal_batch(two, [b"1"]),
        lambda: ours.seal_batch(two, [b"1", b"2"], [b""]),
        lambda: ours.seal_batch(two, b"123"),
        lambda: ours.seal_batch([], b"1"),
        lambda: ours.seal_batch_into(two, b"1234", None, bytearray(35)),
        lambda: ours.encrypt(bytes(12), b"", None, threads=0),
        lambda: ours.encrypt(bytes(12), b"", None, threads=1025),
    ):
        with pytest.raises(ValueError):
            call()
    for datas in (["text"], [None], "text", None, 3, {b"1"}):
        with pytest.raises(TypeError):
            ours.seal_batch([bytes(12)], datas)
    memory = bytearray(100)
    view = memoryview(memory)
    for data, aad, buf in ((view[:68], None, view), (bytes(68), view[50:60], view), (bytes(68), [b"", view[:1]], view)):
        with pytest.raises(ValueError, match="overlap"):
            ours.seal_batch_into(two, data, aad, buf)
    assert memory == bytes(100)
    # Opening does not mind a nonce that comes twice.
    again = [ours.encrypt(bytes(12), b"one", None)] * 2
    assert ours.open_batch([bytes(12)] * 2, again) == [b"one"] * 2


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("length", [0, 100, 2 * MIB, 4 * MIB - 1, 5 * MIB + 5])
def test_threads_for_one_message(length, threads):
    ours, text, nonce = AESGCM(KEY), os.urandom(length), b"n" * 12
    sealed = ours.encrypt(nonce, text, b"aad")
    assert ours.encrypt(nonce, text, b"aad", threads=threads) == sealed
    both = bytearray(text) + bytes(16)
    view = memoryview(both)
    assert ours.encrypt_into(nonce, view[:length], b"aad", view, threads=threads) == length + 16
    assert both == sealed
    for source in (sealed, bytearray(sealed)):
        assert ours.decrypt(nonce, source, b"aad", threads=threads) == text
        out = bytearray(length)
        assert ours.decrypt_into(nonce, source, b"aad", out, threads=threads) == length
        assert out == text
        for at in {0, length // 2, length, length + 15}:
            wrong = bytearray(source)
            wrong[at] ^= 1
            for refused in (bytes(wrong), wrong):
                out = bytearray(b"x" * length)
                with pytest.raises(InvalidTag):
                    ours.decrypt_into(nonce, refused, b"aad", out, threads=threads)
                assert out == bytes(length)
    ours.decrypt_into(nonce, view, b"aad", view[:length], threads=threads)
    assert both[:length] == text


def test_threads_after_a_fork():
    ours, text = AESGCM(KEY), bytes(5 * MIB)
    sealed = ours.encrypt(b"n" * 12, text, None, threads=2)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a pool without threads would be waited for for ever
        os._exit(0 if ours.encrypt(b"n" * 12, text, None, threads=2) == sealed else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_which_message_is_refused(threads):
    """The first of several, wherever threads come to it; and nothing comes out of the others either."""
    length, count = 64 << 10, 48  # so many that threads pay
    for ours, size in ((AESGCM(KEY), 12), (XAES256GCM(KEY), 24), (KCXAES256GCM(KEY), 24)):
        nonces = [number.to_bytes(size, "big") for number in range(count)]
        sealed = ours.seal_batch(nonces, [bytes([7]) * length] * count)
        for wrong in ((5, 9), (2, 47), (47, 46), (0, 1)):
            changed = [bytearray(one) if number in wrong else one for number, one in enumerate(sealed)]
            for number in wrong:
                changed[number][-1] ^= 1
            with pytest.raises(InvalidTag) as refused:
                ours.open_batch(nonces, changed, threads=threads)
            assert refused.value.__notes__ == [f"message {min(wrong)} of the batch"]
            text = bytearray(b"x" * length * count)
            with pytest.raises(InvalidTag) as refused:
                ours.open_batch_into(nonces, b"".join(changed), None, text, threads=threads)
            assert refused.value.__notes__ == [f"message {min(wrong)} of the batch"] and text == bytes(length * count)


class Column:
    """As pandas has it: no list, and no buffer."""

    def __init__(self, values):
        self.tolist = lambda: values


@pytest.mark.parametrize(("ours", "size"), [(AESGCM(KEY), 12), (XAES256GCM(KEY), 24), (KCXAES256GCM(KEY), 24)])
def test_errors_name_the_row(ours, size):
    nonces = [number.to_bytes(size, "big") for number in range(4)]
    right = [b"0", b"1", b"2", b"3"]
    for wrong, says in (
        ("Ada", r"message 2 of the batch: Cannot convert \"<class 'str'>\" instance to a buffer\.\nDid you mean to pass a bytestring"),
        (None, r"message 2 of the batch: .*NoneType.*\nA row without a value has nothing to seal: leave it out"),
        (float("nan"), r"message 2 of the batch: .*float.*\nA row without a value"),
        (7, "message 2 of the batch: .*int"),
    ):
        datas = [*right[:2], wrong, right[3]]
        for call in (lambda: ours.seal_batch(nonces, datas), lambda: ours.seal_batch(tuple(nonces), tuple(datas))):
            with pytest.raises(TypeError, match=says):
                call()
        with pytest.raises(TypeError, match=says.replace("message", "aad")):
            ours.seal_batch(nonces, right, datas)
        with pytest.raises(TypeError, match=says.replace("message", "nonce")):
            ours.seal_batch([*nonces[:2], wrong, nonces[3]], right)
    for call in (
        lambda: ours.seal_batch(nonces, Column(right)),
        lambda: ours.open_batch(Column(nonces), right),
        lambda: ours.seal_batch(nonces, right, Column(right)),
    ):
        with pytest.raises(TypeError, match=r"Column.* instance to a buffer\.\nPass a list of its items: \.tolist\(\)"):
            call()
    with pytest.raises(ValueError, match=f"nonce 3 of the batch has {size - 1} bytes, not {size}"):
        ours.seal_batch([*nonces[:3], nonces[3][1:]], right)
    with pytest.raises(ValueError, match=f"{size} bytes each, and {4 * size - 1} in all are not that"):
        ours.seal_batch(b"".join(nonces)[1:], right)
    with pytest.raises(ValueError, match="nonces 1 and 3 of the batch are the same"):
        ours.seal_batch([nonces[3], nonces[1], nonces[0], nonces[1]], right)


@pytest.mark.parametrize(("cls", "tag"), [(XAES256GCM, 16), (KCXAES256GCM, 48)])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_xaes(threads, cls, tag):
    """One message at a time says what is right."""
    ours, draw = cls(KEY), random.Random(threads)
    for lengths in ([], [0], [*range(70)], [64] * 500, [900_000, 0, 1_500_000, 1]):
        datas, nonces = [draw.randbytes(n) for n in lengths], [draw.randbytes(24) for _ in lengths]
        each = [draw.randbytes(draw.randrange(40)) for _ in lengths]
        for aads in (None, b"for all", each):
            of_each = [aads] * len(datas) if aads is None or isinstance(aads, bytes) else aads
            expected = [ours.encrypt(n, d, a) for n, d, a in zip(nonces, datas, of_each, strict=True)]
            assert ours.seal_batch(nonces, datas, aads, threads=threads) == expected
            assert ours.seal_batch(b"".join(nonces), list(map(bytearray, datas)), aads, threads=threads) == expected
            for sealed in (expected, tuple(map(bytearray, expected))):
                assert ours.open_batch(nonces, sealed, aads, threads=threads) == datas
    nonces, data = draw.randbytes(50 * 24), draw.randbytes(50 * 50_000)
    cut = lambda all_of, size: [all_of[at : at + size] for at in range(0, len(all_of), size)]
    expected, buf = b"".join(ours.seal_batch(cut(nonces, 24), cut(data, 50_000), b"aad")), bytearray(50 * (50_000 + tag))
    assert ours.seal_batch(nonces, bytearray(data), b"aad", threads=threads) == expected
    assert ours.seal_batch_into(nonces, data, b"aad", buf, threads=threads) == len(expected) and buf == expected
    assert ours.open_batch(nonces, buf, b"aad", threads=threads) == data
    text = bytearray(len(data))
    assert ours.open_batch_into(nonces, buf, b"aad", text, threads=threads) == len(data) and text == data
    for short in (bytes(tag - 1), bytes(16) if tag > 16 else b""):
        with pytest.raises(InvalidTag) as refused:
            ours.open_batch(nonces[:48], [expected[: 50_000 + tag], short])
        assert refused.value.__notes__ == ["message 1 of the batch"]
        with pytest.raises(InvalidTag):
            ours.open_batch(nonces[:48], short * 2)
    with pytest.raises(ValueError, match=f"buffer must be {2 * (3 + tag)} bytes"):
        ours.seal_batch_into(nonces[:48], b"onetwo", None, bytearray(2 * (3 + tag) - 1))
    with pytest.raises(ValueError, match="buffer must be 100000 bytes"):
        ours.open_batch_into(nonces[:48], expected[: 2 * (50_000 + tag)], b"aad", bytearray(100_000 + 1))


@pytest.mark.parametrize(("cls", "tag"), [(XAES256GCM, 16), (KCXAES256GCM, 48)])
def test_xaes_with_random_nonces(cls, tag):
    ours, seen = cls(KEY), set()
    for length in (0, 1, 100, 100_000):
        data = os.urandom(length)
        for aad in (None, b"", b"aad"):
            for source in (data, bytearray(data)):
                sealed = ours.seal_random(source, aad)
                seen.add(sealed[:24])
                assert ours.encrypt(sealed[:24], data, aad) == sealed[24:] and len(sealed) == 24 + length + tag
                assert ours.open_random(sealed, aad) == ours.open_random(bytearray(sealed), aad) == data
    assert len(seen) == 24
    for short in (b"", bytes(23), bytes(24 + tag - 1)):
        with pytest.raises(InvalidTag):
            ours.open_random(short)
