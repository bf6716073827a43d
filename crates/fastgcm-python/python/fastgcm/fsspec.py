"""Sealed files for programs that use fsspec: `fastgcm::file://`, `fastgcm::s3://`, or any other file system behind `fastgcm`.

Each file is one Cobblestone file. A range is read from the chunks that contain it, and each chunk is verified. Opening a file verifies its length and
its end. A file appears when it is complete, and not at all after an exception. A file system holds no key, only the place of the key. So the key never
gets into a pickle, a task graph or a log.

>>> import os, tempfile
>>> import fsspec
>>> os.environ["KEY_OF_THE_EXAMPLE"] = os.urandom(32).hex()                       # on each worker
>>> url = f"fastgcm::file://{tempfile.mkdtemp()}/table.csv"
>>> with fsspec.open(url, "wb", key="environment:KEY_OF_THE_EXAMPLE") as file:
...     _ = file.write(b"a,b\\n1,2\\n")
>>> with fsspec.open(url, "rb", key="environment:KEY_OF_THE_EXAMPLE") as file:
...     file.read()
b'a,b\\n1,2\\n'
"""

import hmac
import io
import os
import re
import secrets
import sys
import warnings
from typing import Any

from fsspec import filesystem  # type: ignore[import-untyped]
from fsspec.implementations.chained import ChainedFileSystem  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]
from fsspec.spec import AbstractBufferedFile  # type: ignore[import-untyped]
from fsspec.utils import stringify_path  # type: ignore[import-untyped]

from .cobblestone import Cobblestone128Encryptor, Cobblestone256Encryptor
from .exceptions import InvalidTag
from .files import Appearing
from .hazmat import CobblestoneChunks
from .jobs import CHUNK, HEADER, TAG, EnvironmentKey, FileKey, FunctionKey, Key, key_of

__all__ = ["EnvironmentKey", "FileKey", "FunctionKey", "SealedFileSystem"]

PARTIAL = re.compile(r"(.*/)?\.[^/]+\.[0-9a-f]{16}\.partial")
# Files of these protocols appear by themselves, at once and whole, when `commit` says so.
MULTIPART = {"s3", "s3a"}


def text_length(sealed: int) -> int | None:
    """Returns the length of the text of a sealed file, or `None` if no sealed file has that length."""
    whole, rest = divmod(sealed - HEADER, CHUNK + TAG)
    return whole * CHUNK + rest - TAG if sealed >= HEADER and rest >= TAG else None


class SealedFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """The files of another file system, sealed.

    `key` says where the key is, and is never the key itself: `EnvironmentKey`, `FileKey` or `FunctionKey`, or one of the texts `"environment:NAME"`,
    `"file:PATH"` and `"function:MODULE:NAME"`. Each process that opens a file asks there, on its own machine. `context` binds files to their purpose.
    `fs`, or `target_protocol` and `target_options`, is the file system behind this one.

    Names, lengths and times are not sealed. `info` and `ls` return the length of the text, which follows from the length of the file; opening the file
    verifies it.
    """

    protocol = "fastgcm"

    def __init__(
        self,
        key: Key | None = None,
        context: bytes | str = b"",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._key = key_of(key)
        self.context = context.encode() if isinstance(context, str) else bytes(memoryview(context))
        if (fs is None) == (target_protocol is None):
            raise ValueError("the file system behind it is missing, or there are two: fastgcm::file://PATH, or fs=, or target_protocol=")
        self.fs = filesystem(target_protocol, **(target_options or {})) if fs is None else fs
        # Strips the protocols of this file system and of the one behind it; `_strip_protocol` of the class cannot know the latter.
        self._strip_protocol = self._stripped

    def _stripped(self, path: Any) -> Any:
        if isinstance(path, (list, tuple)):
            return [self._stripped(one) for one in path]
        path = stringify_path(path)
        for prefix in ("fastgcm::", "fastgcm://"):
            path = path.removeprefix(prefix)
        return self.fs._strip_protocol(path)

    def _parent(self, path: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.fs._parent(self._stripped(path))

    def unstrip_protocol(self, name: str) -> str:
        return f"fastgcm://{self._stripped(name)}"  # DuckDB takes no chains

    # What is listed.

    def _seen(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"size": text_length(info["size"]), "sealed_size": info["size"]} if info["type"] == "file" else info

    def info(self, path: Any, **options: Any) -> Any:
        return self._seen(self.fs.info(self._stripped(path), **options))

    def ls(self, path: Any, detail: bool = True, **options: Any) -> Any:
        found = [self._seen(info) for info in self.fs.ls(self._stripped(path), detail=True, **options) if not PARTIAL.fullmatch(info["name"])]
        return found if detail else [info["name"] for info in found]

    def find(self, path: Any, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **options: Any) -> Any:
        every = self.fs.find(self._stripped(path), maxdepth=maxdepth, withdirs=withdirs, detail=True, **options)
        found = {name: self._seen(info) for name, info in every.items() if not PARTIAL.fullmatch(name)}
        return found if detail else list(found)

    def exists(self, path: Any, **options: Any) -> Any:
        return self.fs.exists(self._stripped(path), **options)

    def isfile(self, path: Any) -> Any:
        return self.fs.isfile(self._stripped(path))

    def isdir(self, path: Any) -> Any:
        return self.fs.isdir(self._stripped(path))

    def created(self, path: Any) -> Any:
        return self.fs.created(self._stripped(path))

    def modified(self, path: Any) -> Any:
        return self.fs.modified(self._stripped(path))

    def invalidate_cache(self, path: Any = None) -> None:
        self.fs.invalidate_cache(path if path is None else self._stripped(path))

    # What happens to whole files, which stay as they are sealed.

    def mkdir(self, path: Any, create_parents: bool = True, **options: Any) -> None:
        self.fs.mkdir(self._stripped(path), create_parents=create_parents, **options)

    def makedirs(self, path: Any, exist_ok: bool = False) -> None:
        self.fs.makedirs(self._stripped(path), exist_ok=exist_ok)

    def rmdir(self, path: Any) -> None:
        self.fs.rmdir(self._stripped(path))

    def rm_file(self, path: Any) -> None:
        self.fs.rm_file(self._stripped(path))

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        self.fs.rm(self._stripped(path), recursive=recursive, maxdepth=maxdepth)

    def cp_file(self, path1: Any, path2: Any, **options: Any) -> None:
        self.fs.cp_file(self._stripped(path1), self._stripped(path2), **options)

    def mv(self, path1: Any, path2: Any, **options: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.fs.mv(self._stripped(path1), self._stripped(path2), **options)

    # What is inside.

    def _sealed(self, path: Any) -> "_Sealed":
        try:
            return _Sealed(self, path)
        except InvalidTag:
            # A cached listing (s3fs keeps listings) may have the length of an older file.
            self.fs.invalidate_cache(path)
            return _Sealed(self, path)

    def _open(
        self,
        path: Any,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        cache_type: str = "readahead",
        **options: Any,
    ) -> Any:
        path = self._stripped(path)
        if mode == "rb":
            return SealedReader(self, path, self._sealed(path), block_size, cache_type, cache_options)
        if mode not in ("wb", "xb"):
            raise NotImplementedError(f"a sealed file is read, or written anew: no mode {mode!r}")
        return SealedWriter(self, path, mode, block_size, autocommit)

    def cat_file(self, path: Any, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        return self._of(self._sealed(self._stripped(path)), start, end)

    def cat_ranges(self, paths: Any, starts: Any, ends: Any, max_gap: int | None = None, on_error: str = "return", **options: Any) -> list[Any]:
        opened: dict[str, _Sealed] = {}
        starts, ends = ([one] * len(paths) if not isinstance(one, (list, tuple)) else one for one in (starts, ends))
        out: list[Any] = []
        for path, start, end in zip(paths, starts, ends, strict=True):
            try:
                path = self._stripped(path)
                if path not in opened:
                    opened[path] = self._sealed(path)
                out.append(self._of(opened[path], start, end))
            except Exception as error:
                if on_error != "return":
                    raise
                out.append(error)
        return out

    @staticmethod
    def _of(sealed: "_Sealed", start: int | None, end: int | None) -> bytes:
        begin, behind, _ = slice(start, end).indices(sealed.length)
        return sealed.read(begin, behind)


class _Sealed:
    """A sealed file whose header and end were verified. It holds keys that were derived from the key, and is never pickled."""

    def __init__(self, fs: SealedFileSystem, path: str) -> None:
        self.fs, self.path = fs.fs, path
        self.size = self.fs.info(path)["size"]
        length = text_length(self.size)
        if length is None:
            raise self._refused()
        self.length: int = length
        self.whole = length // CHUNK
        header = self.fs.cat_file(path, start=0, end=HEADER)
        self.cipher = CobblestoneChunks(fs._key(), fs.context, header[:24].ljust(24))
        if not hmac.compare_digest(self.cipher.header, header):
            raise self._refused()
        # Only the last chunk proves that nothing is missing.
        self.end = self._chunks(self.whole, self.whole + 1)

    def _refused(self) -> Exception:
        error = InvalidTag("no sealed file, or one of another key or context, or it was changed or cut")
        error.add_note(f"{self.path} is not what was sealed with this key and context")
        return error

    def _chunks(self, first: int, behind: int) -> bytes:
        start, last = HEADER + first * (CHUNK + TAG), behind > self.whole
        stop = self.size if last else HEADER + behind * (CHUNK + TAG)
        sealed = self.fs.cat_file(self.path, start=start, end=stop)
        if len(sealed) != stop - start:
            raise self._refused()
        try:
            return self.cipher.open(first, sealed, last=last)
        except InvalidTag:
            raise self._refused() from None

    def read(self, start: int, end: int) -> bytes:
        """Returns the text of this range, from verified chunks."""
        end = min(end, self.length)
        if start >= end:
            return b""
        first, behind = start // CHUNK, -(-end // CHUNK)
        text = self.end if first == self.whole else self._chunks(first, behind)
        return text[start - first * CHUNK : end - first * CHUNK]


class SealedReader(AbstractBufferedFile):  # type: ignore[misc]
    """A sealed file that is read. Its pickle holds its file system, its name and the position in it."""

    def __init__(self, fs: Any, path: str, sealed: _Sealed, block_size: int | None, cache_type: str, cache_options: dict[str, Any] | None) -> None:
        self._sealed = sealed
        size: Any = block_size
        super().__init__(fs, path, "rb", size, cache_type=cache_type, cache_options=cache_options, size=sealed.length)

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self._sealed.read(start, end)

    def readline(self, size: int | None = -1) -> bytes:
        """Does what the base class does, which copies a block of 5 MiB for each line."""
        line = bytes(self.readuntil(b"\n", CHUNK // 4))
        if size is not None and 0 <= size < len(line):
            self.seek(self.loc - len(line) + size)
            line = line[:size]
        return line


class SealedWriter(io.RawIOBase):
    """A sealed file that is written. It appears when it is closed, unless an exception was raised meanwhile.

    `close` sees an exception that passes through a `with`, a `finally` or an `except`, if it was raised after the file was opened. A file that nobody
    closes does not appear either. In a transaction of fsspec the file appears together with the other files.
    """

    def __init__(self, fs: SealedFileSystem, path: str, mode: str, block_size: int | None, autocommit: bool) -> None:
        self._target: _Renamed | _Multipart | _Moved | None = None
        self._failed, self._came_before = False, sys.exception()
        self.fs, self.path, self.mode, self.autocommit, self.loc = fs, path, mode, autocommit, 0
        exclusive = mode == "xb"
        if exclusive and fs.fs.exists(path):
            raise FileExistsError(path)
        key = fs._key()
        sealer = (Cobblestone128Encryptor if len(key) == 16 else Cobblestone256Encryptor)(key, fs.context)
        behind = fs.fs
        if isinstance(behind, LocalFileSystem):
            self._target = _Renamed(behind, path, exclusive)
        elif not MULTIPART.isdisjoint([behind.protocol] if isinstance(behind.protocol, str) else behind.protocol):
            self._target = _Multipart(behind, path, mode, block_size)
        else:
            self._target = _Moved(behind, path, exclusive)
        self._sealer = sealer

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.loc

    def write(self, data: Any) -> int:
        if self.closed or self._target is None:
            raise ValueError("I/O operation on closed file.")
        try:
            self._target.write(self._sealer.update(data))
        except BaseException:
            self._failed = True
            raise
        length = memoryview(data).nbytes
        self.loc += length
        return length

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        came = sys.exception()
        if self._failed or came is not self._came_before and came is not None:
            self.discard()
            if came is None:
                raise OSError(f"{self.path} was not written: a write to it has failed")
            warnings.warn(f"{self.path} was not written: {type(came).__name__} came before it was closed", RuntimeWarning, stacklevel=2)
            return
        try:
            if self._target is not None:
                self._target.write(self._sealer.finalize())
                self._target.finish()
                if self.autocommit:
                    self.commit()
        except BaseException:
            self.discard()
            raise

    def commit(self) -> None:
        """Makes the file appear. `close` calls this, or the end of a transaction."""
        if self._target is not None:
            self._target.commit()
            self._target = None
            self.fs.invalidate_cache(self.path)
            self.fs.invalidate_cache(self.fs._parent(self.path))

    def discard(self) -> None:
        """Discards the file: nothing appears, and nothing is left."""
        target, self._target = self._target, None
        if target is not None:
            target.discard()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self.discard()
            super().close()
        else:
            self.close()

    def __del__(self) -> None:
        if not self.closed:
            try:
                self.discard()
            finally:
                super().close()

    def __reduce__(self) -> Any:
        raise TypeError("a file that is written cannot be pickled")

    def __repr__(self) -> str:
        return f"<SealedWriter {self.path}>"


def _partial(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.{secrets.token_hex(8)}.partial"


class _Renamed(Appearing):
    """A file on this machine: it is written under another name in its folder, put on the disk, and then renamed."""

    def __init__(self, fs: Any, path: str, exclusive: bool) -> None:
        if fs.auto_mkdir and not os.path.isdir(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        super().__init__(path, exclusive)


class _Multipart:
    """An object in S3: an upload in parts, which `commit` completes. An upload that is neither completed nor aborted stays in the bucket as an upload."""

    def __init__(self, fs: Any, path: str, mode: str, block_size: int | None) -> None:
        self.fs, self.path, self.exclusive = fs, path, mode == "xb"
        self.file = fs.open(path, mode, block_size=max(block_size, 5 << 20) if block_size else None, autocommit=False)

    def write(self, sealed: bytes) -> None:
        self.file.write(sealed)

    def finish(self) -> None:
        self.file.close()

    def commit(self) -> None:
        if self.exclusive:  # some servers, like Ceph's, overlook the condition of an upload
            self.fs.invalidate_cache(self.fs._parent(self.path))
            if self.fs.exists(self.path):
                raise FileExistsError(self.path)
        self.file.commit()

    def discard(self) -> None:
        self.file.closed = True  # so that it uploads nothing more
        if not sys.is_finalizing():  # when the thread has ended that would abort it
            self.file.discard()


class _Moved:
    """A file in any other file system: it is written under another name, and then moved, as atomically as that file system can."""

    def __init__(self, fs: Any, path: str, exclusive: bool) -> None:
        self.fs, self.path, self.exclusive, self.partial = fs, path, exclusive, _partial(path)
        self.file = fs.open(self.partial, "wb")

    def write(self, sealed: bytes) -> None:
        self.file.write(sealed)

    def finish(self) -> None:
        self.file.close()

    def commit(self) -> None:
        if self.exclusive and self.fs.exists(self.path):
            raise FileExistsError(self.path)
        self.fs.mv(self.partial, self.path)

    def discard(self) -> None:
        self.file.close()
        self.fs.rm_file(self.partial)
