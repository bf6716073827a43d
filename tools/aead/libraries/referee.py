"""The other end of the referee's pipes (src/pipe.rs says what goes through them), for implementations that Python has.

All buffers are the referee's memory, and behind each is a page that nobody may touch."""

import mmap
import os
import struct
import sys

IN_PLACE, TAG_BEHIND, WHOLE, MEMORY = 1, 32, 256, 512
AES_GCM_SIV = 2
TAGS = 1 << 4 | 1 << 8 | 0x1F << 12


class Question:
    """`key`, `nonce` and `aad` are bytes to read; `texts` are pieces (of one unless `pieces`) that go to `outs`. `tag` is written if it `seals`, and read
    if not. `given` and `made` are the whole text with the tag behind it, whichever of them has one (TAG_BEHIND)."""


def mapped(name):
    with open(os.path.join(os.environ["REFEREE_MEMORY"], name), "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0))


def serve(name, version, message, *, offers=WHOLE, keys=7, tags=1 << 16, nonces=(12, 12), block=0, algorithm=0):
    """Answers questions with `message(question)`, which says whether it is done."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    memory = [mapped(name) for name in ["key", "nonce", "AAD", "input", "output", "tag"]]
    line = "|".join(map(str, [name, version, offers | MEMORY, keys, tags, *nonces, block, algorithm]))
    sink.write(line.encode() + b"\n")
    sink.flush()
    while head := source.read(36):
        seals, pieces, key, nonce, aad, text, tag, number, aads = struct.unpack("<9I", head)
        cuts = struct.unpack(f"<{number}I", source.read(4 * number)) if number else ()
        *places, shared = struct.unpack("<7I", source.read(28))
        behind = tag if offers & TAG_BEHIND else 0
        q = Question()
        q.seals, q.pieces = seals, pieces
        q.key, q.nonce, q.aad = (memory[i][places[i] :][:length] for i, length in enumerate([key, nonce, aad]))
        q.given = memory[4 if shared else 3][places[3] :][: text + (0 if seals else behind)]
        q.made = memory[4][places[4] :][: text + (behind if seals else 0)]
        q.tag = (q.made if seals else q.given)[text:] if behind else memory[5][places[5] :][:tag]
        q.aads = cut(q.aad, cuts[:aads]) if pieces else [q.aad]
        q.texts, q.outs = (cut(data, cuts[aads:]) if pieces else [data[:text]] for data in [q.given, q.made])
        sink.write(b"\1" if message(q) else b"\0")
        sink.flush()


def cut(data, lengths):
    pieces, at = [], 0
    for length in lengths:
        pieces.append(data[at : at + length])
        at += length
    return pieces
