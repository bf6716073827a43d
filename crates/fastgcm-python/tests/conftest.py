"""Says how many tests of each file passed: `.ci/suites` has these lines. `/portable` is a back end that was chosen."""

import os
from collections import Counter


def pytest_terminal_summary(terminalreporter):
    passed = Counter(report.nodeid.split("::")[0].rsplit("/")[-1].removesuffix(".py") for report in terminalreporter.stats.get("passed", []))
    row = "/" + os.environ["FASTGCM_BACKEND"] if "FASTGCM_BACKEND" in os.environ else ""
    for name, count in sorted(passed.items()):
        terminalreporter.line(f"python::{name}{row} ok {count}")
    # A mark in the source leaves out a test that nobody would miss: what is skipped is said, and needs a line in `.ci/allowed-skips`.
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "?"
        terminalreporter.line(f"SKIPPED python {report.nodeid.rsplit('/')[-1]}: {reason}")
