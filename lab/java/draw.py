"""`python3 lab/java/draw.py`: the table of docs/java.md, and its plot docs/java.svg, from what Figures.java has printed (results)."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {"SunJCE": ("SunJCE", "#c0504d"), "AmazonCorrettoCryptoProvider": ("ACCP", "#e0a030")}
WIDTH, HEIGHT, TOP = 760, 210, 4.8


def read(name):
    times = {}
    for line in (HERE / "results" / name).read_text().splitlines():
        if not line.startswith("#"):
            verb, size, provider, best, _ = line.split()
            times[verb, int(size), provider] = float(best)
    return times


def named(size):
    return f"{size >> 20} MiB" if size >> 20 else f"{size >> 10} KiB" if size >= 4096 else str(size)


def main():
    parts, y = [], 0
    for file, title in (("java25.txt", "Java 25, foreign functions"), ("java17.txt", "Java 17, JNI")):
        times = read(file)
        sizes = sorted({size for _, size, _ in times})
        print(f"\n| {title}, bytes | sealing, ns | SunJCE | ACCP | opening, ns | SunJCE | ACCP |\n|---:|---:|---:|---:|---:|---:|---:|")
        for size in sizes:
            cells = [named(size)]
            for verb in ("seal", "open"):
                ours = times[verb, size, "Fastgcm"]
                cells += [f"{ours:.0f}", *(f"{times[verb, size, name] / ours:.2f}" for name in NAMES)]
            print("| " + " | ".join(cells) + " |")
        parts.append(f'<text x="10" y="{y + 18}" font-weight="bold">{title}: how many times as long others take to seal</text>')
        base = y + HEIGHT - 30
        height = lambda ratio: (HEIGHT - 70) * ratio / TOP
        for line in (1, 2, 3, 4):
            at = base - height(line)
            parts.append(f'<path d="M40 {at:.1f}H{WIDTH - 10}" stroke="#ccc"/><text x="14" y="{at + 4:.1f}">{line}</text>')
        for place, size in enumerate(sizes):
            x = 60 + place * (WIDTH - 80) / len(sizes)
            for turn, (name, (_, colour)) in enumerate(NAMES.items()):
                ratio = times["seal", size, name] / times["seal", size, "Fastgcm"]
                tall = height(min(ratio, TOP))
                parts.append(f'<rect x="{x + 28 * turn:.1f}" y="{base - tall:.1f}" width="24" height="{tall:.1f}" fill="{colour}"/>')
                parts.append(f'<text x="{x + 28 * turn + 12:.1f}" y="{base - tall - 4:.1f}" text-anchor="middle">{ratio:.2f}</text>')
            parts.append(f'<text x="{x + 26:.1f}" y="{base + 16}" text-anchor="middle">{named(size)}</text>')
        for turn, (label, colour) in enumerate(NAMES.values()):
            parts.append(f'<rect x="{WIDTH - 170 + 90 * turn}" y="{y + 8}" width="12" height="12" fill="{colour}"/>')
            parts.append(f'<text x="{WIDTH - 154 + 90 * turn}" y="{y + 18}">{label}</text>')
        y += HEIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="11">'
    (HERE.parents[1] / "docs/java.svg").write_text(f'{head}<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n')


if __name__ == "__main__":
    main()
