#!/usr/bin/env python3
"""Plants all of cargo-mutants' changes of the prover at once (27.1.0, in target/tools or PATH): mutants.py [--list] [--unit | --right] [--of WORD]... [--shard K/N].

Each changed function holds all of its changes, and the variable GCM_MUTANT selects the executed one, so the prover is compiled once, not once for each
mutant. Each mutant runs on the right program and on the victims (tests/victims.rs), until a verdict is wrong. target/mutants/verdicts.txt keeps the
outcomes, so that an interrupted run can continue. A mutant that does not compile does not count.
"""
import argparse, json, os, re, resource, shutil, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "target/mutants"
FILES = ["tools/prove/src/induct/*.rs", "**/prove/src/memory.rs", "**/values/lines.rs", "**/machine/lines.rs", "**/statement/prove.rs"]
SSE = "-O2 -Wno-unused -maes -mpclmul -mssse3 -msse4.1".split()
AVX512 = "-O2 -Wno-unused -maes -mpclmul -mavx512bw -mavx512vl -fno-tree-vectorize".split()


def listed():
    tool = shutil.which("cargo-mutants", path=f"{ROOT}/target/tools/bin:{os.environ['PATH']}")
    command = [tool, "mutants", "--list", "--json", "--no-config", "-p", "gcm-prove"] + [word for file in FILES for word in ("-f", file)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def offset(lines, at):
    return sum(map(len, lines[: at["line"] - 1])) + at["column"] - 1


def body_of(text):
    """Returns where the body of a function begins, after its brace: the first that is in no other brackets."""
    depth, first = 0, re.match(r"(\s*(///|#\[).*\n)*", text).end()
    for i, c in enumerate(text[first:], first):
        if c == "{" and depth == 0:
            return i + 1
        depth += (c in "([{") - (c in ")]}")
    raise ValueError(text)


def plant(mutants, left_out):
    """Writes each file with its mutants. Returns the mutant of each line of each file."""
    owners = {}
    by_file = {}
    for number, mutant in enumerate(mutants):
        if not mutant["function"]:
            continue
        by_file.setdefault(mutant["file"], []).append((number, mutant))
    for file, own in by_file.items():
        text = (ROOT / file).read_text()
        lines = text.splitlines(keepends=True)
        functions = {}
        for number, mutant in own:
            span = mutant["function"]["span"]
            key = (offset(lines, span["start"]), offset(lines, span["end"]))
            functions.setdefault(key, []).append((number, mutant))
        out, at = "", 0
        for (start, end), all_of in sorted(functions.items()):
            whole = text[start:end]
            begin = body_of(whole)
            arms = []
            for number, mutant in all_of:
                if number in left_out:
                    continue
                a, b = (offset(lines, mutant["span"][side]) - start for side in ("start", "end"))
                new = whole[:a] + mutant["replacement"] + whole[b:]
                arms.append((number, new[begin:].rstrip().removesuffix("}")))
            out += text[at:start] + whole[:begin]
            if arms:
                out += "match crate::planted() {"
                for number, body in arms:
                    first = out.count("\n") + 1
                    out += f"\n{number} => {{\n{body}\n}}"
                    owners.setdefault(file, []).append((first, out.count("\n") + 1, number))
                out += "\n_ => {" + whole[begin:] + "}\n}"
            else:
                out += whole[begin:]
            at = end
        path = PLACE / "tree" / file
        path.write_text(out + text[at:])
    library = PLACE / "tree/tools/prove/src/lib.rs"
    library.write_text((ROOT / "tools/prove/src/lib.rs").read_text() + """
/// The number of the mutant.
pub fn planted() -> u32 {
    static NUMBER: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| std::env::var("GCM_MUTANT").map_or(u32::MAX, |n| n.parse().unwrap()));
    *NUMBER
}
""")
    return owners


def build(mutants, chosen, whole):
    """Compiles the chosen mutants, without those that do not compile; the program, too, or only the unit tests."""
    tree = PLACE / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    environment = os.environ | {"CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16", "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1", "RUSTFLAGS": "--cap-lints=warn",
                                "CARGO_TARGET_DIR": str(PLACE / "built")}
    # One of several kinds of iterators or closures cannot be given back.
    left_out = {n for n, mutant in enumerate(mutants) if not mutant["function"] or "impl" in (mutant["function"]["return_type"] or "")}
    by_hand = left_out & chosen
    left_out |= set(range(len(mutants))) - chosen
    unviable = set()
    while True:
        owners = plant(mutants, left_out)
        command = ["cargo", "check", "--release", "--locked", "--offline", "-p", "gcm-prove", "--lib", "--message-format=json"]
        result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        bad = set()
        for line in result.stdout.splitlines():
            message = json.loads(line).get("message") or {}
            if message.get("level") != "error":
                continue
            for span in message["spans"]:
                bad |= {n for a, b, n in owners.get(span["file_name"], []) if span["is_primary"] and a <= span["line_start"] <= b}
        if result.returncode == 0:
            break
        if not bad - left_out:
            sys.exit(result.stdout[-3000:] + result.stderr[-5000:])
        unviable |= bad - left_out
        left_out |= bad
        print(f"{len(unviable)} do not compile", file=sys.stderr, flush=True)
    if whole:
        subprocess.run(["cargo", "build", "--release", "--locked", "--offline", "-p", "gcm-prove", "--lib", "--bins"], cwd=tree, env=environment, check=True)
    made = subprocess.run(["cargo", "test", "--no-run", "--release", "--locked", "--offline", "-p", "gcm-prove", "--lib", "--message-format=json"],
                          cwd=tree, env=environment, check=True, capture_output=True, text=True).stdout
    unit = [json.loads(line)["executable"] for line in made.splitlines() if '"executable":"' in line][-1]
    return unviable, by_hand, PLACE / "built/release/gcm-prove", unit


def victims():
    """Reads tests/victims.rs: (victim, options, expected words or None, flags), for any length and for the quick plan."""
    text = (ROOT / "tools/prove/tests/victims.rs").read_text()
    table = {name: text[text.index(f"const {name}:"):] for name in ("QUICK", "OF_AVX512", "LENGTHS")}
    table = {name: body[: body.index("\n];")] for name, body in table.items()}
    quick, long = [], []
    verdict = r'(Proved|Not\("([^"]*)"\))'
    for name, flags, row in (("QUICK", SSE, "aesni-sse"), ("OF_AVX512", AVX512, "vaes-avx512")):
        for victim, is_proved, words in re.findall(rf"\((\d+), {verdict}", table[name]):
            more = [] if is_proved == "Proved" or victim == "17" else ["-DSEAL", "-Wno-unused-function"]
            quick.append((int(victim), ["--row", row], words or None, flags + more))
    for victim, verb, more, is_proved, words in re.findall(rf'\((\d+), "(\w+)", &\[(.*?)\], {verdict}', table["LENGTHS"]):
        more = re.findall('"(.*?)"', more)
        long.append((int(victim), ["--row", "aesni-sse", "--lengths", "--verb", verb, *more], words or None, [*SSE, "-DPLAIN"]))
    return quick, long


def program(victim, flags):
    path = PLACE / "programs" / f"v{victim}{'-seal' if '-DSEAL' in flags else ''}{'-512' if flags[4] == '-mavx512bw' else ''}{'-plain' if '-DPLAIN' in flags else ''}" / "victims"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "victims.told").write_text("")
        base = "cc -O2 -w -g -static -no-pie -Wl,-z,noexecstack -I tools/prove/targets -o".split()
        subprocess.run([*base, path, "tools/prove/tests/victims.c", *flags, f"-DV={victim}"], cwd=ROOT, check=True)
    return path


def questions(file, times):
    """Returns the runs of a mutant, the fastest and most effective first."""
    quick, long = victims()
    quick = [("quick", *of) for of in quick]
    long = [("long", *of) for of in long]
    is_right = lambda of: of[3] is None
    first, second = (long, quick) if "/induct/" in file or "/lines.rs" in file else (quick, long)
    order = [("unit",)] + [of for of in first if is_right(of)]
    # The induction has no part in calls of given lengths.
    second = [] if "/induct/" in file or "/lines.rs" in file else second
    order += [of for of in second if is_right(of)]
    cost = lambda of: times.get(json.dumps(of), 0)
    return order + sorted((of for of in first + second if not is_right(of)), key=cost)


def cpu():
    """Returns the CPU seconds of the children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ask(question, prover, unit, mutant, limit):
    environment = os.environ | ({"GCM_MUTANT": str(mutant)} if mutant is not None else {}) | {"RUST_BACKTRACE": "0"}
    if question[0] == "unit":
        command, want, words = [unit, "-q"], 0, None
    else:
        _, victim, options, words, flags = question
        command, want = [prover, program(victim, flags), *options], 0 if words is None else 1
    limits = lambda: (resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)), resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))
    result = subprocess.run(command, cwd=PLACE, env=environment, capture_output=True, text=True, preexec_fn=limits, errors="replace")
    if result.returncode != want:
        return f"exit {result.returncode}, not {want}"
    return None if words is None or words in result.stdout else f"{words!r} is missing in the output"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="names them, and ends")
    parser.add_argument("--of", action="append", default=[], help="those with this in their names")
    parser.add_argument("--shard", default="0/1", help="of N mutants the K-th, and so on")
    parser.add_argument("--unit", action="store_true", help="runs only the unit tests, which take seconds")
    parser.add_argument("--right", action="store_true", help="and what is right")
    chosen = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    mutants = listed()
    shard, shards = map(int, chosen.shard.split("/"))
    own = {n for n, mutant in enumerate(mutants) if n % shards == shard and (not chosen.of or any(word in mutant["name"] for word in chosen.of))}
    if chosen.list:
        print("\n".join(mutants[n]["name"] for n in sorted(own)))
        return
    unviable, by_hand, prover, unit = build(mutants, own, not chosen.unit)
    print(f"{len(own)} of {len(mutants)} mutants; {len(unviable)} of them do not compile, {len(by_hand)} are to be planted by hand", flush=True)
    verdicts = PLACE / "verdicts.txt"
    done = {line.split(" | ")[1] for line in verdicts.read_text().splitlines()} if verdicts.exists() else set()
    times = {}
    for n in sorted(own - unviable - by_hand):
        name, verdict = mutants[n]["name"], "survives"
        if name in done:
            continue
        for question in questions(mutants[n]["file"], times):
            if question[0] != "unit" and (chosen.unit or chosen.right and question[3] is not None):
                continue
            key = json.dumps(question)
            if key not in times:
                begin = cpu()
                if wrong := ask(question, prover, unit, None, 1000):
                    sys.exit(f"without a mutant: {question}: {wrong}")
                times[key] = cpu() - begin
            if wrong := ask(question, prover, unit, n, int(5 * times[key] + 10)):
                verdict = f"killed by {question[:3]}: {wrong}"
                break
        line = f"{verdict} | {name}"
        with verdicts.open("a") as file:
            file.write(line + "\n")
        print(line, flush=True)


main()
