"""Checks modules of WebAssembly in Chromium without a window: browser.py MODULE..."""

import base64
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "fastgcm-cli/tests/page"))
from chromium import Chromium  # noqa: E402

with tempfile.TemporaryDirectory() as profile, Chromium(profile) as browser:
    for module in map(pathlib.Path, sys.argv[1:]):
        code = base64.b64encode(module.read_bytes()).decode()
        of_bytes = f"WebAssembly.instantiate(Uint8Array.from(atob('{code}'), (c) => c.charCodeAt(0)))"
        found = browser.run(f"{of_bytes}.then(({{ instance }}) => instance.exports.check())")
        assert found >= 304, found
        print(f"wasm::chromium::{module.parts[-4]} ok {found}")
