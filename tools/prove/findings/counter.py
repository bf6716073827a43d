"""Finds H from the path of a counter's low byte, for counter.md: from the traces of a few messages with known nonces of 16 bytes.

The trace is what the proof saw in OpenSSL's and ipsec-mb's AVX-512 code: sixteen blocks at a time, and another way for those sixteen of which a counter would carry
out of its low byte. This computes, with a random H, which of the first sixteen steps of each message is that one, and finds H from nothing else."""
import random

R = 0xE1 << 120


def times(x, y):
    z = 0
    for i in range(127, -1, -1):
        if x >> i & 1:
            z ^= y
        y = y >> 1 ^ (R if y & 1 else 0)
    return z


def j0(h, iv):
    return times(times(iv, h) ^ 128, h)  # 16 bytes, and their length in bits


def slow_step(h, iv):
    low = (j0(h, iv) + 1) & 255
    return next(step for step in range(16) if low + 16 * step >= 240)


def equations(basis, iv, step):
    """Returns bits 4 to 7 of the low byte of J0 as linear functions of H's bits: J0 is linear in H, as squaring is."""
    columns = [j0(bit, iv) for bit in basis]
    nibble = 15 - step
    for bit in range(4):
        yield sum((column >> 4 + bit & 1) << i for i, column in enumerate(columns)), nibble >> bit & 1


def solve(rows):
    pivots = {}
    for row, value in rows:
        for pivot, (other, known) in pivots.items():
            if row >> pivot & 1:
                row, value = row ^ other, value ^ known
        if row == 0:
            if value:
                return None
            continue
        pivot = row.bit_length() - 1
        for at, (other, known) in list(pivots.items()):
            if other >> pivot & 1:
                pivots[at] = (other ^ row, known ^ value)
        pivots[pivot] = (row, value)
    if len(pivots) < 128:
        return None
    return sum(value << pivot for pivot, (_, value) in pivots.items())


rng = random.Random(2026)
secret = rng.getrandbits(128)
basis = [1 << i for i in range(128)]
messages = [(iv, slow_step(secret, iv)) for iv in (rng.getrandbits(128) for _ in range(64))]
known = [list(equations(basis, *message)) for message in messages]
for tried in range(1, 10000):
    # The low nibble of J0 + 1 is zero for one message in sixteen, whose equations are then wrong: others are taken.
    found = solve([row for n in rng.sample(range(64), 34) for row in known[n]])
    if found is not None and sum(slow_step(found, iv) == step for iv, step in messages) == 64:
        print(f"H = {found:032x} from 64 traces, after {tried} choices of 34 of them: {'right' if found == secret else 'wrong'}")
        break
