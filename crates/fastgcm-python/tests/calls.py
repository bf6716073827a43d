"""Every function, method and property that the package exports, with arguments that are right: what `test_sizes.py` and `test_errors.py` start from.

`exported` finds them by `dir`. A name that `CALLS` lacks fails the tests. `runpy` makes the table once more, of another key or text (`of`).
"""

import os
import runpy
from typing import Any, Callable, NamedTuple

import fastgcm
from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, _fastgcm, CounterNonces, RandomNonces, Sealer, SealingKey, XorNonces, cobblestone, exceptions, files, hazmat, jobs
from fastgcm.hazmat import CobblestoneChunks, PartHash, Plan, UnverifiedOpener

CHUNK, TAG = 16384, 16
KEY, TEXT = globals().get("KEY", bytes(range(32))), globals().get("TEXT", b"a text of some bytes")
NONCE, LONG, AAD = b"n" * 12, b"N" * 24, globals().get("AAD", b"associated")
ONE, SIV, CHUNKS = AESGCM(KEY), AESGCMSIV(KEY), CobblestoneChunks(KEY, b"context", b"s" * 24)
XAES, KC_XAES = XAES256GCM(KEY), KCXAES256GCM(KEY)
FILE = CHUNKS.header + CHUNKS.seal(0, TEXT, last=True)
MODULES = (fastgcm, hazmat, cobblestone, files, jobs, exceptions)


class Call(NamedTuple):
    """`begin` makes the callable, on a new object; it is called with `arguments`. A folder of its own is `begin`'s and, where it is a path, theirs."""

    begin: Callable[[str], Any]
    arguments: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    is_random: bool = False


def of(key: bytes, text: bytes, aad: bytes) -> dict[str, Any]:
    """This module, of a key and a text."""
    return runpy.run_path(__file__, {"KEY": key, "TEXT": text, "AAD": aad})


def exported() -> set[str]:
    names = set()
    for module in MODULES:
        for name in (name for name in dir(module) if not name.startswith("_")):
            thing = getattr(module, name)
            if not callable(thing) or not getattr(thing, "__module__", "").startswith("fastgcm") or thing.__qualname__ != thing.__name__:
                continue
            place = thing.__module__.removeprefix("fastgcm").replace("._fastgcm", "").lstrip(".")
            label = f"{place}.{thing.__name__}".lstrip(".")
            names.add(label)
            if isinstance(thing, type) and not issubclass(thing, Exception):
                names |= {f"{label}.{attribute}" for attribute in dir(thing) if not attribute.startswith("_")}
    return names


def called(call: Call, folder: str, *changes: tuple[int | str, Any], on: Any = None) -> Any:
    """What comes of it; with other arguments at these places."""
    arguments, named = [placed(argument, folder) for argument in call.arguments], dict(call.named)
    for place, value in changes:
        (arguments if isinstance(place, int) else named)[place] = value
    return plain((on or call.begin(folder))(*arguments, **named))


def placed(argument: Any, folder: str) -> Any:
    if isinstance(argument, bytearray):  # written to
        return bytearray(argument)
    return os.path.join(folder, argument) if isinstance(argument, str) else argument


def plain(result: Any) -> Any:
    """What can be compared."""
    if isinstance(result, PartHash):
        return result.to_bytes()
    if isinstance(result, (list, tuple)):
        return [plain(one) for one in result]
    return result if isinstance(result, (bytes, int, str, dict, type(None))) else type(result)


def _whole(ours: Any, nonce: bytes) -> dict[str, Call]:
    sealed, name = ours.encrypt(nonce, TEXT, AAD), type(ours).__name__
    threads = {"threads": 1} if ours is ONE else {}
    return {
        f"{name}": Call(lambda _: type(ours), (KEY,)),
        f"{name}.generate_key": Call(lambda _: ours.generate_key, () if ours in (XAES, KC_XAES) else (256,), is_random=True),
        f"{name}.encrypt": Call(lambda _: ours.encrypt, (nonce, TEXT, AAD), threads),
        f"{name}.decrypt": Call(lambda _: ours.decrypt, (nonce, sealed, AAD), threads),
        f"{name}.encrypt_into": Call(lambda _: ours.encrypt_into, (nonce, TEXT, AAD, bytearray(len(sealed))), threads),
        f"{name}.decrypt_into": Call(lambda _: ours.decrypt_into, (nonce, sealed, AAD, bytearray(len(TEXT))), threads),
    }


def _batches(ours: Any, nonce: bytes) -> dict[str, Call]:
    name, nonces, texts, threads = type(ours).__name__, [nonce, nonce[::-1] + b""], [TEXT, b"two"], {"threads": 1}
    nonces[1] = bytes([1]) + nonce[1:]
    flat, records = b"".join(nonces), TEXT * 2
    sealed, sealed_records = ours.seal_batch(nonces, texts, [AAD, b""]), ours.seal_batch(flat, records, AAD)
    return {
        f"{name}.seal_batch": Call(lambda _: ours.seal_batch, (nonces, texts, [AAD, b""]), threads),
        f"{name}.open_batch": Call(lambda _: ours.open_batch, (nonces, sealed, [AAD, b""]), threads),
        f"{name}.seal_batch_into": Call(lambda _: ours.seal_batch_into, (flat, records, AAD, bytearray(len(sealed_records))), threads),
        f"{name}.open_batch_into": Call(lambda _: ours.open_batch_into, (flat, sealed_records, AAD, bytearray(len(records))), threads),
    }


def _derived(ours: Any) -> dict[str, Call]:
    name, message = type(ours).__name__, ours.seal_random(TEXT, AAD)
    return {
        **_whole(ours, LONG),
        **_batches(ours, LONG),
        f"{name}.seal_random": Call(lambda _: ours.seal_random, (TEXT, AAD), is_random=True),
        f"{name}.open_random": Call(lambda _: ours.open_random, (message, AAD)),
    }


def _pieces(make: Any, name: str, end: str, last: tuple[bytes, ...]) -> dict[str, Call]:
    def at_its_end(_: str) -> Any:
        each = make(ONE, NONCE)
        each.update_aad(AAD)
        each.update(TEXT if make is Sealer else ONE.encrypt(NONCE, TEXT, AAD)[:-TAG])
        return getattr(each, end)

    return {
        name: Call(lambda _: make, (ONE, NONCE)),
        f"{name}.update_aad": Call(lambda _: make(ONE, NONCE).update_aad, (AAD,)),
        f"{name}.update": Call(lambda _: make(ONE, NONCE).update, (TEXT,)),
        f"{name}.update_into": Call(lambda _: make(ONE, NONCE).update_into, (TEXT, bytearray(len(TEXT)))),
        f"{name}.{end}": Call(at_its_end, last),
    }


def _streams(bits: int) -> dict[str, Call]:
    key = KEY[: bits // 8]
    sealer, opener = (getattr(cobblestone, f"Cobblestone{bits}{kind}") for kind in ("Encryptor", "Decryptor"))
    chunks = CobblestoneChunks(key, b"context", b"s" * 24)
    file = chunks.header + chunks.seal(0, bytes(CHUNK) + TEXT, last=True)

    def at_its_end(_: str) -> Any:
        each = opener(key, b"context")
        each.update(file)
        return each.finalize

    found = {}
    for name, make, data, room in (("Encryptor", sealer, bytes(2 * CHUNK) + TEXT, 3 * CHUNK + len(TEXT)), ("Decryptor", opener, file, CHUNK + len(TEXT))):
        label, is_random = f"cobblestone.Cobblestone{bits}{name}", make is sealer
        begin = lambda _, make=make: make(key, b"context")  # noqa: E731
        found |= {
            label: Call(lambda _, make=make: make, (key, b"context")),
            f"{label}.update": Call(lambda _, begin=begin: begin(_).update, (data,), is_random=is_random),
            f"{label}.update_into": Call(lambda _, begin=begin: begin(_).update_into, (data, bytearray(room))),
        }
    return found | {
        f"cobblestone.Cobblestone{bits}Encryptor.generate_key": Call(lambda _: sealer.generate_key, is_random=True),
        f"cobblestone.Cobblestone{bits}Encryptor.finalize": Call(lambda _: sealer(key, b"context").finalize, is_random=True),
        f"cobblestone.Cobblestone{bits}Decryptor.finalize": Call(at_its_end),
        f"cobblestone.Cobblestone{bits}Decryptor.decrypt_range": Call(lambda _: opener(key, b"context").decrypt_range, (file, CHUNK - 2, len(TEXT))),
    }


def _plan(_: str) -> Plan:
    plan = Plan(NONCE, 64, 64)
    plan.accept(hazmat.seal_part(ONE, NONCE, 0, bytes(64))[1])
    return plan


def key() -> bytes:
    return KEY


def _text(folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "text"), "wb") as file:
        file.write(TEXT)
    with open(os.path.join(folder, "file"), "wb") as file:
        file.write(FILE)
    return folder


def _job(kind: Any) -> Callable[[str], Any]:
    def begin(folder: str) -> Any:
        _text(folder)
        source, target = ("text", "sealed") if kind is jobs.Sealing else ("file", "opened")
        return kind.begin(KEY_OF, os.path.join(folder, source), os.path.join(folder, target), context=b"context")

    return begin


KEY_OF, PART = jobs.FunctionKey("calls:key"), hazmat.seal_part(ONE, NONCE, 16, TEXT)
EMPTY = hazmat.seal_part(ONE, NONCE, 0, bytes(64))[1]


def _jobs() -> dict[str, Call]:
    found = {
        "jobs.EnvironmentKey": Call(lambda _: jobs.EnvironmentKey, ("name",)),
        "jobs.FileKey": Call(lambda _: jobs.FileKey, ("name",)),
        "jobs.FunctionKey": Call(lambda _: jobs.FunctionKey, ("name",)),
        "jobs.key_of": Call(lambda _: jobs.key_of, (KEY_OF,)),
        "jobs.on_dask": Call(lambda folder: lambda: jobs.on_dask(_Engine(), _job(jobs.Sealing)(folder))),
        "jobs.on_spark": Call(lambda folder: lambda: jobs.on_spark(_Engine(), _job(jobs.Sealing)(folder))),
    }
    for kind, source, target in ((jobs.Sealing, "text", "sealed"), (jobs.Opening, "file", "opened")):
        name, receipt = f"jobs.{kind.__name__}", []
        named = {"context": b"context", "part": CHUNK}
        found |= {
            name: Call(lambda _, kind=kind: kind, (KEY_OF, source, target, b"context", b"s" * 24, len(TEXT), 1, "stage")),
            f"{name}.begin": Call(lambda folder, kind=kind: (_text(folder), kind.begin)[1], (KEY_OF, source, target), named),
            f"{name}.parts": Call(lambda folder, kind=kind: lambda: _job(kind)(folder).parts),
            f"{name}.run": Call(lambda folder, kind=kind: _job(kind)(folder).run, (0,), is_random=kind is jobs.Sealing),
            f"{name}.finish": Call(lambda folder, kind=kind: _finish(_job(kind)(folder)), ([0],)),
            f"{name}.abandon": Call(lambda folder, kind=kind: _job(kind)(folder).abandon),
        }
    return found


def _appearing(folder: str, text: bytes = b"") -> Any:
    one = files.Appearing(os.path.join(_text(folder), "new"), True)
    one.write(text)
    return one


def _appeared(folder: str) -> Any:
    one = _appearing(folder, TEXT)
    one.finish()
    return one


def _finish(job: Any) -> Any:
    return lambda indices: job.finish(job.run(index) for index in indices)


class _Engine:
    """Runs a function for each number, as Dask and Spark do."""

    def map(self, function: Any, numbers: Any = None, **_: Any) -> Any:
        if numbers is None:
            self.found = [function(number) for number in self.numbers]
            return self
        return [function(number) for number in numbers]

    def gather(self, found: Any) -> Any:
        return found

    def parallelize(self, numbers: Any, _: int) -> Any:
        self.numbers = numbers
        return self

    def collect(self) -> Any:
        return self.found


def _forked(_: str) -> Any:
    nonces = CounterNonces(b"left")
    _fastgcm.forked()  # what the C library calls in a child
    return nonces.after_fork


CALLS = {
    "cpu": Call(lambda _: fastgcm.cpu),
    **_whole(ONE, NONCE),
    **_whole(SIV, NONCE),
    **_batches(ONE, NONCE),
    **_derived(XAES),
    **_derived(KC_XAES),
    "CounterNonces": Call(lambda _: CounterNonces, (b"left", 7)),
    "CounterNonces.draw": Call(lambda _: CounterNonces(b"left", 7).draw),
    "CounterNonces.draw_batch": Call(lambda _: CounterNonces(b"left", 7).draw_batch, (3,)),
    "CounterNonces.position": Call(lambda _: lambda: CounterNonces(b"left", 7).position),
    "CounterNonces.after_fork": Call(_forked, (b"righ",)),
    "XorNonces": Call(lambda _: XorNonces, (NONCE, 7)),
    "XorNonces.at": Call(lambda _: XorNonces.at, (NONCE, 7)),
    "XorNonces.draw": Call(lambda _: XorNonces(NONCE, 7).draw),
    "XorNonces.draw_batch": Call(lambda _: XorNonces(NONCE, 7).draw_batch, (3,)),
    "XorNonces.position": Call(lambda _: lambda: XorNonces(NONCE, 7).position),
    "SealingKey": Call(  # (its nonces are made in the call: others would be those of a parent, once `after_fork` was called)
        lambda _: lambda key, **more: SealingKey(key, XorNonces(NONCE), **more), (KEY,), {"confidentiality": 60, "blocks": 7, "sealers": 2}
    ),
    "SealingKey.seal": Call(lambda _: SealingKey(KEY, XorNonces(NONCE)).seal, (TEXT, AAD)),
    "SealingKey.open": Call(lambda _: SealingKey(KEY, XorNonces(NONCE)).open, (SealingKey(KEY, XorNonces(NONCE)).seal(TEXT, AAD), AAD)),
    "SealingKey.blocks_left": Call(lambda _: lambda: SealingKey(KEY, XorNonces(NONCE)).blocks_left),
    "SealingKey.blocks_sealed": Call(lambda _: lambda: SealingKey(KEY, XorNonces(NONCE), blocks=7).blocks_sealed),
    "RandomNonces": Call(lambda _: RandomNonces, (7,)),
    "RandomNonces.draw": Call(lambda _: RandomNonces(7).draw, is_random=True),
    "RandomNonces.draw_batch": Call(lambda _: RandomNonces(7).draw_batch, (3,), is_random=True),
    "RandomNonces.used": Call(lambda _: lambda: RandomNonces(7).used),
    **_pieces(Sealer, "Sealer", "finalize", ()),
    **_pieces(UnverifiedOpener, "hazmat.UnverifiedOpener", "verify", (ONE.encrypt(NONCE, TEXT, AAD)[-TAG:],)),
    "hazmat.PartHash": Call(lambda _: lambda: PART[1]),
    "hazmat.PartHash.to_bytes": Call(lambda _: PART[1].to_bytes),
    "hazmat.PartHash.from_bytes": Call(lambda _: PartHash.from_bytes, (PART[1].to_bytes(),)),
    "hazmat.PartHash.offset": Call(lambda _: lambda: PART[1].offset),
    "hazmat.PartHash.length": Call(lambda _: lambda: PART[1].length),
    "seal_part": Call(lambda _: hazmat.seal_part, (ONE, NONCE, 16, TEXT)),
    "open_part": Call(lambda _: hazmat.open_part, (ONE, NONCE, 16, PART[0])),
    "seal_part_into": Call(lambda _: hazmat.seal_part_into, (ONE, NONCE, 16, TEXT, bytearray(len(TEXT)))),
    "open_part_into": Call(lambda _: hazmat.open_part_into, (ONE, NONCE, 16, PART[0], bytearray(len(TEXT)))),
    "hash_part": Call(lambda _: hazmat.hash_part, (ONE, 16, PART[0])),
    "combine": Call(lambda _: hazmat.combine, (ONE, NONCE, AAD, [EMPTY])),
    "hazmat.Plan": Call(lambda _: Plan, (NONCE, 100, 64)),
    "hazmat.Plan.nonce": Call(lambda _: lambda: _plan(_).nonce),
    "hazmat.Plan.parts": Call(lambda _: _plan(_).parts),
    "hazmat.Plan.missing": Call(lambda _: _plan(_).missing),
    "hazmat.Plan.accepted": Call(lambda _: _plan(_).accepted),
    "hazmat.Plan.accept": Call(lambda _: _plan(_).accept, (EMPTY,)),
    "hazmat.Plan.tag": Call(lambda _: _plan(_).tag, (ONE, AAD)),
    "hazmat.CobblestoneChunks": Call(lambda _: CobblestoneChunks, (KEY, b"context", b"s" * 24)),
    "hazmat.CobblestoneChunks.generate_salt": Call(lambda _: CobblestoneChunks.generate_salt, is_random=True),
    "hazmat.CobblestoneChunks.header": Call(lambda _: lambda: CHUNKS.header),
    "hazmat.CobblestoneChunks.seal": Call(lambda _: CHUNKS.seal, (0, TEXT), {"last": True}),
    "hazmat.CobblestoneChunks.open": Call(lambda _: CHUNKS.open, (0, FILE[56:]), {"last": True}),
    **_streams(128),
    **_streams(256),
    "files.seal_file": Call(lambda folder: (_text(folder), files.seal_file)[1], (KEY, "text", "sealed"), {"context": b"context"}),
    "files.open_file": Call(lambda folder: (_text(folder), files.open_file)[1], (KEY, "file", "opened"), {"context": b"context"}),
    "files.refusal": Call(lambda folder: (_text(folder), files.refusal)[1], (KEY, b"context", "file")),
    "in_place": Call(lambda folder: (_text(folder), jobs.in_place)[1], ("text",)),
    "place": Call(lambda folder: (_text(folder), lambda path: os.path.relpath(files.place(path), folder))[1], ("text",)),
    "publish": Call(lambda folder: (_text(folder), files.publish)[1], ("text", "new", False)),
    "files.partial": Call(lambda _: files.partial, ("text",), is_random=True),
    "files.Appearing": Call(lambda folder: (_text(folder), files.Appearing)[1], ("new", True)),
    "files.Appearing.write": Call(lambda folder: _appearing(folder).write, (TEXT,)),
    "files.Appearing.finish": Call(lambda folder: _appearing(folder, TEXT).finish),
    "files.Appearing.commit": Call(lambda folder: _appeared(folder).commit),
    "files.Appearing.discard": Call(lambda folder: _appearing(folder, TEXT).discard),
    "exceptions.Exhausted": Call(lambda _: exceptions.Exhausted, ("text",)),
    "exceptions.OtherText": Call(lambda _: exceptions.OtherText, ("text",)),
    **_jobs(),
}
