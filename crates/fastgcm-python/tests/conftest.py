"""Says how many tests of each file passed, and which did not run: `.ci/suites` has these lines. `/portable` is a back end that was chosen.

A file that has fewer tests than it had fails, and so does a run of all files that lacks one. Who removes a test on purpose changes `LEAST`.
"""

import os
from collections import Counter

# Tests of each file, of all parameters.
LEAST = {
    "test_aesgcm": 10,
    "test_batch": 48,
    "test_beside_pyca": 7,
    "test_changing": 45,
    "test_chunks": 15,
    "test_errors": 13,
    "test_far": 14,
    "test_files": 16,
    "test_free_threads": 18,
    "test_interpreters": 3,
    "test_jobs": 44,
    "test_memory": 1,
    "test_more": 54,
    "test_nonces": 10,
    "test_sizes": 10,
    "test_walks": 6,
}
# What these tests ran on, before anything was chosen among them; what was chosen against; and why the run fails.
found, against, lacking = Counter(), [], []


def of_file(nodeid):
    return nodeid.split("::")[0].rsplit("/")[-1].removesuffix(".py")


def pytest_itemcollected(item):
    found[of_file(item.nodeid)] += 1


def pytest_deselected(items):
    against.extend(item.nodeid for item in items)


def pytest_sessionfinish(session):
    arguments = session.config.args
    if session.config.option.collectonly or any("::" in argument for argument in arguments):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # A file that needs what this Python lacks says so by itself.
    skipped = {of_file(report.nodeid) for report in reporter.stats.get("skipped", []) if "::" not in report.nodeid}
    of_all = session.config.args_source is not session.config.ArgsSource.ARGS
    names = (set(LEAST) if of_all else set(found)) - skipped
    for name in sorted(names):
        if found[name] < LEAST.get(name, 1 << 30):
            lacking.append(f"{name}: {found[name]} tests, and not {LEAST.get(name, 'a number that conftest.py has')}")
    if lacking:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    passed = Counter(of_file(report.nodeid) for report in terminalreporter.stats.get("passed", []))
    row = "/" + os.environ["FASTGCM_BACKEND"] if "FASTGCM_BACKEND" in os.environ else ""
    for name, count in sorted(passed.items()):
        terminalreporter.line(f"python::{name}{row} ok {count}")
    for kind in ("skipped", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(kind, []):
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", kind)
            terminalreporter.line(f"SKIPPED {said(report.nodeid)}: {why.removeprefix('Skipped: ')}")
    for nodeid in against:
        terminalreporter.line(f"SKIPPED {said(nodeid)}: not chosen")
    for line in lacking:
        terminalreporter.line(f"python::{line}")


def said(nodeid):
    return "python::" + nodeid.rsplit("/")[-1].replace(".py", "", 1)
