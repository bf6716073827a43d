#!/usr/bin/env python3
"""Key files between fastgcm (built with the feature `age`) and programs of age, both ways, at a terminal where passphrases are typed.

    python3 age_interop.py path/to/fastgcm age [rage]...

Each program has its key generator beside it (`age-keygen`). `ssh-keygen` makes keys of ssh. Ends with `age_interop ok COUNT`, or with a message and exit code 1.
"""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time

TEXT = os.urandom(100_000)
GOOD, BAD = "correct horse battery staple", "correct horse battery stable"


def main(fastgcm, programs):
    done = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        write("text", TEXT)
        for kind, password in (("ed25519", ""), ("rsa", ""), ("ed25519", GOOD)):
            run("ssh-keygen", "-q", "-t", kind, "-N", password, "-f", "ssh-" + kind + "-locked" * bool(password))
        for program in programs:
            run(program + "-keygen", "-o", "identity")
            age = re.search(r"age1\w+", read("identity").decode())[0]
            for recipient, identity in (
                (age, "identity"),
                (read("ssh-ed25519.pub").decode().strip(), "ssh-ed25519"),
                (read("ssh-rsa.pub").decode().strip(), "ssh-rsa"),
                (read("ssh-ed25519-locked.pub").decode().strip(), "ssh-ed25519-locked"),
            ):
                typed = [GOOD] if "locked" in identity else []
                # What fastgcm locks for two, the other program opens, and fastgcm by either.
                write("team", ("# all of us\n%s\n" % recipient).encode())
                run(fastgcm, "keygen", "-r", age, "--for", "team", "-o", "key")
                run(fastgcm, "seal", "-q", "-k", "key", "-i", "identity", "text")
                check(at_terminal([fastgcm, "open", "-k", "key", "-i", identity, "-o", "opened", "text.sealed"], typed) == 0, program, identity)
                check(read("opened") == TEXT, "another text", program, identity)
                check(at_terminal([program, "-d", "-i", identity, "-o", "raw", "key"], typed) == 0, program, identity)
                check(len(read("raw")) == 32, "not the bytes of a key", program)
                os.chmod("raw", 0o600)
                os.remove("opened")
                run(fastgcm, "open", "-k", "raw", "-o", "opened", "text.sealed")
                # What the other program locks, as lines of text or not, fastgcm opens.
                for armor in ([], ["-a"]):
                    run(program, *armor, "-r", recipient, "-o", "theirs", "raw")
                    os.remove("opened")
                    check(at_terminal([fastgcm, "open", "-k", "theirs", "-i", identity, "-o", "opened", "text.sealed"], typed) == 0, program, identity)
                    check(read("opened") == TEXT, "another text", program, identity)
                    os.remove("theirs")
                    done += 1
                for name in ("key", "raw", "opened", "text.sealed", "team"):
                    os.remove(name)
                done += 3

            # Passphrases, typed.
            check(at_terminal([fastgcm, "keygen", "-p", "-o", "key"], [GOOD, BAD]) == 4 and not os.path.exists("key"), "two passphrases")
            check(at_terminal([fastgcm, "keygen", "-p", "-o", "key"], ["", ""]) == 4 and not os.path.exists("key"), "no passphrase")
            check(at_terminal([fastgcm, "keygen", "-p", "-o", "key"], [GOOD, GOOD]) == 0, "keygen -p")
            check(at_terminal([fastgcm, "seal", "-k", "key", "text"], [BAD]) == 4 and not os.path.exists("text.sealed"), "a wrong passphrase")
            check(at_terminal([fastgcm, "seal", "-k", "key", "text"], [GOOD]) == 0, "seal")
            check(at_terminal([program, "-d", "-o", "raw", "key"], [GOOD]) == 0 and len(read("raw")) == 32, program, "of our passphrase")
            check(at_terminal([program, "-p", "-a", "-o", "theirs", "raw"], [GOOD, GOOD]) == 0, program, "-p")
            check(at_terminal([fastgcm, "open", "-k", "theirs", "-o", "opened", "text.sealed"], [GOOD]) == 0, "of their passphrase")
            check(read("opened") == TEXT, "another text", program)
            done += 9
            for name in ("identity", "key", "raw", "theirs", "opened", "text.sealed"):
                os.remove(name)
        done += interrupted(fastgcm)
    check(done == len(programs) * (4 * 5 + 9) + 8, "count", done)
    print("age_interop ok", done)


def interrupted(fastgcm):
    """Whatever ends a run that asks for a passphrase, the terminal shows again what is typed, and the run has died of the signal. How many runs there were."""
    done = 0
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", GOOD, "-f", "locked")
    run(fastgcm, "keygen", "-r", read("locked.pub").decode().strip(), "-o", "for-locked")
    for args in (["keygen", "-p", "-o", "none"], ["seal", "-k", "for-locked", "-i", "locked", "text"]):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, None):  # None: Ctrl-C is typed
            child, terminal = pty.fork()
            if child == 0:
                os.environ.update(PINENTRY_PROGRAM="", TERM="dumb")
                os.execvp(fastgcm, [fastgcm] + args)
            echoes = lambda: bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
            wait(lambda: not echoes(), "no question", *args)
            seen = b""
            while b": " not in seen:
                seen += os.read(terminal, 4096)
            # Stopped, it leaves the terminal as it was; going on, it asks on in secret.
            os.kill(child, signal.SIGTSTP)
            wait(lambda: os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG), "does not stop", *args)
            check(echoes(), "stopped, the terminal shows nothing of what is typed", *args)
            os.kill(child, signal.SIGCONT)
            wait(lambda: not echoes(), "the terminal shows the rest of the passphrase", *args)
            os.write(terminal, b"half of a pass") if number else os.write(terminal, b"\x03")
            if number:
                os.kill(child, number)
            wait(lambda: os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT), "does not end", *args)
            check(echoes(), "the terminal shows nothing of what is typed", *args, number)
            status = os.waitpid(child, 0)[1]
            check(os.WIFSIGNALED(status) and os.WTERMSIG(status) == (number or signal.SIGINT), "another end", *args, status)
            check(not os.path.exists("none") and not os.path.exists("text.sealed"), "left behind", *args)
            os.close(terminal)
            done += 1
    return done


def wait(until, *what):
    end = time.time() + 20
    while not until():
        check(time.time() < end, *what)
        time.sleep(0.01)


def at_terminal(args, typed):
    """Its exit code, where each question has the next answer, and what is asked beyond them the last: the crate `age` asks for the passphrase of a key of ssh
    for each recipient of a file. No answer is seen."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(PINENTRY_PROGRAM="", TERM="dumb")
        os.execvp(args[0], args)
    asked, seen = 0, b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
        if typed and re.search(rb": ?(\x1b\[[0-9;]*[a-zA-Z])*$", seen):
            # What is typed before the terminal was told to show nothing may be lost. What looks like a question may be the program's last word.
            has_ended = lambda: os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            while termios.tcgetattr(terminal)[3] & termios.ECHO and not has_ended():
                time.sleep(0.01)
            os.write(terminal, typed[min(asked, len(typed) - 1)].encode() + b"\n")
            asked, seen = asked + 1, b""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    check(asked >= len(typed), "not asked", *args, seen)
    check(GOOD.encode() not in seen, "a passphrase is seen", *args, seen)
    if code not in (0, 4):
        print(args, seen)
    return code


def run(*args):
    subprocess.run(args, check=True, stderr=subprocess.DEVNULL)


def check(right, *what):
    if not right:
        sys.exit("age_interop FAILED: " + " ".join(map(str, what)))


def read(name):
    with open(name, "rb") as file:
        return file.read()


def write(name, content):
    with open(name, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), sys.argv[2:])
