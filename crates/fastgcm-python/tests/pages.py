"""Runs the Python code of the pages as it stands there, each page's blocks one after the other in an empty folder."""

import os
import pathlib
import re
import tempfile

CRATE = pathlib.Path(__file__).resolve().parents[1]
blocks = 0
for page in (CRATE / "README.md", CRATE.parents[1] / "docs/python.md"):
    names: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            exec(compile(block, str(page), "exec"), names)
            blocks += 1
        os.chdir(CRATE)
assert blocks >= 6, blocks
print(f"python::pages ok {blocks}")
