"""Says how many tests of each file passed: `.ci/suites` has these lines."""

from collections import Counter


def pytest_terminal_summary(terminalreporter):
    passed = Counter(report.nodeid.split("::")[0].rsplit("/")[-1].removesuffix(".py") for report in terminalreporter.stats.get("passed", []))
    for name, count in sorted(passed.items()):
        terminalreporter.line(f"python::{name} ok {count}")
