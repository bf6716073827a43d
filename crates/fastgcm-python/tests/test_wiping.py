"""A key stands in one place of this process while it lives, and in none afterwards. Another process looks."""

import os
import subprocess
import sys

import pytest

from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, CounterNonces, SealingKey

# Prints how often the bytes whose complements it is given stand in the memory of a process.
COUNT = r"""
import sys
pid, complement = sys.argv[1:]
wanted, count, step = bytes(255 - byte for byte in bytes.fromhex(complement)), 0, 1 << 24
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
    for line in maps:
        place, rights = line.split()[:2]
        if rights.startswith("rw"):
            start, end = (int(number, 16) for number in place.split("-"))
            for at in range(start, end, step):
                memory.seek(at)
                try:
                    count += memory.read(min(step, end - at)).count(wanted)
                except OSError:  # a page of the kernel's
                    pass
print(count)
"""


def count(complement):
    found = subprocess.run([sys.executable, "-c", COUNT, str(os.getpid()), complement], capture_output=True, text=True)
    if found.returncode:
        pytest.skip("no process may look at the memory of another")
    return int(found.stdout)


@pytest.mark.parametrize("make", [AESGCM, AESGCMSIV, XAES256GCM, KCXAES256GCM, lambda key: SealingKey(key, CounterNonces(b"left"))])
def test_a_key_stands_in_one_place(make):
    key = bytearray(os.urandom(32))
    # The second half of a key of 256 bits is its second round key. The complement stands for it: the half itself is nowhere else.
    complement = "".join(f"{255 - byte:02x}" for byte in key[16:])
    made = make(key)
    key[:] = bytes(32)
    assert count(complement) == 1
    del made
    assert count(complement) == 0
