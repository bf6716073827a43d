#!/usr/bin/env python3
"""Predicts the speed of the loops over long messages with LLVM's models of Arm processors: python3 lab/asm/arm.py

Prints a table in Markdown: cycles for 64 bytes of `aes-neon` and `aes-neon-eor3`, and of AWS-LC's two kernels, by llvm-mca. A model knows the
ports and latencies of a processor, and neither caches, nor branches, nor loads that wait for stores; so this is a prediction. Needs
rustc's standard library for aarch64-unknown-linux-gnu, the crates of tools/bench (`cargo fetch` there) and Debian's llvm-22.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = "aarch64-unknown-linux-gnu"
MCA = "llvm-mca-22"
# Processors by LLVM's name, each True if it has EOR3.
PROCESSORS = {"neoverse-n1": False, "neoverse-v1": True, "neoverse-v2": True, "apple-m1": True}
# Rounds of AES by key size.
ROUNDS = {128: 10, 192: 12, 256: 14}
TURNS = 200


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def eor3(word):
    """Decodes the instruction that AWS-LC writes as a number."""
    assert word & 0xFFE0_8000 == 0xCE00_0000, hex(word)
    return "eor3 " + ", ".join(f"v{word >> shift & 31}.16b" for shift in (0, 5, 16, 10))


def functions(text):
    """Returns name -> lines, only labels and instructions."""
    found, name = {}, None
    for line in text.splitlines():
        line = re.sub(r"\s*//.*", "", line).rstrip()
        line = re.sub(r"\.inst\s+(0x\w+)", lambda found: "\t" + eor3(int(found[1], 16)), line)
        label = re.match(r"(?!\.L)([\w.$]+):", line)
        if label:
            name = label[1]
            found[name] = []
        elif name and (re.match(r"\.L\w+:", line) or re.match(r"\s+[a-z]", line)):
            found[name].append(line.strip())
    return found


def count(code, instruction):
    return sum(line.split()[0] == instruction for line in code)


def turns(code, rounds):
    """Returns the paths once around a loop, as instructions, on which every vector of the iteration takes this many rounds of AES."""
    labels = {line[:-1]: at for at, line in enumerate(code) if line.endswith(":")}
    found = []
    for end, line in enumerate(code):
        jump = re.fullmatch(r"(?:b\.?\w*|cbn?z|tbn?z)\s.*?(\.L\w+)", line)
        if jump and labels.get(jump[1], end) < end:
            found += around(code, labels, labels[jump[1]], end)
    whole = [way for way in found if count(way, "aese") and count(way, "aese") % rounds == 0 and count(way, "pmull")]
    return [way for way in whole if count(way, "aese") // rounds in (4, 8)]


def around(code, labels, head, end):
    """Returns every path from the head of a loop to the jump back to it, with each forward jump taken or not taken."""
    ways, todo = [], [(head, [])]
    while todo and len(ways) < 64:
        at, way = todo.pop()
        while at <= end:
            line = code[at]
            jump = re.fullmatch(r"(b\.?\w*|cbn?z|tbn?z)\s.*?(\.L\w+)", line)
            if not line.endswith(":"):
                way = way + [line]
            if jump and labels.get(jump[2]) == head:
                ways.append(way)
                if jump[1] == "b":
                    break
            elif jump and jump[2] in labels:
                if head < labels[jump[2]] <= end and labels[jump[2]] > at:
                    todo.append((labels[jump[2]], way))
                if jump[1] == "b":
                    break
            at += 1
    return ways


def cycles(processor, code):
    """Returns the cycles for 64 bytes. These cores fuse AESE and the AESMC behind it, which the models do not know."""
    code = [line for line in code if line.split()[0] != "aesmc"]
    options = ["-mtriple=aarch64", f"-mcpu={processor}", "-mattr=+sha3,+aes,+sha2", f"-iterations={TURNS}"]
    output = run(MCA, *options, input="\n".join(code) + "\n")
    return int(re.search(r"Total Cycles:\s+(\d+)", output)[1]) / TURNS


def ours():
    """Returns the library's rows, compiled as programs compile them: name -> function -> code."""
    run("cargo", "rustc", "-q", "-p", "fastgcm", "--release", "--lib", "--target", TARGET, "--", "--emit", "asm", "-Ccodegen-units=1", cwd=ROOT)
    newest = max((ROOT / "target" / TARGET / "release/deps").glob("fastgcm-*.s"), key=lambda path: path.stat().st_mtime)
    for name, code in functions(newest.read_text()).items():
        found = re.search(r"table\d+(aes_neon(?:_eor3)?)\d+(seal|open)_long", name)
        if found:
            yield found[1].replace("_", "-"), found[2], None, code


def aws_lc():
    """Returns the kernels of aws-lc-sys: AWS-LC uses `8x` on Neoverse V1 and V2 and on Apple's, the other one on all others."""
    packages = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked", cwd=ROOT / "tools/bench"))["packages"]
    package = next(package for package in packages if package["name"] == "aws-lc-sys")
    folder = Path(package["manifest_path"]).parent / "aws-lc/generated-src/linux-aarch64/crypto/fipsmodule"
    for file, name in ("aesv8-gcm-armv8.S", "aws-lc"), ("aesv8-gcm-armv8-unroll8.S", "aws-lc-8x"):
        for function, code in functions((folder / file).read_text()).items():
            found = re.fullmatch(r"(?:aes_gcm|aesv8_gcm_8x)_(enc|dec)_(kernel|\d+)", function)
            if found:
                bits = int(found[2]) if found[2].isdigit() else None
                yield f"{name} {package['version']}", {"enc": "seal", "dec": "open"}[found[1]], bits, code


def main():
    kernels = [*ours(), *aws_lc()]
    version = re.search(r"LLVM version \S+", run(MCA, "--version"))[0]
    print(f"| {version}: cycles for 64 bytes | instructions | {' | '.join(PROCESSORS)} |\n|---|---:|{'---:|' * len(PROCESSORS)}")
    for bits, rounds in ROUNDS.items():
        for verb in "seal", "open":
            for name, of_verb, of_bits, code in kernels:
                if of_verb != verb or of_bits not in (bits, None):
                    continue
                ways = turns(code, rounds)
                if not ways:
                    sys.exit(f"{name}, {verb}: no loop with {rounds} rounds")
                way = min(ways, key=len)
                parts = count(way, "aese") / rounds / 4
                has_eor3 = count(way, "eor3") > 0
                cells = ["-" if has_eor3 and not has else f"{cycles(processor, way) / parts:.1f}" for processor, has in PROCESSORS.items()]
                print(f"| {verb} {bits}, {name} | {len(way) / parts:.0f} | {' | '.join(cells)} |")


main()
