#!/usr/bin/env python3
"""Every system call of a run fails once, and the run is killed at every system call: nothing may be lost. Needs strace.

    python3 fault_injection.py path/to/fastgcm

After each run: the target is what it was or all of the new file; exit code 0 only with the latter; the input is as it was; no other
name is left in the directory, but for one instant of `--force` in which old and new file both have a name.
Ends with `fault_injection ok COUNT`, or with a message and exit code 1.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

FAULTS = ["error=EIO", "error=ENOSPC", "error=EINTR", "signal=KILL"]
OLD = b"precious"


def main(program):
    text = os.urandom(600_000)
    done = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        subprocess.run([program, "keygen", "-o", "key"], check=True)
        write("text", text)
        subprocess.run([program, "seal", "-k", "key", "-o", "sealed", "text"], check=True)
        sealed = read("sealed")
        for force in (False, True):
            for command, source, content in (("seal", "text", text), ("open", "sealed", sealed)):
                args = [program, command, "-k", "key", "--threads", "1", "-o", "out", source] + ["--force"] * force
                for call, count in system_calls(args, force).items():
                    for fault in FAULTS:
                        for number in range(1, count + 1):
                            what = " ".join(args[1:] + [call, fault, str(number)])
                            code = run(args, force, ["-e", "inject=%s:%s:when=%d" % (call, fault, number)])
                            complete = is_complete(program, command, text)
                            check(complete or (read("out") == OLD if force else not os.path.lexists("out")), "target", what)
                            check(complete or code != 0, "exit code 0", what)
                            check(read(source) == content, "input", what)
                            left = set(os.listdir(".")) - {"key", "text", "sealed", "out"}
                            between = force and "KILL" in fault and call in ("linkat", "rename", "renameat", "renameat2")
                            check(len(left) <= between, "left behind", what, left)
                            for name in left:
                                os.remove(name)
                            done[fault] += 1
    print(dict(done))
    print("fault_injection ok", sum(done.values()))


def system_calls(args, force):
    """How often a run makes each system call."""
    run(args, force, ["-e", "trace=all"], "trace")
    names = re.findall(r"^\d+ +(\w+)\(", read("trace").decode(), re.M)
    os.remove("trace")
    # A fault at execve is none of the program's.
    return {name: count for name, count in collections.Counter(names).items() if name not in ("execve", "exit_group", "exit")}


def run(args, force, options, trace="/dev/null"):
    if os.path.lexists("out"):
        os.remove("out")
    if force:
        write("out", OLD)
    command = ["strace", "-f", "-o", trace] + options + args
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def is_complete(program, command, text):
    if not os.path.lexists("out") or read("out") == OLD:
        return False
    if command == "open":
        return read("out") == text
    opened = subprocess.run([program, "open", "-k", "key", "-o", "-", "out"], capture_output=True)
    return opened.returncode == 0 and opened.stdout == text


def check(right, *what):
    if not right:
        sys.exit("fault_injection FAILED: " + " ".join(map(str, what)))


def read(name):
    with open(name, "rb") as file:
        return file.read()


def write(name, content):
    with open(name, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
