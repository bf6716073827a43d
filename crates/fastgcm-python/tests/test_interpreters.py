"""Two interpreters of one process: the first one that imports the package has it, and the other is told so."""

import subprocess
import sys

import pytest

# `run(CODE)` runs it in an interpreter that is new, and ends it. What it raises, this raises.
PREAMBLE = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def create(kind):
    if kind == "plain":
        return interpreters.create()
    try:
        return interpreters.create(kind)
    except TypeError:  # before 3.13
        return interpreters.create(isolated=kind == "isolated")

def run(kind, code):
    one = create(kind)
    try:
        failed = interpreters.run_string(one, code)
        assert not failed, failed.formatted
    finally:
        interpreters.destroy(one)

USE = '''
import fastgcm
one = fastgcm.AESGCM(bytes(16))
for _ in range(2):
    try:
        one.decrypt(bytes(12), bytes(32), None)
    except fastgcm.InvalidTag:
        pass
assert one.seal_batch(bytes(12), [b"x"]) == [one.encrypt(bytes(12), b"x", None)]
'''
REFUSED = '''
for _ in range(2):
    try:
        import fastgcm
    except ImportError as error:
        # Python itself says the second of one with a GIL of its own.
        assert "another interpreter" in str(error) or "does not support loading in subinterpreters" in str(error), error
    else:
        assert False, "it was imported"
'''
"""


@pytest.mark.parametrize("kind", ["plain", "legacy", "isolated"])
def test_the_first_one_has_it(kind):
    first = f"exec(USE); [run({kind!r}, REFUSED) for _ in range(3)]; exec(USE)"
    second = f"run({kind!r}, USE); exec(REFUSED); run('plain', REFUSED)"
    # From 3.12 on all but a legacy one has a GIL of its own: there the package cannot be imported at all.
    own = kind != "legacy" and sys.version_info >= (3, 12)
    for program in (first,) if own else (first, second):
        subprocess.run([sys.executable, "-c", PREAMBLE + program], check=True, timeout=120)
