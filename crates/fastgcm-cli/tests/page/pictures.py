#!/usr/bin/env python3
"""Looks at pictures and pages in Chromium, in the light and in the dark.

    python3 pictures.py [MORE...]        each SVG of the repository, and those files (.svg, .html)

In a picture each text lies within it. In a page each text is seen on what is behind it, no title stands there twice, and
the page is not wider than a window of 390 pixels or more: only its tables and its charts scroll. There letters have 9 pixels or more, and names leave
half of the window to what they name.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

ROOT = Path(__file__).resolve().parents[4]
WIDTHS = (390, 500, 1000, 1300)

# What is cut, in units of the picture's own.
CUT = """[...document.querySelectorAll('svg')].flatMap(svg => {
    const whole = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.width && (box.left < whole.left - 1 || box.right > whole.right + 1 || box.top < whole.top - 1 || box.bottom > whole.bottom + 1);
    }).map(text => text.textContent.trim());
})"""

# Texts of too little contrast with the page, titles that stand there twice, and by how much the page is too wide.
PAGE = """(() => {
    const channels = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = colour => channels(colour).map(part => part / 255).map(part => part <= 0.04 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((all, part, at) => all + part * [0.2126, 0.7152, 0.0722][at], 0);
    const page = light(getComputedStyle(document.body).backgroundColor);
    const contrast = colour => (Math.max(light(colour), page) + 0.05) / (Math.min(light(colour), page) + 0.05);
    const faint = [...document.querySelectorAll('p,h1,h2,th,td,dt,dd,a,text')]
        .filter(one => contrast(one.matches('text') ? getComputedStyle(one).fill : getComputedStyle(one).color) < 4.5);
    const titles = [...document.querySelectorAll('h1,h2')].map(one => one.textContent);
    const texts = [...document.querySelectorAll('h1,h2,text')].map(one => one.textContent.trim());
    return {
        faint: faint.map(one => one.textContent.slice(0, 40)),
        twice: titles.filter(title => texts.filter(text => text === title).length > 1),
        wider: document.documentElement.scrollWidth - innerWidth,
        small: [...document.querySelectorAll('text')].filter(one => one.getBoundingClientRect().width && parseFloat(getComputedStyle(one).fontSize)
            * one.ownerSVGElement.getBoundingClientRect().width / one.ownerSVGElement.viewBox.baseVal.width < 9).map(one => one.textContent.trim()),
        broad: [...document.querySelectorAll('th:first-child')].filter(one => one.getBoundingClientRect().width > innerWidth / 2)
            .map(one => one.textContent.slice(0, 40)),
        dark: page < 0.5,
    };
})()"""


def main(more):
    listed = subprocess.run(["git", "ls-files", "*.svg"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    files = [ROOT / name for name in listed] + [Path(name).resolve() for name in more]
    wrong, seen = [], 0
    with tempfile.TemporaryDirectory() as profile, Chromium(profile) as browser:
        for file in files:
            for scheme in ("light", "dark"):
                browser.tab("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                for width in WIDTHS if file.suffix == ".html" else WIDTHS[-1:]:
                    browser.tab("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                    browser.go(file.as_uri())
                    found = {"cut": browser.run(CUT)}
                    if file.suffix == ".html":
                        found |= browser.run(PAGE)
                        found["wider"] = max(found["wider"], 0)
                        found["dark"] = found["dark"] != (scheme == "dark")
                    wrong += [f"{os.path.relpath(file, ROOT)}, {scheme}, {width}: {what} {value}" for what, value in found.items() if value]
                    seen += 1
    assert not wrong, "\n".join(wrong)
    print("page::pictures ok", seen)


if __name__ == "__main__":
    main(sys.argv[1:])
