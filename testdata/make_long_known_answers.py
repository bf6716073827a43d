#!/usr/bin/env python3
"""Known answers for long messages, which no published set has: CAVP ends at 51 bytes, Wycheproof at 513.

    make_long_known_answers.py                    rebuild long_known_answers.txt beside this file
    make_long_known_answers.py --check            write nothing, but fail unless the committed file has just these bytes

Needs pip's `cryptography` (OpenSSL) and `pycryptodome` (C code of its own), and Cargo for an example of crates/fastgcm/interop that asks `ring`
(BoringSSL's lineage). OpenSSL and PyCryptodome answer everything, ring what it can: AES-128 and AES-256 with nonces of 12 bytes. An answer
is written only where all of them agree, and none of them is ours.

For each size of the key (16, 24, 32 bytes) and of the nonce (12 and 21: the counter is public, or starts at a GHASH) the messages have
every length from 0 to 4,112, then 2^k - 1, 2^k and 2^k + 1 for k = 13 ... 24. Message i, counted from 0, is made of

    key      the first bytes of SHA-256("key")
    nonce    the first bytes of SHA-256("nonce" || i), i as 4 bytes, little-endian
    aad      the first i mod 257 bytes of the stream
    text     the bytes of the stream from i mod 251 on

and the stream is SHA-256(0) || SHA-256(1) || ..., the numbers as 8 bytes, little-endian. What is written is the SHA-256 of all ciphertexts
and tags one after the other, twice: after the 4,113 short messages, and after all 4,149.
"""

import argparse
import hashlib
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ANSWERS = HERE / "long_known_answers.txt"
RING = "cargo run --quiet --release -p fastgcm-interop --example long_known_answers_ring".split()

KEYS = (16, 24, 32)
NONCES = (12, 21)
SHORT = 4113
LENGTHS = list(range(SHORT)) + [2**k + d for k in range(13, 25) for d in (-1, 0, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check

    by_ring = ring()
    stream = b"".join(hashlib.sha256(struct.pack("<Q", i)).digest() for i in range((LENGTHS[-1] + 251) // 32 + 1))
    lines = [
        f"# AES-GCM, {len(LENGTHS)} messages of up to 16 MiB for each line. Made by make_long_known_answers.py, which says of what.",
        f"# bytes of the key, of the nonce, SHA-256 after {SHORT} messages, after all",
    ]
    for key in KEYS:
        for nonce in NONCES:
            answers = {"OpenSSL": digests(openssl, key, nonce, stream), "PyCryptodome": digests(pycryptodome, key, nonce, stream)}
            if (key, nonce) in by_ring:
                answers["ring"] = by_ring[key, nonce]
            if len(set(answers.values())) != 1:
                sys.exit(f"key of {key}, nonce of {nonce}: they disagree: {answers}")
            print(f"key of {key}, nonce of {nonce}: {', '.join(answers)} agree", flush=True)
            lines.append(" ".join([str(key), str(nonce), *answers["OpenSSL"]]))
    text = "\n".join(lines) + "\n"

    count = len(KEYS) * len(NONCES) * len(LENGTHS)
    if not check:
        ANSWERS.write_text(text)
        print(f"{ANSWERS.name} written {count}")
    elif ANSWERS.read_text() == text:
        print(f"{ANSWERS.name} ok {count}")
    else:
        sys.exit(f"{ANSWERS.name} is not what they answer: run {pathlib.Path(__file__).name} without --check")


def digests(cipher, key, nonce, stream):
    """The two digests of one line; `cipher` makes of a key the function that seals one message."""
    seal = cipher(hashlib.sha256(b"key").digest()[:key])
    digest = hashlib.sha256()
    for i, length in enumerate(LENGTHS):
        if i == SHORT:
            short = digest.hexdigest()
        start = i % 251
        n = hashlib.sha256(b"nonce" + struct.pack("<I", i)).digest()[:nonce]
        digest.update(seal(n, stream[: i % 257], stream[start : start + length]))
    return short, digest.hexdigest()


def openssl(key):
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher = AESGCM(key)
    return lambda nonce, aad, text: cipher.encrypt(nonce, text, aad)


def pycryptodome(key):
    from Crypto.Cipher import AES

    def seal(nonce, aad, text):
        cipher = AES.new(key, AES.MODE_GCM, nonce=nonce)
        cipher.update(aad)
        return b"".join(cipher.encrypt_and_digest(text))

    return seal


def ring():
    """What ring answers: {(key, nonce): digests}."""
    done = subprocess.run(RING, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True)
    fields = [line.split() for line in done.stdout.splitlines()]
    return {(int(key), int(nonce)): (short, all) for key, nonce, short, all in fields}


if __name__ == "__main__":
    main()
