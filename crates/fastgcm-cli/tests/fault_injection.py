#!/usr/bin/env python3
"""Every system call of a run fails once, and the run is killed at every system call: nothing may be lost. Needs strace.

    python3 fault_injection.py path/to/fastgcm [--order]

Faults: EIO, ENOSPC, EINTR, SIGKILL, and for each read and write that it moves nothing at all. (Calls that move less than they were asked to:
`short_calls.rs`.) After each run: the target is what it was or all of the new file; exit code 0 only with the latter; the input is as it was;
(`--salvage` also gives a part, with zeros for what could not be read, and exit code 3);
a new key is there, whole, before anything that was sealed with it; no other name is left in the directory, but for one instant of
`--force` in which old and new file both have a name. That the fault was met is read off the trace. So is, of a run without a fault, what
only a power failure would show: a file is on the disk before it has its name, and its name is before the run ends.
With `--order` nothing else is looked at, which takes seconds.
Ends with `fault_injection ok COUNT` (`order ok COUNT`), or with a message and exit code 1.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

FAULTS = ["error=EIO", "error=ENOSPC", "error=EINTR", "signal=KILL"]
NOTHING = "retval=0"
WRITING = {"keygen", "share", "seal", "open", "rekey", "doctor"}  # share writes a key file as keygen does, doctor a configuration as seal does
NOT_WRITING = {"inspect", "cpu", "selftest", "completions", "man"}
MOVES = ("read", "pread64", "readv", "write", "pwrite64", "writev")
OLD = b"precious"


def main(program, is_order):
    text = os.urandom(600_000)
    done = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        subprocess.run([program, "keygen", "-o", "key"], check=True)
        write("text", text)
        subprocess.run([program, "seal", "-k", "key", "-o", "sealed", "text"], check=True)
        sealed = read("sealed")
        key = ["-k", "key"]
        # A command that is new must say here whether it writes files.
        listed = subprocess.run([program, "--help"], capture_output=True, check=True, text=True).stdout
        listed = re.findall(r"^  (\w+)", re.search(r"^Commands:\n(.*?)\n\n(?=\w)", listed, re.M | re.S)[1], re.M)
        check(set(listed) - {"help"} == WRITING | NOT_WRITING, "commands", *listed)
        # What is there before: nothing, or what `--force` replaces, or, for `rekey`, the file itself.
        for command, old, source, content in (
            (["seal", "-q"] + key, None, "text", text),
            (["open"] + key, None, "sealed", sealed),
            (["seal", "-q"] + key, OLD, "text", text),
            (["open"] + key, OLD, "sealed", sealed),
            (["seal", "-q", "--new-key", "new"], None, "text", text),
            (["rekey", "-q"] + key + ["--new-key", "new"], sealed, "key", read("key")),
            (["open", "--range", "0..600000"] + key, None, "sealed", sealed),
            (["open", "--salvage"] + key, OLD, "sealed", sealed),
            (["keygen"], None, "key", read("key")),
        ):
            force = old is not None
            files = ["out"] if command[0] == "rekey" else ["-o", "out", source] + ["--force"] * force
            args = [program] + command + ["--threads", "1"] + files
            if command == ["keygen"]:
                args = [program] + command + ["-o", "new"]
            calls = system_calls(args, old)
            done["synced"] += check_synced(args)
            if is_order:
                continue
            for call, count in calls.items():
                for fault in FAULTS + [NOTHING] * (call in MOVES):
                    for number in range(1, count + 1):
                        what = " ".join(args[1:] + [call, fault, str(number)])
                        code = run(args, old, ["-e", "inject=%s:%s:when=%d" % (call, fault, number)])
                        is_old = read("out") == old if force else not os.path.lexists("out")
                        check(len(read("new")) == 65 if os.path.lexists("new") else is_old or "new" not in args, "new key", what)
                        complete = len(read("new")) == 65 if command == ["keygen"] and os.path.lexists("new") else not is_old and is_complete(program, args, text)
                        is_part = "--salvage" in args and code == 3 and not is_old and is_part_of(read("out"), text)
                        check(complete or is_old or is_part, "target", what)
                        check(complete or code != 0, "exit code 0", what)
                        check(read(source) == content, "input", what)
                        left = set(os.listdir(".")) - {"key", "text", "sealed", "out", "trace", "new"}
                        between = force and "KILL" in fault and call in ("linkat", "rename", "renameat", "renameat2")
                        check(len(left) <= between, "left behind", what, left)
                        for name in left:
                            os.remove(name)
                        met = b"(INJECTED)" in read("trace") or b"+++ killed by SIGKILL +++" in read("trace")
                        done[fault if met else "not met"] += 1
        # A system that gives no more threads: those that there are do the work.
        for command, source in () if is_order else (("seal", "text"), ("open", "sealed")):
            args = [program, command] + key + ["--threads", "4", "-o", "out", source]
            code = run(args, None, ["-e", "inject=clone,clone3:error=EAGAIN"])
            check(code == 0 and is_complete(program, args, text) and b"(INJECTED)" in read("trace"), "no threads", command, code)
            done["error=EAGAIN"] += 1
    if is_order:
        check(done["synced"] == 11, "new files")
        print("order ok", done["synced"])
        return
    print(dict(done))
    total = sum(done.values()) - done["not met"]
    # A run may make a call less than the one before it.
    check(done["synced"] == 11 and done["not met"] * 100 <= total and all(done[fault] > 400 for fault in FAULTS) and done[NOTHING] > 50, "too few faults were met")
    print("fault_injection ok", total)


def system_calls(args, old):
    """How often a run makes each system call."""
    run(args, old, ["-e", "trace=all"])
    names = re.findall(r"^\d+ +(\w+)\(", read("trace").decode(), re.M)
    # A fault at execve is none of the program's.
    return {name: count for name, count in collections.Counter(names).items() if name not in ("execve", "exit_group", "exit")}


def check_synced(args):
    """The order of what the last run did with each new file: bytes, sync, name, sync of the directory. How many new files there were."""
    calls = re.findall(r"^\d+ +(\w+)\(([^ ,)]*)[,) ](.*)$", read("trace").decode(), re.M)
    files = 0
    for at, (call, _, rest) in enumerate(calls):
        linked = call == "linkat" and re.match(r' "/proc/self/fd/(\d+)", (\d+),', rest)
        if not linked:
            continue
        file, directory = linked.groups()
        before = [call for call, first, _ in calls[:at] if first == file and call in MOVES + ("fsync",)]
        check(before and before[-1] == "fsync" and any(call in MOVES for call in before), "named before it was on the disk", *args)
        behind = calls[at:]
        if ".fastgcm-" in rest:  # this name is for an instant only
            behind = behind[[call[:8] for call, _, _ in behind].index("renameat"):]
        synced = [i for i, (call, first, _) in enumerate(behind) if (call, first) == ("fsync", directory)]
        check(synced, "the name may be lost", *args)
        # A new key comes first, and is on the disk before anything that was sealed with it is written.
        if "new" in args and files == 0:
            others = [first for call, first, _ in calls[:at] + behind[:synced[0]] if "write" in call and first not in (file, "1", "2")]
            check(not others, "sealed before the key was safe")
        files += 1
    check(files == (1 if "keygen" in args else 1 + ("new" in args)), "new files", files, *args)
    return files


def run(args, old, options):
    for name in ("out", "new"):
        if os.path.lexists(name):
            os.remove(name)
    if old is not None:
        write("out", old)
    command = ["strace", "-f", "-o", "trace"] + options + args
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def is_complete(program, args, text):
    if not os.path.lexists("out"):
        return False
    if "open" in args:
        return read("out") == text
    key = "new" if "new" in args else "key"
    opened = subprocess.run([program, "open", "-k", key, "-o", "-", "out"], capture_output=True)
    return opened.returncode == 0 and opened.stdout == text


def is_part_of(saved, text):
    """Each chunk is authentic, or zeros."""
    starts = range(0, len(saved), 16384)
    return len(saved) <= len(text) and all(saved[at:at + 16384] in (text[at:at + 16384], bytes(len(saved[at:at + 16384]))) for at in starts)


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
    if sys.argv[2:] not in ([], ["--order"]):
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), sys.argv[2:] == ["--order"])
