#!/usr/bin/env python3
"""The page open.html beside the program.

    python3 run.py node path/to/fastgcm          the page's Cobblestone, under Node
    python3 run.py faults path/to/fastgcm        faults that are planted in it: some case notices each
    python3 run.py chromium path/to/fastgcm      the page itself, in Chromium, with files of pyca (>= 50), too

Opens files of all lengths that matter, and files that were changed in every way. Where the program refuses a
file, the page must refuse it with the program's words. What it has passed on must be the text's beginning.
"""

import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "open.html"
HEADER, CHUNK, TAG = 56, 16384, 16
SEALED = CHUNK + TAG
BATCH = 64  # chunks that the page opens together
KEY_LENGTHS = {"cobblestone-256": 32, "cobblestone-128": 16}

NO_KEY = "not a key: neither 16 nor 32 bytes, nor one line of 32 or 64 hexadecimal digits"
AGE = "it is an age file, in which the key is: open it with age first"

# Faults in the page, each of which some case must find: what stands there, and what takes its place.
FAULTS = {
    "the last chunk's tag does not count": ("await sealed.openChunk(last, end).catch(error => {",
                                            "await sealed.openChunk(last, end).catch(error => { return;"),
    "no chunk's tag counts": ("if (bad) throw bad.reason;", "if (bad) bad.value = new Uint8Array();"),
    "a missing last chunk is accepted": ("if (sealed < HEADER || last < TAG) throw truncated();",
                                         "if (last < TAG) return full * CHUNK - 1;"),
    "chunks are counted from 1": ("^ number % 2 ** 32", "^ (number + 1) % 2 ** 32"),
    "the upper half of a number does not count": ("^ Math.floor(number / 2 ** 32)", "^ 0"),
    "chunks are not counted": ("^ number % 2 ** 32", "^ 0"),
    "a batch has a chunk too many": ("first += BATCH)", "first += BATCH - 1)"),
    "the commitment does not count": ("commitment[at]), 0) !== 0)", "commitment[at]), 0) < 0)"),
    "half of the commitment does not count": ("bits | (byte ^ commitment[at])",
                                              "at < 16 ? 0 : bits | (byte ^ commitment[at])"),
    "the last bad chunk is named": ("opened.find(", "opened.findLast("),
    "the context does not count": ("salt, context);", "salt);"),
    "every key is of AES-256": ("`AEAD_AES_${8 * key.length}_GCM`", '"AEAD_AES_256_GCM"'),
    "a mark of direction is shown": ("\\p{Cc}\\p{Cf}", "\\p{Cc}"),
    "the fingerprint is another one": ("fingerprint@v1", "fingerprint@v2"),
}


# Every letter that this Python knows, in texts that fit into an argument.
LETTERS = "".join(filter(lambda letter: unicodedata.category(letter) not in ("Cn", "Co", "Cs"), map(chr, range(1, 0x110000))))
TEXTS = [LETTERS[at:at + 30000] for at in range(0, len(LETTERS), 30000)]


def escaped(text):
    """The text as it must be shown: a terminal obeys control characters, and others nobody sees."""
    short = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    unsafe = ("Cc", "Cf", "Zl", "Zp")
    one = lambda letter: short.get(letter, f"\\u{{{ord(letter):x}}}") if unicodedata.category(letter) in unsafe else letter
    return "".join(map(one, text))


class Cases:
    """Files to be opened, with what must come of each. The page opens `batch` chunks together."""

    def __init__(self, folder, program, seed, batch, pyca):
        self.folder, self.program, self.batch = folder, program, batch
        self.rng, self.cases = random.Random(seed), []
        several = batch * CHUNK
        lengths = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK]
        lengths += [several - 1, several, several + 1, 2 * several + CHUNK + 5, 5 << 20]
        sources = [("ours", self.seal)] + ([("theirs", pyca_seal)] if pyca else [])
        for source, seal in sources:
            for name in KEY_LENGTHS:
                for number, length in enumerate(lengths):
                    self.whole(f"{source}-{name}-{length}", seal, name, number, length)
        for name in KEY_LENGTHS:
            self.changed(name)
        self.keys()

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return str(path)

    def add(self, what, sealed, key, context, text, failure=None, digits=None):
        """A file of these bytes. What is wrong with it the program says, unless it is said here."""
        note = None
        file = sealed if isinstance(sealed, str) else self.write(f"{what}.sealed", sealed)
        if failure is None:
            failure, note = self.refusal(file, key, context)
        case = {"what": what, "file": file, "key": key, "digits": digits, "context": context}
        self.cases.append({**case, "text": text, "failure": failure, "note": note})

    def refusal(self, file, key, context):
        """What the program says to it, and what it says of the key."""
        command = [self.program, "open", "--quiet", "-k", key, "--context", context, "-o", "/dev/null", file]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            return None, None
        assert done.returncode == 3, (file, done.stderr)
        failure, *notes = done.stderr.splitlines()
        of_key = [note.removeprefix("note: ").replace(f" {key}", "") for note in notes if key in note]
        return failure.removeprefix(f"fastgcm: {file}: "), of_key[0] if of_key else None

    def seal(self, name, key, context, text):
        options = ["--quiet", "--format", name, "-k", self.write("raw", key), "--context", context, "-o", "-"]
        command = [self.program, "seal", *options, self.write("text", text)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def shown(self, text):
        """The text as the program shows it, which takes it for the name of a file."""
        done = subprocess.run([self.program, "inspect", text], stderr=subprocess.PIPE, encoding="utf-8")
        return done.stderr.removeprefix("fastgcm: ").removesuffix(": File name too long\n")

    def whole(self, what, seal, name, number, length):
        key, text = self.rng.randbytes(KEY_LENGTHS[name]), self.rng.randbytes(length)
        context = f"context {number} \u00e9" if number % 3 else ""
        # Key files take turns.
        digits = key.hex().encode()
        content = [key, digits + b"\n", digits + b"\r\n", digits.upper()][number % 4]
        typed = f" {key.hex()} " if number % 4 == 1 else None
        file = self.write(f"{what}.key", content)
        self.add(what, seal(name, key, context, text), file, context, text, digits=typed)
        assert self.cases[-1]["failure"] is None, what

    def changed(self, name):
        """Each change of each region of a file: two full batches of chunks, a full chunk and a short one."""
        key, context = self.rng.randbytes(KEY_LENGTHS[name]), "here"
        text = self.rng.randbytes((2 * self.batch + 1) * CHUNK + 100)
        sealed, file = self.seal(name, key, context, text), self.write(f"{name}.key", key)
        last = (len(sealed) - HEADER) // SEALED
        start = [HEADER + number * SEALED for number in range(last + 1)] + [len(sealed)]
        chunks = [sealed[begin:end] for begin, end in zip(start, start[1:])]

        places = {"salt": 0, "salt's end": 23, "commitment": 24, "commitment's half": 39, "header's end": 55}
        for number in (0, 1, self.batch - 1, self.batch, last - 1, last):
            chunk, end = f"chunk {number}", start[number + 1]
            places |= {chunk: start[number], f"{chunk}'s text's end": end - TAG - 1,
                       f"{chunk}'s tag": end - TAG, f"{chunk}'s end": end - 1}
        changes = {}
        for where, at in places.items():
            bit = 1 << self.rng.randrange(8)
            changes[f"a bit of {where}"] = sealed[:at] + bytes([sealed[at] ^ bit]) + sealed[at + 1:]
        two = bytearray(sealed)
        for number in (self.batch + 1, self.batch + 2):
            two[start[number]] ^= 1
        changes["two bad chunks"] = bytes(two)
        borders = [*start[:3], start[self.batch], *start[-3:]]
        cuts = [0, 1, 24, 55] + [border + by for border in borders for by in (-17, -16, -1, 0, 1, 15, 16, 17)]
        for cut in sorted({cut for cut in cuts if 0 <= cut < len(sealed)}):
            changes[f"cut to {cut}"] = sealed[:cut]
        for more in (1, 15, 16, 17, SEALED - 117, SEALED - 116, SEALED - 100, SEALED):
            changes[f"{more} zeros behind it"] = sealed + bytes(more)
        changes["a chunk behind it"] = sealed + chunks[1]
        changes["itself behind it"] = sealed + sealed
        pairs = [(0, 1), (1, 2), (self.batch - 1, self.batch), (0, last), (last - 1, last)]
        for one, other in pairs:
            moved = chunks.copy()
            moved[one], moved[other] = moved[other], moved[one]
            changes[f"chunks {one} and {other} changed places"] = sealed[:HEADER] + b"".join(moved)
        for number in (0, 1, self.batch, last - 1, last):
            for much, word in ((0, "lacks"), (2, "has twice")):
                some = chunks[:number] + much * [chunks[number]] + chunks[number + 1:]
                changes[f"{word} chunk {number}"] = sealed[:HEADER] + b"".join(some)
        other = self.seal(name, key, context, text)
        changes["chunk 2 of another file"] = sealed[:start[2]] + other[start[2]:start[3]] + sealed[start[3]:]
        changes["header of another file"] = other[:HEADER] + sealed[HEADER:]
        changes["a text"] = b"This is no sealed file. " * 40
        changes["zeros"] = bytes(1000)
        changes["random bytes"] = self.rng.randbytes(1000)
        for what, content in changes.items():
            self.add(f"{name} {what}", content, file, context, text)
            assert self.cases[-1]["failure"], what
        wrong = {"another key": key[:-1] + bytes([key[-1] ^ 1]),
                 "a key of the other length": self.rng.randbytes(48 - len(key))}
        for what, content in wrong.items():
            self.add(f"{name} {what}", sealed, self.write(f"{name} {what}.key", content), context, text)
        for what in ("", "Here", "here "):
            self.add(f"{name} context '{what}'", sealed, file, what, text)

    def keys(self):
        """Key files that are none."""
        key = self.rng.randbytes(32)
        sealed = self.seal("cobblestone-256", key, "", b"text")
        digits = key.hex().encode()
        age = b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVu\n-----END AGE ENCRYPTED FILE-----\n"
        wrong = {"no byte": b"", "31 bytes": key[:31], "33 bytes": key + b"\0", "many bytes": bytes(1 << 20),
                 "63 digits": digits[:63], "65 digits": digits + b"0", "64 letters": b"x" + digits[1:],
                 "two lines": digits + b"\n\n", "two keys": 2 * (digits + b"\n"), "a space": digits + b" ",
                 "age": age, "age and an empty line": b"\n" + age, "age, binary": b"age-encryption.org/v1\n"}
        for what, content in wrong.items():
            failure = AGE if what.startswith("age") else NO_KEY
            self.add(f"key of {what}", sealed, self.write(f"{what}.key", content), "", b"text", failure)

    def json(self):
        known = ("file", "key", "digits", "context")
        return json.dumps([{name: case[name] for name in known} for case in self.cases])

    def wrong(self, outcomes):
        """The cases whose outcome is not what it must be."""
        assert len(outcomes) == len(self.cases), (len(outcomes), len(self.cases))
        both = zip(self.cases, outcomes)
        return [(case["what"], outcome) for case, outcome in both if not right(case, outcome)]


def right(case, outcome):
    length, text = outcome["length"], case["text"]
    whole = length <= len(text) and (case["failure"] or length == len(text))
    failed = outcome["failure"] == case["failure"] and (not case["note"] or case["note"] in outcome["notes"])
    return failed and whole and outcome["sha256"] == sha256(text[:length])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pyca_seal(name, key, context, text):
    from cryptography import cobblestone

    algorithm = {32: cobblestone.Cobblestone256Encryptor, 16: cobblestone.Cobblestone128Encryptor}[len(key)]
    job = algorithm(key, context.encode())
    return job.update(text) + job.finalize()


def check_policy(page):
    """The page's policy allows its own style and scripts by their hashes, and nothing else."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page, re.S)[1]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split(";"))
    for kind in ("style", "script"):
        codes = re.findall(f"<{kind}>(.*?)</{kind}>", page, re.S)
        hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in codes]
        wanted = [f"'sha256-{hash}'" for hash in hashes]
        assert rules.pop(f"{kind}-src").split() == wanted, f"open.html must say {kind}-src {' '.join(wanted)}"
    for what in ("default-src", "base-uri", "form-action", "trusted-types"):
        assert rules.pop(what) == "'none'", what
    assert rules == {"require-trusted-types-for": "'script'"}, rules


def node(page, cases, folder):
    """What is wrong, if Node opens the files with the page's script."""
    (folder / "cases.json").write_text(cases.json())
    (folder / "page.html").write_text(page)
    (folder / "letters.json").write_text(json.dumps(TEXTS))
    command = ["node", HERE / "node.mjs", folder / "page.html", folder / "cases.json", folder / "letters.json"]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    shown = [f"the page shows {page!r}" for text, page in zip(TEXTS, found["shown"], strict=True) if page != escaped(text)]
    return cases.wrong(found["outcomes"]) + ([found["wrongNumbers"]] if found["wrongNumbers"] else []) + shown


def replaced(page, old, new):
    assert page.count(old) == 1, old
    return page.replace(old, new)


def under_node(page, cases, folder):
    wrong = node(page, cases, folder)
    assert wrong == [] and len(cases.cases) == 273, wrong
    print("page::node ok", len(cases.cases))
    for text in TEXTS:
        assert cases.shown(text) == escaped(text), text
    print("page::letters ok", len(TEXTS))


def with_faults(page, cases, folder):
    for what, (old, new) in FAULTS.items():
        wrong = node(replaced(page, old, new), cases, folder)
        assert wrong, f"not noticed: {what}"
        print(f"{what}: noticed by {len(wrong)} cases")
    print("page::faults ok", len(FAULTS))


def main(kind, program, seed):
    print("seed", seed, flush=True)
    page = PAGE.read_text()
    check_policy(page)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if kind == "chromium":
            import browser

            browser.test(PAGE, Cases(folder, program, seed, BATCH, pyca=True), folder)
        else:
            page = replaced(page, f"const BATCH = {BATCH};", "const BATCH = 4;")  # borders in small files
            cases = Cases(folder, program, seed, 4, pyca=False)
            {"node": under_node, "faults": with_faults}[kind](page, cases, folder)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("node", "faults", "chromium"):
        sys.exit(__doc__)
    seed = sys.argv[3] if len(sys.argv) == 4 else str(random.randrange(1 << 64))
    main(sys.argv[1], os.path.abspath(sys.argv[2]), seed)
