"""Four walks over the table of all functions (`calls.py`): sizes, halves, what comes after an error, and what is shown."""

import contextlib
import itertools
import os
import random
import re
import traceback

import calls
import pytest
from calls import AAD, CALLS, CHUNK, FILE, KEY, LONG, NONCE, ONE, TAG, TEXT
from cryptography import cobblestone as pyca_cobblestone

from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, AlreadyFinalized, CounterNonces, InvalidTag, OtherText, RandomNonces, Sealer, SealingKey, XorNonces, cobblestone, exceptions, files, hazmat, jobs
from fastgcm.hazmat import CobblestoneChunks, PartHash, Plan, UnverifiedOpener

# ---- what is compared


def opened(sealed):
    """The text of a file, by pyca, of a key of 256 or 128 bits."""
    try:
        opener = pyca_cobblestone.Cobblestone256Decryptor(KEY, b"context")
        return opener.update(sealed) + opener.finalize()
    except InvalidTag:
        opener = pyca_cobblestone.Cobblestone128Decryptor(KEY[:16], b"context")
        return opener.update(sealed) + opener.finalize()


NAMES = [(cls, LONG if "XAES" in cls.__name__ else NONCE) for cls in (AESGCM, AESGCMSIV, XAES256GCM, KCXAES256GCM)]
SEALERS = cobblestone.Cobblestone128Encryptor, cobblestone.Cobblestone256Encryptor
OPENERS = cobblestone.Cobblestone128Decryptor, cobblestone.Cobblestone256Decryptor


def tag_of(aad):
    """Of associated data, or of a ciphertext."""
    return hazmat.combine(ONE, NONCE, AAD, []) if aad else hazmat.combine(ONE, NONCE, None, [hazmat.hash_part(ONE, 0, TEXT)])


def done(call, *arguments):
    """What it gives, or that there is no nonce: nonces of another call's fork."""
    try:
        return call(*arguments)
    except exceptions.Exhausted:
        return None


# What an object is compared by: what it does next.
DOES = {cls: lambda it, _, nonce=nonce: it.encrypt(nonce, TEXT, AAD) for cls, nonce in NAMES} | {
    Sealer: lambda it, _: it.finalize(),
    UnverifiedOpener: lambda it, name: it.verify(tag_of(name.endswith("aad"))) if "update" in name else it.update(TEXT),
    CobblestoneChunks: lambda it, _: it.header,
    CounterNonces: lambda it, _: (it.position, done(it.draw)),
    XorNonces: lambda it, _: (it.position, done(it.draw)),
    SealingKey: lambda it, _: (it.blocks_left, done(it.seal, TEXT, AAD)),
    RandomNonces: lambda it, _: it.used,
    Plan: lambda it, _: (it.nonce, it.parts(), it.missing()),
    PartHash: lambda it, _: it.to_bytes(),
    files.Appearing: lambda it, _: (it.file.closed or it.file.flush(), os.path.exists(it.partial) and open(it.partial, "rb").read()),
    jobs.Sealing: lambda it, name: (it.key, it.context, name == "jobs.Sealing" and it.salt, it.length, it.chunks),
    jobs.Opening: lambda it, _: (it.key, it.context, it.salt, it.length, it.chunks),
}


def seen(name, result, on, written, folder):
    """What a call is compared by: its result, what it has written, what the object does then, and the files that are there."""
    owner, call = getattr(on, "__self__", None), CALLS[name]
    if isinstance(owner, SEALERS) and "generate" not in name:
        result = (written[0][:result] if "into" in name else result) + (b"" if name.endswith("finalize") else owner.finalize())
    if isinstance(result, SEALERS):
        result = result.finalize()
    if isinstance(result, OPENERS):
        result = result.update(FILES[type(result)]) + result.finalize()
    if isinstance(owner, SEALERS) and "generate" not in name or name.endswith("Encryptor"):
        return opened(result)
    if "seal_random" in name:
        return owner.open_random(result, AAD)
    after = DOES[type(owner)](owner, name) if type(owner) in DOES else owner.finalize() if isinstance(owner, OPENERS) and not name.endswith("finalize") else None
    result = DOES[type(result)](result, name) if type(result) in DOES else [result.args] if isinstance(result, Exception) else calls.plain(result)
    return (type(result) if call.is_random else result), written, after, left(folder)


def files_of(table):
    return {cls: table[f"cobblestone.{cls.__name__}.update"].arguments[0] for cls in OPENERS}


FILES = files_of(CALLS)


def left(folder):
    """The files of a folder, but for that which is opened. What is sealed there is opened; a job that goes on has a salt of its own."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in sorted({*names} - {"file"}):
            with open(os.path.join(path, name), "rb") as file:
                content = file.read()
            label = os.path.relpath(os.path.join(path, name), folder)
            content = opened(content) if label == "sealed" and len(content) > 16 else len(content) if "sealed" in label else content
            found[re.sub("[0-9a-f]{16}", "*", label)] = content
    return dict(sorted(found.items()))


def outcome(name, on, arguments, named, folder):
    """What is `seen`, as text; or the error."""
    try:
        result = on(*arguments, **named)
        written = [bytes(one) for one, right in zip(arguments, CALLS[name].arguments) if type(right) is bytearray]
    except Exception as error:
        return error
    try:
        return repr(seen(name, result, on, written, folder)).replace(folder or "/", "")
    except (InvalidTag, AlreadyFinalized) as error:
        return f"then {type(error)}"


# ---- what is tried


def flipped(value, at):
    return value[:at] + bytes([value[at] ^ 1 << at % 8]) + value[at + 1 :]


def wrongs(value):
    """What takes the place of an argument: "flip", if one bit is another one, or what has another size or kind."""
    if type(value) is PartHash:
        for at in range(32):
            with contextlib.suppress(ValueError):  # no part has that length
                yield "flip", PartHash.from_bytes(flipped(value.to_bytes(), at))
    elif type(value) is bytes:
        length = len(value)
        for at in (0, 65_541, length - 1) if length > 1 << 16 else sorted({*range(min(length, 64)), *range(max(0, length - 64), length), *range(0, length, 997)}):
            yield "flip", flipped(value, at)
        kinds = [str(value, "latin-1"), value.hex(), list(value), int.from_bytes(value[:64]), None, memoryview(value)[::-1]]
        yield from (("size", wrong) for wrong in [value[:-1], value + b"1", value[: len(value) // 2], b"", *kinds])
    elif type(value) is bytearray:
        yield from (("size", wrong) for wrong in (value[:-1], value[:1], value + b"\0", bytes(value), None, 7))
    elif type(value) is list:
        for at, (how, wrong) in ((at, one) for at, item in enumerate(value) for one in wrongs(item)):
            yield how, [*value[:at], wrong, *value[at + 1 :]]
        yield from (("size", wrong) for wrong in (value[:-1], value + value, None))
    elif type(value) is int:
        yield from (("size", wrong) for wrong in (-1, value + 1, 1 << 70, None))
    elif type(value) is str:
        yield from (("size", wrong) for wrong in ("nothing", "text", ".", 7.5))


def given(name, call, folder, place, value, shared):
    """Arguments and named ones. `shared`: each `bytes` is a `bytearray`, which must be free again afterwards."""
    arguments, named = list(call.arguments), dict(call.named)
    if place is not None:
        (arguments if isinstance(place, int) else named)[place] = value

    def of(argument):
        if type(argument) is list:
            return [of(item) for item in argument]
        if type(argument) is bytes and shared and "jobs" not in name or type(argument) is bytearray:
            return bytearray(argument)
        return calls.placed(argument, folder)

    return [of(argument) for argument in arguments], {key: of(value) for key, value in named.items()}


def free(arguments):
    """Whether all buffers of these may change their size."""
    for one in arguments:
        if type(one) is bytearray:
            one.append(1)
            one.pop()
        elif type(one) is list:
            free(one)


def tried(tmp_path, table, kinds=("flip", "size")):
    """Each function with each wrong argument of these kinds: its name, what is wrong, the bound function, its folder, and its arguments."""
    for name, call in table.items():
        # A file that is opened counts as an argument; a job that begins reads its header, and all behind it later.
        parts = {"open_file": (0, None), "Opening.begin": (0, 56), "Opening.run": (56, None), "Opening.finish": (56, None)}
        start, end = parts.get(name.split(".", 1)[-1], (0, 0))
        files_read = [("file", FILE[start:end])] if end != 0 else []
        for number, (place, value) in enumerate([*enumerate(call.arguments), *call.named.items(), *files_read]):
            for at, (how, wrong) in enumerate(one for one in wrongs(value) if one[0] in kinds):
                folder, said = str(tmp_path / f"{name}.{next(FOLDERS)}"), f"{name}, {number}: {how} {wrong!r:.60}"
                on = call.begin(folder)
                if place != "file":
                    yield name, said, how, on, folder, given(name, call, folder, place, wrong, at % 2)
                elif type(wrong) is bytes:
                    os.rename(os.path.join(folder, "file"), f"{folder}.file")
                    with open(os.path.join(folder, "file"), "wb") as file:
                        file.write(FILE[:start] + wrong + FILE[start + len(value) :])
                    yield name, said, how, on, folder, given(name, call, folder, None, None, False)


FOLDERS = itertools.count()


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


def halves_and_afterwards(tmp_path, *tries):
    """A bit of any argument is another one: something else comes of it, or it is refused. And after what was refused, all is as if that call had not been."""
    right, count, table = {}, 0, tries[0]
    for name, call in table.items():
        folder = str(tmp_path / name)
        right[name] = outcome(name, call.begin(folder), *given(name, call, folder, None, None, False), folder)
        assert not isinstance(right[name], Exception), (name, right[name])
    for name, said, how, on, folder, (arguments, named) in tried(tmp_path, *tries):
        before, there, count = descriptors(), left(folder), count + 1
        found = outcome(name, on, arguments, named, folder)
        assert how != "flip" or found != right[name], f"{said}: nothing is seen of it"
        if not isinstance(found, Exception):
            continue
        assert descriptors() == before and left(folder) == there, f"{said}: a file stays, or is open"
        for place, wanted in enumerate(table[name].arguments):
            assert type(wanted) is not bytearray or type(arguments[place]) is not bytearray or not any(arguments[place]), f"{said}: text stays"
        free([*arguments, *named.values()])
        owner = getattr(on, "__self__", None)
        ends = type(found) is InvalidTag and (name.endswith("verify") or isinstance(owner, OPENERS) and "range" not in name)
        if os.path.exists(f"{folder}.file"):
            os.replace(f"{folder}.file", os.path.join(folder, "file"))
        again = outcome(name, on, *given(name, table[name], folder, None, None, False), folder)
        assert type(again) is AlreadyFinalized if ends else again == right[name], f"after {said}: {again!r:.300}, not {right[name]!r:.300}"
    return count


def test_halves_and_afterwards(tmp_path):
    assert halves_and_afterwards(tmp_path, CALLS) > 3000
    job = calls._job(jobs.Sealing)(str(tmp_path / "claimed"))
    number, receipt = job.run(0)
    for at in range(len(receipt)):
        other = receipt[:at] + format(int(receipt[at], 16) ^ 1, "x") + receipt[at + 1 :]
        for call in (lambda: job.finish([(number, other)]), lambda: job._claim(number, other)):
            with pytest.raises(OtherText):
                call()
    job.finish([(number, receipt)])


def test_what_is_drawn(tmp_path):
    """Each byte of it."""
    drawn = {
        **{f"{name}.{bits}": lambda name=name, bits=bits: CALLS[name].begin("")(*([bits // 8 * 8] if CALLS[name].arguments else []))
           for name in CALLS for bits in (128, 256) if name.endswith(("generate_key", "generate_salt"))},
        **{name: lambda name=name: CALLS[name].begin("")(*CALLS[name].arguments) for name in CALLS if "RandomNonces.draw" in name},
        **{name: lambda name=name: CALLS[name].begin("")(*CALLS[name].arguments)[:24] for name in CALLS if name.endswith(("seal_random", "Encryptor.update"))},
        "jobs.Sealing.begin": lambda: calls._job(jobs.Sealing)(str(tmp_path / str(next(FOLDERS)))).salt,
    }
    for name, draw in drawn.items():
        for column in zip(*(draw() for _ in range(64))):
            assert len(set(column)) > 16, name
    assert len(drawn) > 18


def test_quiet(tmp_path, monkeypatch, capfd):
    """Every error that can be provoked under two keys and two texts: what is said of it is the same. So it says no byte of them."""
    said = []
    for number in range(2):
        key, text = (bytes((at * 37 + 11 + 101 * number) % 256 for at in range(length)) for length in (32, 20))
        monkeypatch.setattr(calls, "KEY", key)
        monkeypatch.setattr(calls, "short", lambda key=key: key[:31], raising=False)
        monkeypatch.setenv("KEY_OF_WALKS", key.hex() + "x")
        table, lines = calls.of(key, text, AAD)["CALLS"], []

        def say(what):
            what = what.replace(str(tmp_path), "")
            lines.append(re.sub(r"salt=b(['\"]).*?\1, length|0x[0-9a-f]+|\.?[0-9a-f]{16}|\.\d+\b", "", what))

        (tmp_path / "key").write_text(key.hex()[:-1])
        others = [lambda: jobs.EnvironmentKey("KEY_OF_WALKS")(), lambda: jobs.FileKey(str(tmp_path / "key"))(), lambda: jobs.key_of(key.hex()), jobs.FunctionKey("calls:short")]
        for call in [*others, *((lambda on=on, given=given: on(*given[0], **given[1])) for _, _, _, on, _, given in tried(tmp_path, table))]:
            try:
                result = call()
                if not isinstance(result, (bytes, str, list, tuple)):
                    say(f"{result!r} {result}")
            except Exception as error:
                say("".join(traceback.format_exception(error)) + repr(error))
        said.append(lines)
    for one, other in zip(*said, strict=True):
        assert one == other
    assert len(said[0]) > 3000
    assert capfd.readouterr() == ("", "")


# ---- sizes


def test_sizes(tmp_path, monkeypatch):
    """Of a text and of associated data of a little more than 2^16 bytes each bit counts, too, and what is said to be written is written. (`test_aesgcm.py` and others
    have the answers for such lengths, beside pyca.)"""
    for name, value in (("TEXT", random.Random(5).randbytes(70_003)), ("AAD", random.Random(6).randbytes(65_600))):
        monkeypatch.setitem(globals(), name, value)
    table, file = map(calls.of(KEY, TEXT, AAD).get, ("CALLS", "FILE"))
    monkeypatch.setitem(globals(), "FILE", file)
    monkeypatch.setitem(globals(), "FILES", files_of(table))
    assert halves_and_afterwards(tmp_path, table, ["flip"]) > 300
    for name, call in table.items():
        if name.endswith("_into") and "part" not in name:
            arguments, named = given(name, call, "", None, None, False)
            written = call.begin("")(*arguments, **named)
            assert any(arguments[-1][:written][-8:]) and not any(arguments[-1][written:]), f"{name} has not written {written} bytes"


def test_many():
    """Of 2^16 and a few things each is what it should be, and one that is refused has its number."""
    many = (1 << 16) + 5
    for ours, nonces in ((ONE, CounterNonces(b"left").draw_batch(many)), *((cls(KEY), bytes(range(256)) * 8) for cls in (XAES256GCM, KCXAES256GCM))):
        size = 12 if ours is ONE else 24
        nonces = nonces if ours is ONE else b"".join(number.to_bytes(4) + bytes(20) for number in range(many))
        each = [nonces[at : at + size] for at in range(0, len(nonces), size)]
        made = ours.seal_batch(nonces, bytes(many), AAD)
        tag = len(made) // many
        assert len(made) == many * tag and all(made[at * tag :][:tag] == ours.encrypt(each[at], b"\0", AAD) for at in (0, 1 << 16, many - 1))
        forged = bytearray(made)
        forged[-1] ^= 1
        for again in (forged, [forged[at : at + tag] for at in range(0, len(forged), tag)]):
            with pytest.raises(InvalidTag) as refused:
                ours.open_batch(each, again, AAD)
            assert refused.value.__notes__ == [f"message {many - 1} of the batch"]
        assert ours.open_batch(nonces, made, AAD) == bytes(many)
    drawn = RandomNonces().draw_batch(many)
    assert len({drawn[at : at + 12] for at in range(0, 12 * many, 12)}) == many == len(drawn) // 12
    plan = Plan(NONCE, TAG * many, TAG)
    for begin, _ in plan.missing():
        plan.accept(hazmat.hash_part(ONE, begin, bytes(TAG)))
    assert plan.tag(ONE, None) == hazmat.combine(ONE, NONCE, None, plan.accepted()) == hazmat.combine(ONE, NONCE, None, [hazmat.hash_part(ONE, 0, bytes(TAG * many))])


FAR, STEP = 1 << 32, 1 << 21


class Mapped:
    """Memory of any length, in which nobody has written; or of which each step is the same one of a file. `end`: its last step has its own."""

    def __init__(self, length, steps=0):
        ctypes = pytest.importorskip("ctypes")  # where CPython was built without libffi, there is none
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        start = libc.mmap(None, length, 3, 0x4022, -1, 0)  # private, anonymous, without a reserve
        if steps:
            file = os.memfd_create("steps")
            os.truncate(file, STEP * steps)
            for at in range(0, length - STEP, STEP):
                # Work that begins elsewhere has another step.
                assert libc.mmap(start + at, STEP, 3, 0x11, file, at // STEP * steps // (length // STEP) % steps * STEP) == start + at
            os.close(file)
        self.view = memoryview((ctypes.c_char * length).from_address(start)).cast("B")
        self.unmap = lambda: libc.munmap(ctypes.c_void_p(start), ctypes.c_size_t(length))

    def __enter__(self):
        return self.view

    def __exit__(self, *_):
        self.view.release()
        self.unmap()


def test_gigabytes(tmp_path):
    """More than 2^32 bytes in one call is what pieces of them are. (Two threads may come to one step of the output at a time: then once more.)"""
    length, xaes, stream = FAR + STEP, XAES256GCM(KEY), cobblestone.Cobblestone256Encryptor(KEY, b"")
    with Mapped(length + TAG) as read, Mapped(length + 4 * STEP, 64) as written:
        read[length - 5 : length] = b"the e"
        pieces = [(at, read[at : min(at + (1 << 30), length)]) for at in range(0, length, 1 << 30)]
        parts = [hazmat.hash_part(ONE, *piece) for piece in pieces]
        read[length:] = tag = hazmat.combine(ONE, NONCE, None, parts)
        assert tag == hazmat.combine(ONE, NONCE, None, [hazmat.hash_part(ONE, 0, read[:length])])
        assert ONE.decrypt_into(NONCE, read, None, written[:length]) == length
        assert hazmat.open_part(ONE, NONCE, length - TAG, bytes(11) + b"the e")[0] == written[length - TAG : length]
        for attempt in range(3):
            with contextlib.suppress(InvalidTag) if attempt < 2 else contextlib.nullcontext():
                assert ONE.decrypt_into(NONCE, read, None, written[:length], threads=2) == length
                break
        sealer, last, of_aad = Sealer(ONE, NONCE), Sealer(ONE, NONCE), written[length : length + TAG]
        for _, piece in pieces:
            last.update_aad(piece)
            for at in range(0, len(piece), STEP):
                sealer.update_into(piece[at : at + STEP], written)
        assert ONE.encrypt_into(NONCE, read[:length], None, written[: length + TAG]) == length + TAG and of_aad == sealer.finalize()
        assert ONE.encrypt(NONCE, b"", read[:length]) == last.finalize()
        # Records, a step each, of one key after the other; and chunks of a stream: the last of them has another text than all others.
        count, text = FAR // STEP, bytes(STEP - TAG - 5) + b"the e"
        nonces = b"".join(number.to_bytes(24) for number in range(count))
        assert xaes.seal_batch_into(nonces, read[length - count * (STEP - TAG) : length], None, written[: count * STEP]) == count * STEP
        assert xaes.decrypt(nonces[-24:], written[(count - 1) * STEP : count * STEP], None) == text
        chunks = CobblestoneChunks(KEY, b"", stream.update(b"")[:24])
        made = stream.update_into(read[length - FAR - CHUNK : length], written)
        assert made == (FAR // CHUNK + 1) * (CHUNK + TAG)
        assert chunks.open(FAR // CHUNK, written[made - CHUNK - TAG : made], last=False) == text[-CHUNK:]
        of_aad.release()
        [piece.release() for _, piece in pieces]
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(FAR + CHUNK + 5)
    job = jobs.Sealing.begin(calls.KEY_OF, tmp_path / "sparse", tmp_path / "never", part=1 << 30)
    assert (job.length, job.parts, job.run(4)[0]) == (FAR + CHUNK + 5, 5, 4)
    with open(job._body(), "rb") as file:
        file.seek(56 + FAR // CHUNK * (CHUNK + TAG))
        assert job._cipher().open(FAR // CHUNK, file.read(), last=True) == bytes(CHUNK + 5)
