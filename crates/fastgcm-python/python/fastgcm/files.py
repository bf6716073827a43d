"""Seals and opens whole files. A file appears complete, or not at all.

>>> import os, tempfile
>>> from fastgcm import open_file, seal_file
>>> folder, key = tempfile.mkdtemp(), os.urandom(32)
>>> text, sealed, opened = (os.path.join(folder, name) for name in ("text", "text.sealed", "opened"))
>>> _ = open(text, "wb").write(b"a secret" * 100_000)
>>> seal_file(key, text, sealed, context=b"text")
>>> open_file(key, sealed, opened, context=b"text")
>>> open(opened, "rb").read() == open(text, "rb").read()
True
"""

import contextlib
import os
import secrets
from typing import TypeAlias

from ._fastgcm import place, publish
from .cobblestone import Cobblestone128Decryptor, Cobblestone128Encryptor, Cobblestone256Decryptor, Cobblestone256Encryptor
from .exceptions import InvalidTag
from .hazmat import CobblestoneChunks

__all__ = ["open_file", "seal_file"]

StrPath: TypeAlias = str | os.PathLike[str]
PIECE = 1 << 20
HEADER = 56


def seal_file(key: bytes, source: StrPath, target: StrPath, *, context: bytes = b"", overwrite: bool = False) -> None:
    """Seals the file `source` as the Cobblestone file `target`: Cobblestone-256 with a key of 32 bytes, Cobblestone-128 with 16.

    `context` binds the file to its purpose, for example its name. It is not stored, and opening needs it again. The target appears when it is complete
    and on the disk. Raises `FileExistsError` if the target exists, unless `overwrite` is true: then it replaces the target. The function uses 1 MiB of
    memory.
    """
    cobblestone = Cobblestone128Encryptor if len(key) == 16 else Cobblestone256Encryptor
    _through(cobblestone(key, context), source, target, overwrite, 0o666)


def open_file(key: bytes, source: StrPath, target: StrPath, *, context: bytes = b"", overwrite: bool = False) -> None:
    """Opens a file that `seal_file` has sealed. `target` appears when all of it was verified, and only its owner may read it. Raises `InvalidTag`, with
    a text that says what the reason may be, if anything differs from what was sealed. Raises `FileExistsError` if the target exists, unless `overwrite`
    is true: then it replaces the target.
    """
    cobblestone = Cobblestone128Decryptor if len(key) == 16 else Cobblestone256Decryptor
    try:
        _through(cobblestone(key, context), source, target, overwrite, 0o600)
    except InvalidTag:
        raise refusal(key, context, source) from None


def _through(
    stream: Cobblestone128Encryptor | Cobblestone128Decryptor | Cobblestone256Encryptor | Cobblestone256Decryptor,
    source: StrPath,
    target: StrPath,
    overwrite: bool,
    mode: int,
) -> None:
    with open(source, "rb", buffering=0) as pieces:
        appearing = Appearing(os.fspath(target), exclusive=not overwrite, mode=mode)
        try:
            while piece := pieces.read(PIECE):
                appearing.write(stream.update(piece))
            appearing.write(stream.finalize())
            appearing.finish()
            appearing.commit()
        except BaseException:
            appearing.discard()
            raise


def refusal(key: bytes, context: bytes, source: StrPath) -> InvalidTag:
    """Returns the `InvalidTag` of a whole file, with a text that says what the reason may be."""
    name = os.fspath(source)
    with open(source, "rb", buffering=0) as file:
        header = file.read(HEADER)
    if len(header) < HEADER:
        return InvalidTag(f"{name} is no sealed file: it is shorter than the header of one")
    if CobblestoneChunks(key, context, header[:24]).header != header:
        return InvalidTag(f"{name} was sealed with another key or another context, or is no sealed file")
    return InvalidTag(f"{name} was changed or cut after it had been sealed: key and context are right")


def partial(path: str) -> str:
    """Returns a name in the folder of `path` that nobody else has."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{secrets.token_hex(8)}.partial")


class Appearing:
    """A file on this machine that is written under another name in its folder, and then renamed. A link stays, and its target is replaced."""

    def __init__(self, path: str, exclusive: bool, mode: int = 0o666) -> None:
        if os.path.isdir(path):
            raise IsADirectoryError(path)
        if exclusive and os.path.lexists(path):
            raise FileExistsError(path)
        self.path, self.exclusive = place(path), exclusive
        self.partial = partial(self.path)
        try:
            self.file = open(self.partial, "xb", buffering=1 << 18, opener=lambda name, flags: os.open(name, flags, mode))
        except BaseException:  # an interrupt may come when the file is there already
            with contextlib.suppress(OSError):
                os.unlink(self.partial)
            raise

    def write(self, sealed: bytes) -> None:
        self.file.write(sealed)

    def finish(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def commit(self) -> None:
        publish(self.partial, self.path, not self.exclusive)

    def discard(self) -> None:
        with contextlib.suppress(OSError):  # the disk is full, say
            self.file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.partial)
