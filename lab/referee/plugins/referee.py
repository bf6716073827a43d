"""The other end of the referee's pipes (src/pipe.rs says what goes through them), for implementations that Python has."""

import struct
import sys

IN_PLACE, WHOLE = 1, 256
TAGS = 1 << 4 | 1 << 8 | 0x1F << 12


def serve(name, version, message, *, offers=WHOLE, keys=7, tags=1 << 16, nonces=(12, 12), block=0):
    """Answers questions with `message(seals, key, nonce, aads, texts, tag, pieces)`: the text, and if it seals the tag; None if refused.

    `aads` and `texts` are lists of pieces (of one piece each unless `pieces`); `tag` is an int, the length, if it seals, else the tag.
    """
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    line = "|".join(map(str, [name, version, offers, keys, tags, *nonces, block]))
    sink.write(line.encode() + b"\n")
    sink.flush()
    while head := source.read(36):
        seals, pieces, *lengths, number, aad_number = struct.unpack("<9I", head)
        cuts = struct.unpack(f"<{number}I", source.read(4 * number))
        key, nonce, aad, text = (source.read(length) for length in lengths[:4])
        tag = lengths[4] if seals else source.read(lengths[4])
        if pieces:
            aads, texts = cut(aad, cuts[:aad_number]), cut(text, cuts[aad_number:])
        else:
            aads, texts = [aad], [text]
        answer = message(seals, key, nonce, aads, texts, tag, pieces)
        sink.write(b"\0" if answer is None else b"\1" + b"".join(answer))
        sink.flush()


def cut(data, lengths):
    pieces, at = [], 0
    for length in lengths:
        pieces.append(data[at : at + length])
        at += length
    return pieces
