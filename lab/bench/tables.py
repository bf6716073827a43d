#!/usr/bin/env python3
"""The tables of results/zen4.md, from a run's results: tables.py out/results.csv

A cell is fastgcm's best time in ns, the median of the ratios (more than 1: fastgcm is faster) against the rival that was the fastest in
that case, and its name. What is behind by more than 1 % is bold, and listed at the end.
"""

import csv
import sys

BEHIND = 0.99
MAIN = [(f"AES-{bits} {verb}", f"AES-{bits} {verb}, AAD 12") for bits in (128, 256) for verb in ("seal", "open")]
WAYS = ["AAD 0", "AAD 13", "AAD 16", "AAD 64", "AAD 128", "AAD 192", "AAD 256", "AAD 12, odd addresses", "AAD 12, at the end of a page", "AAD 12, in place"]
FRESH = [(f"AES-{bits}", f"AES-{bits} fresh key and seal, AAD 12") for bits in (128, 256)]


def read(path):
    """Group -> case -> the line of the back end that a caller gets, which is the first of fastgcm's. It has what it takes called as usual."""
    groups = {}
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            if line["contender"].startswith("fastgcm"):
                first = groups.setdefault(line["group"], {}).setdefault(line["case"], line)
                if line["contender"] == "fastgcm as usual":
                    first["usual"] = float(line["best_ns"])
    return groups


def against(line):
    """The ratio and the rival; None if there was none in that case."""
    rival = line["base"]
    return None if rival.startswith("fastgcm") else (float(line["times_faster_than_base"]), rival)


def cell(line):
    if line is None:
        return ""
    best = float(line["best_ns"])
    text = f"{best:.1f}" if best < 1000 else f"{best:.0f}"
    if found := against(line):
        times, rival = found
        text += f" **{times:.2f}** {rival}" if times < BEHIND else f" {times:.2f} {rival}"
    return text


def table(groups, level, columns):
    columns = [(head, groups[f"{level} {name}"]) for head, name in columns if f"{level} {name}" in groups]
    if columns:
        print("\n| bytes | " + " | ".join(head for head, _ in columns) + " |\n|---:|" + "---|" * len(columns))
        for case in columns[0][1]:
            print(f"| {case} | " + " | ".join(cell(cases.get(case)) for _, cases in columns) + " |")


def main(path):
    groups = read(path)
    for level in dict.fromkeys(group.split()[0] for group in groups):
        print(f"\n### {level}: seal and open, AAD of 12 bytes")
        table(groups, level, MAIN)
        for verb in ("seal", "open"):
            print(f"\nOther ways of calling, AES-128 {verb}:")
            table(groups, level, [(way.replace("AAD 12, ", ""), f"AES-128 {verb}, {way}") for way in WAYS])
        print("\nAlone, after 8 MiB of other data and 1 MiB of other code:")
        table(groups, level, [(verb, f"AES-128 {verb}, AAD 12, cold") for verb in ("seal", "open")])
        print("\nA fresh key in the place of one, and one message sealed:")
        table(groups, level, FRESH)
        print("\nThe key alone:\n\n| | |\n|---|---|")
        for case, line in groups.get(f"{level} key set-up", {}).items():
            print(f"| {case} | {cell(line)} |")
    compared = behind = 0
    print("\n### Every cell in which a rival is ahead\n")
    for group, cases in groups.items():
        found = [(case, *against(line)) for case, line in cases.items() if against(line)]
        ahead = [f"{case}: {times:.2f} {rival}" for case, times, rival in found if times < BEHIND]
        compared, behind = compared + len(found), behind + len(ahead)
        if ahead:
            print(f"* {group} ({len(ahead)} of {len(found)} cells): " + "; ".join(ahead))
    print(f"\n{behind} of {compared} cells.")
    dear(groups)


def dear(groups):
    """Where a way of calling that should cost nothing costs more than it may: a tenth; at the end of a page, 15 ns."""
    print("\n### Every way of calling that costs more than it may\n")
    asked = found = 0
    for group, cases in groups.items():
        for case, line in cases.items():
            if usual := line.get("usual"):
                ours = float(line["best_ns"])
                asked += 1
                if ours > (usual + 15 if group.endswith("page") else usual * 1.1):
                    found += 1
                    print(f"* {group}, {case}: {ours:.1f} ns, not {usual:.1f}")
    print(f"\n{found} of {asked} cells.")


main(sys.argv[1])
