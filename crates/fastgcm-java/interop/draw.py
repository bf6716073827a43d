"""`python3 crates/fastgcm-java/interop/draw.py`: the tables of docs/java.md and its plot docs/java.svg, from what Figures.java, Tls.java and
Streams.java have printed (results).
`--check`: whether the page and the plot have them.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {"SunJCE": ("SunJCE", "#c0504d"), "AmazonCorrettoCryptoProvider": ("ACCP", "#e0a030")}
WIDTH, HEIGHT = 760, 230


def read(name):
    times = {}
    for line in (HERE / "results" / name).read_text().splitlines():
        if not line.startswith("#"):
            verb, size, provider, best, _ = line.split()
            times[verb, int(size), provider] = float(best)
    return times


def named(size):
    return f"{size >> 20} MiB" if size >> 20 else f"{size >> 10} KiB" if size >= 4096 else str(size)


def of_tls():
    """The best of some runs, each of 1 GiB."""
    best = {}
    for line in (HERE / "results/tls.txt").read_text().splitlines():
        if not line.startswith("#"):
            java, provider, *seconds = line.split()
            best[java, provider] = min(map(float, seconds))
    said = "| TLS, seconds | Fastgcm | SunJCE |\n|---|---:|---:|"
    for java in ("17", "25"):
        said += f"\n| Java {java} | {best[java, 'Fastgcm']:.2f} | {best[java, 'SunJCE']:.2f} |"
    return said


def of_streams():
    """A text in pieces: a line for each way, ours in microseconds and how many times as long SunJCE takes."""
    lines = (HERE / "results/streams.txt").read_text().splitlines()
    best = {tuple(words[:4]): float(words[4]) for words in map(str.split, lines) if words[0] != "#"}
    said = "| pieces of | Java 17, sealing | SunJCE | opening | SunJCE | Java 25, sealing | SunJCE | opening | SunJCE |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for way, name in (("64", "64 bytes"), ("512", "512 bytes"), ("8192", "8 KiB"), ("stream", "`CipherInputStream`")):
        cells = [name]
        for java in ("17", "25"):
            for verb in ("seal", "open"):
                ours, theirs = (best[java, verb, way, provider] for provider in ("Fastgcm", "SunJCE"))
                cells += [f"{ours:.0f}", f"{theirs / ours:.2f}"]
        said += "\n| " + " | ".join(cells) + " |"
    return said


def main():
    parts, y, said = [], 0, []
    measured = {title: read(file) for file, title in (("java25.txt", "Java 25, foreign functions"), ("java17.txt", "Java 17, JNI"))}
    # One scale for both, on which the tallest bar and the number over it have room.
    top = max(times["seal", size, name] / times["seal", size, "Fastgcm"] for times in measured.values() for _, size, name in times)
    for title, times in measured.items():
        sizes = sorted({size for _, size, _ in times})
        said.append(f"\n| {title}, bytes | sealing, ns | SunJCE | ACCP | opening, ns | SunJCE | ACCP |\n|---:|---:|---:|---:|---:|---:|---:|")
        for size in sizes:
            cells = [named(size)]
            for verb in ("seal", "open"):
                ours = times[verb, size, "Fastgcm"]
                cells += [f"{ours:.0f}", *(f"{times[verb, size, name] / ours:.2f}" for name in NAMES)]
            said[-1] += "\n| " + " | ".join(cells) + " |"
        parts.append(f'<text x="10" y="{y + 18}" font-weight="bold">{title}: how many times as long others take to seal</text>')
        base = y + HEIGHT - 30
        height = lambda ratio: (HEIGHT - 75) * ratio / top
        for line in range(1, int(top) + 1):
            at = base - height(line)
            parts.append(f'<path d="M40 {at:.1f}H{WIDTH - 10}" stroke="#ccc"/><text x="14" y="{at + 4:.1f}">{line}</text>')
        for place, size in enumerate(sizes):
            x = 60 + place * (WIDTH - 80) / len(sizes)
            for turn, (name, (_, colour)) in enumerate(NAMES.items()):
                ratio = times["seal", size, name] / times["seal", size, "Fastgcm"]
                tall = height(ratio)
                parts.append(f'<rect x="{x + 28 * turn:.1f}" y="{base - tall:.1f}" width="24" height="{tall:.1f}" fill="{colour}"/>')
                parts.append(f'<text x="{x + 28 * turn + 12:.1f}" y="{base - tall - 4:.1f}" text-anchor="middle">{ratio:.2f}</text>')
            parts.append(f'<text x="{x + 26:.1f}" y="{base + 16}" text-anchor="middle">{named(size)}</text>')
        for turn, (label, colour) in enumerate(NAMES.values()):
            parts.append(f'<rect x="{WIDTH - 170 + 90 * turn}" y="{y + 8}" width="12" height="12" fill="{colour}"/>')
            parts.append(f'<text x="{WIDTH - 154 + 90 * turn}" y="{y + 18}">{label}</text>')
        y += HEIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="11">'
    plot = f'{head}<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    said += ["\n" + of_tls(), "\n" + of_streams()]
    docs = HERE.parents[2] / "docs"
    if sys.argv[1:] == ["--check"]:
        page = (docs / "java.md").read_text()
        missing = [part for part in said if part + "\n" not in page]
        if missing or plot != (docs / "java.svg").read_text():
            sys.exit("docs/java.md or its plot is not what crates/fastgcm-java/interop/draw.py makes of crates/fastgcm-java/interop/results:" + "\n".join(missing))
        print(f"java::page ok {len(said)}")
    else:
        print("\n".join(said))
        (docs / "java.svg").write_text(plot)


if __name__ == "__main__":
    main()
