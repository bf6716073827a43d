"""One sealed file, many workers: jobs for Dask, Spark, or any engine that runs a function for each number.

A `Sealing` cuts a file into parts of whole chunks, which workers seal in any order into one Cobblestone file. An `Opening` opens such a file. A job
holds no key, only the place where workers find it (`EnvironmentKey`, `FileKey`, `FunctionKey`). So no key gets into an engine's graphs, event logs and
temporary files.

>>> import os, tempfile
>>> from fastgcm import jobs
>>> folder = tempfile.mkdtemp()
>>> text, sealed, opened = (os.path.join(folder, name) for name in ("text", "sealed", "opened"))
>>> _ = open(text, "wb").write(b"a secret" * 100_000)
>>> os.environ["KEY_OF_THE_EXAMPLE"] = os.urandom(32).hex()                       # on each worker
>>> key = jobs.EnvironmentKey("KEY_OF_THE_EXAMPLE")
>>> job = jobs.Sealing.begin(key, text, sealed, part=10 * jobs.CHUNK)
>>> job.finish([job.run(i) for i in range(job.parts)])                            # or jobs.on_dask(client, job), jobs.on_spark(context, job)
>>> job = jobs.Opening.begin(key, sealed, opened, part=10 * jobs.CHUNK)
>>> job.finish([job.run(i) for i in range(job.parts)])
>>> open(opened, "rb").read() == open(text, "rb").read()
True
"""

import contextlib
import errno
import hashlib
import hmac
import importlib
import operator
import os
import secrets
import shutil
from dataclasses import dataclass
from typing import Any, Callable, Iterable, TypeAlias

from ._fastgcm import in_place, publish
from .exceptions import InvalidTag, OtherText
from .files import StrPath, refusal
from .hazmat import CobblestoneChunks

__all__ = ["CHUNK", "EnvironmentKey", "FileKey", "FunctionKey", "Opening", "OtherText", "Sealing", "key_of", "on_dask", "on_spark"]

Receipts: TypeAlias = Iterable[tuple[int, str]]

CHUNK = 16384
TAG = 16
HEADER = 56
RECEIPT = "receipt"
SLICE = 64  # chunks that are read at a time


@dataclass(frozen=True)
class EnvironmentKey:
    """The key is, in hex, in this variable of each worker's environment."""

    name: str

    def __call__(self) -> bytes:
        return _of_hex(os.environ.get(self.name), f"the environment variable {self.name}")


@dataclass(frozen=True)
class FileKey:
    """The key is, in hex, in this file on each worker, for example a mounted secret."""

    path: str

    def __call__(self) -> bytes:
        with open(self.path) as file:
            return _of_hex(file.read(), self.path)


@dataclass(frozen=True)
class FunctionKey:
    """The name of a function that returns the key: `"package.module:function"`, which each worker can import. The function may ask a KMS, for example.

    It is a name, because a function that is defined in a notebook is pickled whole, including a key that is written in it.
    """

    name: str

    def __call__(self) -> bytes:
        module, colon, function = self.name.partition(":")
        found: object = importlib.import_module(module)
        for name in function.split("."):
            found = getattr(found, name)
        key = found() if callable(found) else None
        if not isinstance(key, bytes) or len(key) not in (16, 32):
            raise ValueError(f"the function {self.name} returned no key of 16 or 32 bytes")
        return key


Key: TypeAlias = EnvironmentKey | FileKey | FunctionKey | str


def key_of(key: Key | None) -> EnvironmentKey | FileKey | FunctionKey:
    """Returns where a key is, from one of these or from a text: `"environment:NAME"`, `"file:PATH"`, `"function:MODULE:NAME"`. It is never the key itself."""
    if isinstance(key, (EnvironmentKey, FileKey, FunctionKey)) and type(key).__module__ == __name__:  # no notebook's class: it is pickled whole
        return key
    kinds: dict[str, Callable[[str], EnvironmentKey | FileKey | FunctionKey]]
    kinds = {"environment": EnvironmentKey, "file": FileKey, "function": FunctionKey}
    kind, colon, rest = key.partition(":") if isinstance(key, str) else ("", "", "")
    if kind not in kinds or not rest:  # and the error does not repeat what may be a key
        raise ValueError("key says where the key is, and is not the key: 'environment:NAME', 'file:PATH', 'function:MODULE:NAME', or one of the classes")
    return kinds[kind](rest)


def _of_hex(text: str | None, where: str) -> bytes:
    try:
        key = bytes.fromhex(text or "")
    except ValueError:
        key = b""
    if len(key) not in (16, 32):  # and the error says nothing of what was found
        raise ValueError(f"{where} has no key of 16 or 32 bytes in hex")
    return key


class _Staged:
    """A folder beside the target, in which workers build the target."""

    target: str
    stage: str

    def abandon(self) -> None:
        """Removes what the workers have written. The target does not appear."""
        # Workers that still run no longer find the folder, and put nothing new into it while it is being removed.
        gone = f"{self.stage}.gone"
        with contextlib.suppress(OSError):  # it was renamed before, by a call that was interrupted
            os.rename(self.stage, gone)
        for folder in (gone, self.stage):
            for _ in range(3):
                shutil.rmtree(folder, ignore_errors=True)
                if not os.path.exists(folder):
                    break

    def _body(self) -> str:
        return os.path.join(self.stage, "body")

    def _write(self, at: int, data: bytes | bytearray) -> None:
        file = os.open(self._body(), os.O_WRONLY | os.O_CLOEXEC)
        try:
            view = memoryview(data)
            while view:
                written = os.pwrite(file, view, at)
                view, at = view[written:], at + written
            os.fsync(file)
        finally:
            os.close(file)

    def _publish(self, overwrite: bool) -> None:
        publish(self._body(), self.target, overwrite)
        self.abandon()

    def _claim(self, index: int, receipt: str) -> None:
        """Keeps the first claim to a part, whole or not at all.

        A claim is a folder with the receipt in it. On each file system a folder can be renamed at once and whole, and never to the name of a folder that
        has something in it. (Not each has hard links, or another way to rename a file to a name that must be free.)
        """
        claim = os.path.join(self.stage, str(index))
        mine = f"{claim}.{secrets.token_hex(8)}"
        try:
            os.mkdir(mine, 0o700)
            with open(os.path.join(mine, RECEIPT), "x") as file:
                file.write(receipt)
                file.flush()
                os.fsync(file.fileno())
            in_place(file.name)
            os.rename(mine, claim)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            if not hmac.compare_digest(self._claimed(index), receipt):
                raise OtherText(f"part {index} of {self.target} has another text than before") from None
        finally:
            shutil.rmtree(mine, ignore_errors=True)
        in_place(claim)  # also one that somebody else made: a crash may have come before its name was on the disk

    def _claimed(self, index: int) -> str:
        with open(os.path.join(self.stage, str(index), RECEIPT)) as file:
            return file.read()


@dataclass(frozen=True)
class _Job(_Staged):
    """What all workers of one attempt know. Engines pickle it; it is not secret.

    `key` is called on workers, and returns 16 or 32 bytes. `source` and `target` are paths that all workers reach. `length` is the length of the text.
    """

    key: Callable[[], bytes]
    source: str
    target: str
    context: bytes
    salt: bytes
    length: int
    chunks: int
    stage: str

    @property
    def parts(self) -> int:
        """The number of parts: `run` takes each number below it."""
        return (self.length // CHUNK + self.chunks) // self.chunks

    def _range(self, index: int) -> tuple[int, int, bool]:
        """Returns the first chunk of a part, the chunk behind the part, and whether it is the last part."""
        first = index * self.chunks
        return first, min(first + self.chunks, self.length // CHUNK + 1), index == self.parts - 1

    def _cipher(self) -> CobblestoneChunks:
        return CobblestoneChunks(self.key(), self.context, self.salt)


def _stage(target: str) -> str:
    """Makes a new folder beside the target that only its owner may use."""
    stage = f"{target}.{secrets.token_hex(8)}.partial"
    try:
        os.mkdir(stage, 0o700)
        os.close(os.open(os.path.join(stage, "body"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    return stage


def _number_of(index: int, parts: int) -> int:
    """Returns the number of a part as an `int` and nothing else: the names of claims contain it, and would call `True` 1."""
    number = int(operator.index(index))
    if not 0 <= number < parts:
        raise IndexError(f"the job has {parts} parts")
    return number


def _chunks_of(part: int) -> int:
    part = operator.index(part)
    if part <= 0:
        raise ValueError("part must be a number of bytes, and not 0")
    return max(1, part // CHUNK)


@dataclass(frozen=True)
class Sealing(_Job):
    """Seals `source` as the Cobblestone file `target`."""

    @classmethod
    def begin(cls, key: Key, source: StrPath, target: StrPath, *, context: bytes = b"", part: int = 64 << 20) -> "Sealing":
        """Begins a new attempt, with a new salt. `key` is what `key_of` takes. Parts have `part` bytes, rounded down to whole chunks of 16,384, at least one.

        Another driver does not resume a job that failed: the job starts again with `begin`, which makes another salt.
        """
        found, source, target = key_of(key), os.path.abspath(source), os.path.abspath(target)
        bound, chunks, length = bytes(memoryview(context)), _chunks_of(part), os.stat(source).st_size
        return cls(found, source, target, bound, CobblestoneChunks.generate_salt(), length, chunks, _stage(target))

    def run(self, index: int) -> tuple[int, str]:
        """Seals a part, on any worker, as often as the engine likes. Returns the part's receipt. It uses memory for one sealed part and 1 MiB.

        The tags of a part's chunks are a digest of its text; without the key nobody can make two texts with one digest. The first attempt leaves a hash
        of the tags, and only then writes. A later attempt with another digest raises `OtherText`, and writes nothing: two texts under one nonce give
        each other away.
        """
        index = _number_of(index, self.parts)
        first, behind, last = self._range(index)
        cipher, sealed, digest = self._cipher(), bytearray(), hashlib.sha256(self.salt + index.to_bytes(8))
        with open(self.source, "rb", buffering=0) as source:
            for chunk in range(first, behind, SLICE):
                ends = last and chunk + SLICE >= behind
                stop = self.length if ends else min(chunk + SLICE, behind) * CHUNK
                text = _read(source, chunk * CHUNK, stop + ends)
                if len(text) != stop - chunk * CHUNK:
                    raise OtherText(f"{self.source} had {self.length} bytes when the job began, and has not now")
                piece = cipher.seal(chunk, text, last=ends)
                for end in range(CHUNK + TAG, len(piece) + CHUNK + TAG, CHUNK + TAG):
                    digest.update(piece[min(end, len(piece)) - TAG : end])
                sealed += piece
        receipt = digest.hexdigest()
        self._claim(index, receipt)
        self._write(HEADER + first * (CHUNK + TAG), sealed)
        return index, receipt

    def finish(self, receipts: Receipts, *, overwrite: bool = False) -> None:
        """Puts the file into its place, when each part has its receipt. The target appears whole. Raises `FileExistsError` if the target exists."""
        of_parts = dict(receipts)
        if set(of_parts) != set(range(self.parts)):
            raise ValueError("parts are missing: the job has not run to its end")
        for index, receipt in of_parts.items():
            if not hmac.compare_digest(self._claimed(index), receipt):
                raise OtherText(f"part {index} has another receipt than the one that was claimed")
        self._write(0, self._cipher().header)
        size = HEADER + self.length + (self.length // CHUNK + 1) * TAG
        if os.stat(self._body()).st_size != size:
            raise ValueError(f"the sealed file has not the {size} bytes that it must have")
        self._publish(overwrite)


@dataclass(frozen=True)
class Opening(_Job):
    """Opens the Cobblestone file `source` as `target`, which appears when all of it was verified."""

    @classmethod
    def begin(cls, key: Key, source: StrPath, target: StrPath, *, context: bytes = b"", part: int = 64 << 20) -> "Opening":
        """Reads the header, on a driver that also has the key. Raises `InvalidTag` if the header does not belong to key and context."""
        found, source, target = key_of(key), os.path.abspath(source), os.path.abspath(target)
        bound, chunks = bytes(memoryview(context)), _chunks_of(part)
        with open(source, "rb") as file:
            header = file.read(HEADER)
            body = os.fstat(file.fileno()).st_size - HEADER
        whole, rest = divmod(body, CHUNK + TAG)
        if body < 0 or rest < TAG:
            raise refusal(found(), bound, source)
        salt = header[:24]
        if not hmac.compare_digest(CobblestoneChunks(found(), bound, salt).header, header):
            raise refusal(found(), bound, source)
        return cls(found, source, target, bound, salt, whole * CHUNK + rest - TAG, chunks, _stage(target))

    def run(self, index: int) -> tuple[int, str]:
        """Opens a part, on any worker. Raises `InvalidTag` unless each chunk is what was sealed there."""
        index = _number_of(index, self.parts)
        first, behind, last = self._range(index)
        cipher = self._cipher()
        with open(self.source, "rb", buffering=0) as source:
            for chunk in range(first, behind, SLICE):
                ends = last and chunk + SLICE >= behind
                start = HEADER + chunk * (CHUNK + TAG)
                stop = HEADER + self.length + (self.length // CHUNK + 1) * TAG if ends else HEADER + min(chunk + SLICE, behind) * (CHUNK + TAG)
                try:
                    text = cipher.open(chunk, _read(source, start, stop), last=ends)
                except InvalidTag:
                    raise InvalidTag(f"{self.source} was changed or cut: part {index} is not what was sealed") from None
                self._write(chunk * CHUNK, text)
        return index, ""

    def finish(self, receipts: Receipts, *, overwrite: bool = False) -> None:
        """Puts the text into its place, when each part was opened. Raises `FileExistsError` if the target exists."""
        if set(dict(receipts)) != set(range(self.parts)):
            raise ValueError("parts are missing: the job has not run to its end")
        self._publish(overwrite)


def _read(file: Any, start: int, stop: int) -> bytes:
    """Returns these bytes, or fewer if the file ends before."""
    pieces = []
    while start < stop and (piece := os.pread(file.fileno(), stop - start, start)):
        pieces.append(piece)
        start += len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def on_dask(client: Any, job: Sealing | Opening, *, retries: int = 3, overwrite: bool = False) -> None:
    """Runs a job on a cluster of Dask, a task for each part. If it fails, nothing is left of it."""
    _to_its_end(job, lambda: client.gather(client.map(job.run, range(job.parts), pure=False, retries=retries)), overwrite)


def on_spark(context: Any, job: Sealing | Opening, *, overwrite: bool = False) -> None:
    """Runs a job on a cluster of Spark (`spark.sparkContext`), a task for each part. If it fails, nothing is left of it."""
    _to_its_end(job, lambda: context.parallelize(range(job.parts), max(1, job.parts)).map(job.run).collect(), overwrite)


def _to_its_end(job: Any, run: Callable[[], Any], overwrite: bool) -> None:
    try:
        job.finish(run(), overwrite=overwrite)
    except BaseException:
        job.abandon()
        raise
