#!/usr/bin/env python3
"""Files between fastgcm and pyca/cryptography (>= 50), both ways.

    python3 pyca_interop.py path/to/fastgcm

100 random lengths, both key sizes, both directions: 400 files. Ends with `pyca_interop ok 400`, or with a message and exit code 1.
The seed is printed; give it as a second argument to repeat a run.
"""

import os
import random
import subprocess
import sys
import tempfile

from cryptography import cobblestone

CHUNK = 16384
FORMATS = [
    ("cobblestone-256", 32, cobblestone.Cobblestone256Encryptor, cobblestone.Cobblestone256Decryptor),
    ("cobblestone-128", 16, cobblestone.Cobblestone128Encryptor, cobblestone.Cobblestone128Decryptor),
]


def main(program, seed):
    print("seed", seed)
    rng = random.Random(seed)
    done = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for name, key_len, encryptor, decryptor in FORMATS:
            for number, length in enumerate(lengths(rng)):
                key, text = rng.randbytes(key_len), rng.randbytes(length)
                context = "context %d \u00e9" % number if number % 3 else ""
                # Key files take turns: raw bytes, and a line of hexadecimal digits.
                content = key if number % 2 else key.hex().encode() + b"\n"
                write("key", content)
                write("text", text)
                options = ["-k", "key", "--format", name, "--context", context, "--threads", str(1 + number % 4)]

                run(program, "seal", *options, "-o", "sealed", "text")
                check(text == crypt(decryptor, key, context, read("sealed")), "theirs of ours", name, length)
                os.remove("sealed")

                write("sealed", crypt(encryptor, key, context, text))
                run(program, "open", *options, "-o", "opened", "sealed")
                check(text == read("opened"), "ours of theirs", name, length)
                for file in ("key", "text", "sealed", "opened"):
                    os.remove(file)
                done += 2
    check(done == 400, "count", done)
    print("pyca_interop ok", done)


def lengths(rng):
    """100 lengths: the borders of chunks first, then any up to 2 MiB."""
    borders = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 16 * CHUNK, 16 * CHUNK + 1, 64 * CHUNK - 1]
    return borders + [rng.randrange(1 << rng.randrange(1, 22)) for _ in range(90)]


def crypt(algorithm, key, context, data):
    job = algorithm(key, context.encode())
    return job.update(data) + job.finalize()


def run(program, *args):
    subprocess.run([program, *args], check=True)


def check(right, *what):
    if not right:
        sys.exit("pyca_interop FAILED: " + " ".join(map(str, what)))


def read(name):
    with open(name, "rb") as file:
        return file.read()


def write(name, content):
    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else str(random.randrange(1 << 64)))
