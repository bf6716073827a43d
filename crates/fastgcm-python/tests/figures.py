"""Measures the package beside pyca/cryptography, both in turn in one process, and draws `docs/python-*.svg`:

    python crates/fastgcm-python/tests/figures.py [--rounds N] [--draw] [--alone]
    python crates/fastgcm-python/tests/figures.py --redraw     # what docs/python-figures.md has, without measuring

`--alone` keeps other programs off the processor meanwhile (root: SCHED_FIFO). Each line: what, pyca's best and median time, ours, and the ratios (pyca / ours: above 1 we are faster). The table goes to `docs/python-figures.md`.
"""

import argparse
import gc
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
GIB, MIB = 1 << 30, 1 << 20
NONCE = b"n" * 12
PLOTS = {"calls": "Calls: pyca's time divided by ours", "batches": "Batches and threads", "memory": "Memory that a call adds"}
AXES = {
    "calls": "pyca's best time / fastgcm's (above 1, fastgcm is faster)",
    "batches": "the first one's best time / the second one's (above 1, the second is faster)",
}


def seconds(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def measure(name, calls, rounds, repeat=1):
    """Calls, in turn: so that what the machine does meanwhile meets all of them. Returns (best, median) of each."""
    for call in calls:
        call()
    gc.disable()
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            taken.append(seconds(lambda: [call() for _ in range(repeat)]) / repeat)
    gc.enable()
    return name, [(min(taken), statistics.median(taken)) for taken in times]


def figures(rounds):
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Pyca

    from fastgcm import AESGCM

    key = os.urandom(32)
    ours, theirs = AESGCM(key), Pyca(key)
    for length, repeat in ((64, 1000), (16384, 200), (MIB, 5)):
        data = os.urandom(length)
        sealed = ours.encrypt(NONCE, data, None)
        shared, label = bytearray(sealed), f"{length} bytes" if length < MIB else "1 MiB"
        yield measure(
            f"encrypt, {label}", [lambda: theirs.encrypt(NONCE, data, None), lambda: ours.encrypt(NONCE, data, None)], rounds, repeat
        )
        yield measure(
            f"decrypt, {label}", [lambda: theirs.decrypt(NONCE, sealed, None), lambda: ours.decrypt(NONCE, sealed, None)], rounds, repeat
        )
        yield measure(
            f"decrypt of a bytearray, {label}",
            [lambda: theirs.decrypt(NONCE, shared, None), lambda: ours.decrypt(NONCE, shared, None)],
            rounds,
            repeat,
        )
    datas, nonces = [os.urandom(64) for _ in range(1000)], [os.urandom(12) for _ in range(1000)]
    packed, array = b"".join(nonces), b"".join(datas)
    sealed = ours.seal_batch(nonces, datas)
    yield measure(
        "1,000 x 64 bytes: pyca in a loop; seal_batch of lists",
        [lambda: [theirs.encrypt(n, d, None) for n, d in zip(nonces, datas)], lambda: ours.seal_batch(nonces, datas)],
        rounds,
    )
    yield measure(
        "1,000 x 64 bytes: pyca in a loop; open_batch of lists",
        [lambda: [theirs.decrypt(n, d, None) for n, d in zip(nonces, sealed)], lambda: ours.open_batch(nonces, sealed)],
        rounds,
    )
    yield measure(
        "1,000 x 64 bytes: pyca in a loop; seal_batch of one array",
        [lambda: [theirs.encrypt(n, d, None) for n, d in zip(nonces, datas)], lambda: ours.seal_batch(packed, array)],
        rounds,
    )
    data, buf = memoryview(bytearray(GIB)), bytearray(GIB + 16)
    few = max(3, rounds // 6)
    for each in (data, buf):
        memoryview(each)[:: 4096] = bytes(len(memoryview(each)[:: 4096]))  # no page is new to the first call
    yield measure(
        "encrypt_into, 1 GiB",
        [lambda: theirs.encrypt_into(NONCE, data, None, buf), lambda: ours.encrypt_into(NONCE, data, None, buf)],
        few,
    )
    yield measure(
        "encrypt_into, 1 GiB: ours with one thread; with two",
        [lambda: ours.encrypt_into(NONCE, data, None, buf), lambda: ours.encrypt_into(NONCE, data, None, buf, threads=2)],
        few,
    )
    del buf
    yield measure(
        "encrypt, 1 GiB, to memory that is new each time",
        [lambda: theirs.encrypt(NONCE, data, None), lambda: ours.encrypt(NONCE, data, None)],
        few,
    )


def grown():
    """Bytes by which the most memory of a process grows while it encrypts 1 GiB."""
    program = """
import resource, sys
from importlib import import_module
aesgcm = import_module(sys.argv[1]).AESGCM(bytes(32))
data, buf = bytearray(1 << 30), bytearray((1 << 30) + 16)
buf[::4096] = bytes(len(buf[::4096])); data[::4096] = bytes(len(data[::4096]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
aesgcm.encrypt_into(bytes(12), data, None, buf)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    modules = ("cryptography.hazmat.primitives.ciphers.aead", "fastgcm")
    return [int(subprocess.run([sys.executable, "-c", program, module], check=True, capture_output=True, text=True).stdout) for module in modules]


def shown(time):
    return f"{time * 1e9:.0f} ns" if time < 1e-6 else f"{time * 1e6:.1f} µs" if time < 1e-3 else f"{time * 1e3:.0f} ms"


def table():
    """What `draw` wants, of the page that is there."""
    rows = [line.strip("|").split("|") for line in (DOCS / "python-figures.md").read_text().splitlines() if line.startswith("| ")][1:]
    *calls, (_, theirs, ours, _) = [[cell.strip() for cell in row] for row in rows]
    ratios = [(name, float(ratios.split(",")[0])) for name, _, _, ratios in calls]
    return ratios, [int(memory.removesuffix(" KiB")) << 10 for memory in (theirs, ours)]


def draw(ratios, memory):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "fastgcm", "svg.fonttype": "none"})
    from matplotlib import pyplot

    for file, wanted in (("calls", lambda name: "x 64" not in name and "with two" not in name), ("batches", lambda name: "x 64" in name or "with two" in name)):
        chosen = [(name, ratio) for name, ratio in ratios if wanted(name)][::-1]
        figure, axes = pyplot.subplots(figsize=(7, 0.6 + 0.32 * len(chosen)), layout="constrained")
        bars = axes.barh([name for name, _ in chosen], [ratio for _, ratio in chosen], color="#3465a4")
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=3)
        axes.margins(x=0.12)
        axes.axvline(1, color="black", linewidth=0.8)
        figure.supxlabel(AXES[file], fontsize=9)  # below the names too: an axis alone is too narrow for it
        axes.tick_params(labelsize=8)
        figure.savefig(DOCS / f"python-{file}.svg", metadata={"Date": None})
    figure, axes = pyplot.subplots(figsize=(7, 1.2), layout="constrained")
    bars = axes.barh(["fastgcm", "pyca"], [grown / 1024 for grown in memory[::-1]], color="#3465a4")
    axes.bar_label(bars, fmt="%.0f KiB", fontsize=8, padding=3)
    axes.axvline(1024, color="black", linewidth=0.8)
    figure.supxlabel("KiB that encrypt_into of 1 GiB adds; the line is 1 MiB", fontsize=9)
    axes.tick_params(labelsize=8)
    figure.savefig(DOCS / "python-memory.svg", metadata={"Date": None})
    for drawn in DOCS.glob("python-*.svg"):  # each in one line
        drawn.write_text(" ".join(drawn.read_text().split()).replace("> <", "><") + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=30)
    arguments.add_argument("--draw", action="store_true")
    arguments.add_argument("--redraw", action="store_true")
    arguments.add_argument("--alone", action="store_true")
    arguments = arguments.parse_args()
    if arguments.redraw:
        return draw(*table())
    if arguments.alone:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    import cryptography

    import fastgcm

    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    lines = [
        f"{processor}, back end {fastgcm.cpu()['backend']}, {os.cpu_count()} cores; Python {platform.python_version()}, cryptography {cryptography.__version__}",
        f"({arguments.rounds} rounds, each of both in turn; load of the machine {os.getloadavg()[0]:.1f}{', kept off the processor' if arguments.alone else ''}).",
        "",
        "| what | pyca: best, median | fastgcm: best, median | ratio of best, of median |",
        "|---|---|---|---|",
    ]
    results = []
    for name, pair in figures(arguments.rounds):
        (first, first_median), (second, second_median) = pair
        results.append((name, first / second))
        lines.append(
            f"| {name} | {shown(first)}, {shown(first_median)} | {shown(second)}, {shown(second_median)} "
            f"| {first / second:.2f}, {first_median / second_median:.2f} |"
        )
        print(lines[-1], flush=True)
    theirs, ours = grown()
    lines.append(f"| memory that `encrypt_into` of 1 GiB adds | {theirs >> 10} KiB | {ours >> 10} KiB | |")
    print(lines[-1])
    if arguments.draw:
        draw(results, [theirs, ours])
        title = ["# Figures of the Python package", "", "Made by `python crates/fastgcm-python/tests/figures.py --draw --alone`.", ""]
        plots = ["", *(f"![{what}](python-{file}.svg)\n" for file, what in PLOTS.items())]
        (DOCS / "python-figures.md").write_text("\n".join([*title, *lines, *plots]))


if __name__ == "__main__":
    main()
