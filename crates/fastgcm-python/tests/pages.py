"""Runs the Python code of the pages as it stands there, each page's blocks one after the other in an empty folder, twice, and writes each page's code
to `FOLDER/PAGE.py`, for type checkers:

    python tests/pages.py FOLDER
"""

import os
import pathlib
import re
import sys
import tempfile

CRATE = pathlib.Path(__file__).resolve().parents[1]
out = pathlib.Path(sys.argv[1]).resolve()
out.mkdir(parents=True, exist_ok=True)
blocks = 0
for page in (CRATE / "README.md", CRATE.parents[1] / "docs/python.md"):
    code = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    (out / f"{page.stem.lower()}_page.py").write_text("\n".join(code))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _ in range(2):  # whoever types it a second time finds the files of the first
            names: dict = {}
            for block in code:
                exec(compile(block, str(page), "exec"), names)
                blocks += 1
        os.chdir(CRATE)
assert blocks >= 12, blocks
print(f"python::pages ok {blocks}")
