"""Memory is short: that is a `MemoryError`, or the call does without, and the process goes on."""

import itertools
import os
import platform
import shutil
import subprocess
import sys

import pytest

ctypes = pytest.importorskip("ctypes")  # where CPython was built without libffi, there is none

# An allocator that, while it is told so, gives `left` more pieces of `large` bytes or more, and then none. Smaller ones it always gives. Each thread begins
# later than the one before it, as on a machine that has much to do.
ALLOCATOR = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static struct late { void *(*run)(void *), *of; int number; } late[64];
static void *begin(void *of) { struct late *this = of; usleep(200000 * (this->number % 3)); return this->run(this->of); }
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *of) {
    static int number;
    struct late *this = &late[number];
    *this = (struct late){run, of, number++};
    return ((int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, begin, this);
}
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
static size_t large = -1;
static long left;
void allocator_gives(long pieces, size_t of) { left = pieces; large = of; }
static int none(size_t n) { return n >= large && left-- <= 0; }
#define GIVE(n, from) return none(n) ? (errno = ENOMEM, (void *)0) : from
void *malloc(size_t n) { GIVE(n, __libc_malloc(n)); }
void *calloc(size_t a, size_t b) { GIVE(a * b, __libc_calloc(a, b)); }
void *realloc(void *p, size_t n) { GIVE(n, __libc_realloc(p, n)); }
void *memalign(size_t a, size_t n) { GIVE(n, __libc_memalign(a, n)); }
void *aligned_alloc(size_t a, size_t n) { GIVE(n, __libc_memalign(a, n)); }
int posix_memalign(void **p, size_t a, size_t n) { return none(n) ? ENOMEM : (*p = __libc_memalign(a, n)) ? 0 : ENOMEM; }
"""


def outcomes():
    """What each call does while there is no memory: a line each."""
    import io

    from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, CounterNonces, Sealer
    from fastgcm.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
    from fastgcm.hazmat import CobblestoneChunks, Plan, combine, seal_part

    gives = ctypes.CDLL(None).allocator_gives
    gives.argtypes = ctypes.c_long, ctypes.c_size_t
    key, nonce, long = bytes(32), bytes(12), bytes(20)
    one, siv, xaes, committing = AESGCM(key), AESGCMSIV(key), XAES256GCM(key), KCXAES256GCM(key)
    text, shared = os.urandom(6 << 20), bytearray(6 << 20)
    sealed, buf = one.encrypt(nonce, text, None), bytearray((6 << 20) + 16)
    nonces, many = CounterNonces(b"left").draw_batch(30_000), [bytearray(100) for _ in range(30_000)]
    many_sealed, records = one.seal_batch(nonces, many), bytearray(30_000 * 116)
    sealer, plan, chunks = Sealer(one, nonce), Plan(nonce, 1 << 20, 16), CobblestoneChunks(key, b"", bytes(24))
    part, stream = seal_part(one, nonce, 0, bytes(16))[1], Cobblestone256Encryptor(key, b"")
    file = stream.update(text) + stream.finalize()
    opener, within = Cobblestone256Decryptor(key, b""), memoryview(buf)
    cipher = CobblestoneChunks(key, b"", file[:24])
    one.encrypt(nonce, text, None, threads=3)  # (the C library ends a process whose threads begin without memory for what they have of their own)
    one.seal_batch(nonces, bytes(30_000 * 100), threads=2)
    kept, sleep, no_size = [], ctypes.CDLL(None).usleep, -1 % (1 << 64)
    gives(0, 64)
    sleep(700_000)  # no thread begins now
    gives(0, no_size)
    calls = {
        "key": lambda: [kept.append(AESGCM(key)) for _ in range(500)],
        "siv": lambda: [kept.append(AESGCMSIV(key)) for _ in range(500)],
        "xaes": lambda: [kept.append(XAES256GCM(key)) for _ in range(500)],
        "kc-xaes": lambda: [kept.append(KCXAES256GCM(key)) for _ in range(500)],
        "wrong key": lambda: AESGCM(b"short"),
        "encrypt": lambda: one.encrypt(nonce, text, None),
        "decrypt": lambda: one.decrypt(nonce, sealed, None),
        "forged": lambda: one.decrypt(nonce, bytes(100), None),
        "long nonce": lambda: one.encrypt_into(long, text, None, buf),
        "changing nonce": lambda: one.encrypt_into(bytearray(long), text, None, buf),
        "encrypt into": lambda: one.encrypt_into(nonce, text, None, buf),
        "threads": lambda: one.encrypt_into(nonce, text, None, buf, threads=3),
        "shared, threads": lambda: one.decrypt_into(nonce, shared, None, within[: len(shared) - 16], threads=3),
        "aad within": lambda: one.encrypt_into(nonce, text, within[: 1 << 20], buf),
        "siv into": lambda: siv.encrypt_into(nonce, text, within[: 1 << 20], buf),
        "random": lambda: xaes.seal_random(text),
        "committing": lambda: committing.seal_random(text),
        "batch": lambda: one.seal_batch(nonces, many, threads=2),
        "open batch": lambda: one.open_batch(nonces, many_sealed, [b"aad"] * 30_000),
        "records": lambda: one.seal_batch_into(nonces, bytes(30_000 * 100), None, records, threads=2),
        "sealer": lambda: [kept.append(Sealer(one, nonce)) for _ in range(500)],
        "update": lambda: sealer.update(text),
        "accept": lambda: plan.accept(part),
        "missing": plan.missing,
        "combine": lambda: combine(one, nonce, None, itertools.repeat(part, 30_000)),
        "encryptor": lambda: [kept.append(Cobblestone256Encryptor(key, b"")) for _ in range(500)],
        "decryptor": lambda: [kept.append(Cobblestone256Decryptor(key, b"")) for _ in range(500)],
        "opener": lambda: opener.update(file),
        "range": lambda: opener.decrypt_range(file, 5, 3 << 20),
        "range of file": lambda: opener.decrypt_range(io.BytesIO(file), 5, 100),
        "chunks": lambda: [kept.append(CobblestoneChunks(key, b"", bytes(24))) for _ in range(500)],
        "seal chunks": lambda: chunks.seal(0, text, last=True),
        "open chunks": lambda: cipher.open(0, file[56:], last=True),
    }
    for name, call in calls.items():
        for pieces, of in itertools.product(range(6), (1, 64, 1024, 1 << 14)):
            gives(pieces, of)
            try:
                call()
                outcome = "done"
            except BaseException as error:
                outcome = error
            finally:
                gives(0, no_size)
                kept.clear()
            print(f"{name}: {outcome if outcome == 'done' else type(outcome).__name__}", flush=True)
    assert one.decrypt(nonce, sealed, None) == text


@pytest.mark.skipif(
    not shutil.which("cc") or platform.libc_ver()[0] != "glibc" or platform.machine() != "x86_64", reason="the allocator stands before glibc's"
)
def test_nothing_ends_the_process(tmp_path):
    (tmp_path / "allocator.c").write_text(ALLOCATOR)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "allocator.c", "-ldl", "-o", "allocator.so"], cwd=tmp_path, check=True)
    environment = os.environ | {"LD_PRELOAD": str(tmp_path / "allocator.so"), "PYTHONMALLOC": "pymalloc"}
    ran = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = [line.split(": ") for line in ran.stdout.splitlines()]
    short = {name for name, outcome in found if outcome == "MemoryError"}
    others = {name: outcome for name, outcome in found if outcome not in ("MemoryError", "done")}
    expected = {"wrong key": "ValueError", "combine": "ValueError", "forged": "InvalidTag", "shared, threads": "InvalidTag"}
    assert others == expected | {"opener": "AlreadyFinalized"}, others
    for name in ("key", "siv", "xaes", "kc-xaes", "committing", "sealer", "encryptor", "decryptor", "chunks", "encrypt", "batch", "accept", "missing", "range", "aad within"):
        assert name in short, ran.stdout
    done = {name for name, outcome in found if outcome == "done"}
    assert {"encrypt into", "threads"} <= done, ran.stdout


if __name__ == "__main__":
    outcomes()
