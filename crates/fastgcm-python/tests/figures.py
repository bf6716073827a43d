"""Measures the package beside pyca/cryptography, both in turn in one process, and prints the table of docs/python.md.

As root it keeps other programs off the processor meanwhile (SCHED_FIFO).
"""

import argparse
import gc
import os
import platform
import statistics
import subprocess
import sys
import time

import cryptography
import fastgcm
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Pyca
from fastgcm import AESGCM

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("rounds", type=int, nargs="?", default=30, help="how often each row is measured (30)")
ROUNDS = options.parse_args().rounds
GIB, MIB = 1 << 30, 1 << 20
NONCE = b"n" * 12


def shown(time):
    return f"{time * 1e9:.0f} ns" if time < 1e-6 else f"{time * 1e6:.1f} µs" if time < 1e-3 else f"{time * 1e3:.0f} ms"


def row(name, *calls, rounds=ROUNDS, repeat=1):
    """Two calls in turn, so that what the machine does meanwhile meets both: the best and the median of each, and the ratios."""
    times = ([], [])
    gc.disable()
    for round in range(rounds + 1):
        for call, taken in zip(calls, times):
            begun = time.perf_counter()
            for _ in range(repeat):
                call()
            if round:  # the first one warms up
                taken.append((time.perf_counter() - begun) / repeat)
    gc.enable()
    both = [(min(taken), statistics.median(taken)) for taken in times]
    ratios = ", ".join(f"{theirs / ours:.2f}" for theirs, ours in zip(*both))
    print(f"| {name} | " + " | ".join(f"{shown(best)}, {shown(median)}" for best, median in both) + f" | {ratios} |", flush=True)


def grown(module):
    """KiB by which the most memory of a process grows while it encrypts 1 GiB."""
    program = """
import resource, sys
from importlib import import_module
aesgcm = import_module(sys.argv[1]).AESGCM(bytes(32))
data, buf = bytearray(1 << 30), bytearray((1 << 30) + 16)
buf[::4096] = bytes(len(buf[::4096])); data[::4096] = bytes(len(data[::4096]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
aesgcm.encrypt_into(bytes(12), data, None, buf)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    return int(subprocess.run([sys.executable, "-c", program, module], check=True, capture_output=True, text=True).stdout)


if hasattr(os, "geteuid") and os.geteuid() == 0:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
print(f"{platform.machine()}, back end {fastgcm.cpu()['backend']}, Python {platform.python_version()}, cryptography {cryptography.__version__}\n")
print("| what | pyca: best, median | fastgcm: best, median | ratio of best, of median |\n|---|---|---|---|")
key = os.urandom(32)
ours, theirs = AESGCM(key), Pyca(key)
for length, label, repeat in ((64, "64 bytes", 1000), (16384, "16384 bytes", 200), (MIB, "1 MiB", 5)):
    data = os.urandom(length)
    sealed = ours.encrypt(NONCE, data, None)
    row(f"encrypt, {label}", lambda: theirs.encrypt(NONCE, data, None), lambda: ours.encrypt(NONCE, data, None), repeat=repeat)
    for kind, source in (("", sealed), (" of a bytearray", bytearray(sealed))):
        row(f"decrypt{kind}, {label}", lambda: theirs.decrypt(NONCE, source, None), lambda: ours.decrypt(NONCE, source, None), repeat=repeat)
datas, nonces = [os.urandom(64) for _ in range(1000)], [os.urandom(12) for _ in range(1000)]
packed, array, sealed = b"".join(nonces), b"".join(datas), ours.seal_batch(nonces, datas)
loop = lambda call, texts: [call(nonce, text, None) for nonce, text in zip(nonces, texts)]
batch = "1,000 x 64 bytes: pyca in a loop; "
row(f"{batch}seal_batch of lists", lambda: loop(theirs.encrypt, datas), lambda: ours.seal_batch(nonces, datas))
row(f"{batch}open_batch of lists", lambda: loop(theirs.decrypt, sealed), lambda: ours.open_batch(nonces, sealed))
row(f"{batch}seal_batch of one array", lambda: loop(theirs.encrypt, datas), lambda: ours.seal_batch(packed, array))
data, buf, few = memoryview(bytearray(GIB)), bytearray(GIB + 16), max(3, ROUNDS // 6)
for each in (data, buf):
    memoryview(each)[::4096] = bytes(len(memoryview(each)[::4096]))  # no page is new to the first call
one = lambda: ours.encrypt_into(NONCE, data, None, buf)
row("encrypt_into, 1 GiB", lambda: theirs.encrypt_into(NONCE, data, None, buf), one, rounds=few)
row("encrypt_into, 1 GiB: ours with one thread; with two", one, lambda: ours.encrypt_into(NONCE, data, None, buf, threads=2), rounds=few)
row("encrypt, 1 GiB, to memory that is new each time", lambda: theirs.encrypt(NONCE, data, None), lambda: ours.encrypt(NONCE, data, None), rounds=few)
data = buf = None
print(f"| memory that `encrypt_into` of 1 GiB adds | {grown('cryptography.hazmat.primitives.ciphers.aead')} KiB | {grown('fastgcm')} KiB | |")
