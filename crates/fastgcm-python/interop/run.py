"""All checks of data beyond one machine in one command, offline: engines, files, objects, encrypted Parquet, the guide, and a page with plots.

    python crates/fastgcm-python/interop/run.py [FOLDER] [--official PYTHON] [--official-java FOLDER] [--object PROGRAM] [--module FASTGCM.SO] [--quick] [--draw]

It works in FOLDER (target/data), which it makes anew. Every server runs on this machine: KMS is moto's, and S3 is moto's and Ceph's (radosgw.py), in turn.
`--official` is a Python that has Amazon's client, `--official-java` what java/pom.xml makes, `--object` the example of fastgcm-s3, `--module` the provider.
`--quick` measures little. `--draw` writes the page where the project has it, crates/fastgcm-python/interop/results; else it goes to FOLDER/results.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

import radosgw

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def run(folder, name, *command, least=1, **environment):
    """Runs a program of this folder, with these variables. Its output goes to a log; what it says about suites is shown."""
    log = folder / f"{name}.log"
    print(f"-- {name}", flush=True)
    with open(log, "wb") as out:
        try:
            options = {"cwd": HERE, "env": os.environ | environment, "stdout": out, "stderr": subprocess.STDOUT, "timeout": 1800}
            code = subprocess.run([sys.executable, *map(str, command)], **options).returncode
        except subprocess.TimeoutExpired:
            code = "none: it hangs"
    lines = [line for line in log.read_text(errors="replace").splitlines() if " ok " in line and "::" in line.split(" ok ")[0]]
    print("\n".join(lines), flush=True)
    if code or len(lines) < least:
        print(log.read_text(errors="replace")[-5000:])
        sys.exit(f"{name}: exit status {code}, {len(lines)} suites of at least {least}; all of its output is in {log}")


def figures(folder):
    for path in sorted(folder.rglob("figures.jsonl")):
        yield from map(json.loads, path.read_text().splitlines())


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def page(folder, results):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "fastgcm", "svg.fonttype": "none", "font.size": 8})
    from matplotlib import pyplot

    known = list(figures(folder))
    of = lambda **wanted: [line for line in known if all(line.get(name) == value for name, value in wanted.items())]
    seconds = lambda **wanted: [line["seconds"] for line in of(**wanted)]
    drawing, (first, second, third) = pyplot.subplots(1, 3, figsize=(11, 3), layout="constrained")
    mib = of(what="throughput")[0]["mib"]

    names = {0: "one process", 1: "1 worker", 2: "2 workers", 4: "4 workers"}
    shown = lambda one: f"{mib / min(one):.0f}, {mib / statistics.median(one):.0f}"
    kinds = [(where, job) for where in ("memory", "disk") for job in ("seal", "open")]
    took = {(workers, *one): seconds(what="throughput", workers=workers, where=one[0], job=one[1]) for workers in names for one in kinds}
    for place, one in enumerate(kinds):
        rates = [mib / min(took[(workers, *one)]) for workers in names]
        first.bar([at + 0.2 * place - 0.3 for at in range(len(names))], rates, 0.2, label=f"{one[1]}, {one[0]}")
    rows = [[name, *(shown(took[(workers, *one)]) for one in kinds)] for workers, name in names.items()]
    first.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names.values()])
    first.set_title(f"a file of {mib} MiB by jobs on Dask, MiB/s (best)")
    first.legend()

    lost = []
    for engine in ("dask", "spark"):
        for job in ("seal", "open"):
            calm, killed = (seconds(what=what, engine=engine, job=job)[1:] for what in ("undisturbed", "killed"))  # the first one warms up
            best = min(killed) - min(calm)
            both = [f"{min(one):.2f} s, {statistics.median(one):.2f} s" for one in (calm, killed)]
            lost.append([f"{engine.capitalize()}, {job}", *both, f"{best:.2f} s"])
            second.bar([f"{engine}\n{job}"], [min(calm)], color="#3465a4")
            second.bar([f"{engine}\n{job}"], [max(0, best)], bottom=[min(calm)], color="#cc0000")
    second.set_title("seconds (best); red: lost by a killed worker")

    shares = []
    kind = "numbers, not compressed"
    for job, marker in (("write", "o"), ("read", "s")):
        lines = of(what=f"parquet {job}", kind=kind)
        for name, style in (("openssl", "--"), ("provider", "-")):
            label = f"{job}, {'OpenSSL' if name == 'openssl' else 'the provider'}"
            third.plot([line["page"] >> 10 for line in lines], [100 * line[f"share {name}"] for line in lines], style, marker=marker, label=label)
    pages = sorted({line["page"] >> 10 for line in known if line["what"].startswith("parquet")})
    third.set_xscale("log", base=2)
    third.set_xticks(pages, map(str, pages))
    third.set_xlabel("KiB of a page")
    third.set_ylim(bottom=0)
    third.set_title("encrypted Parquet: % of a task for encryption")
    third.legend()
    for line in [line for line in known if line["what"].startswith("parquet")]:
        shares.append([line["kind"], f"{line['page'] >> 10} KiB", line["what"].split()[1]])
        for name in ("openssl", "provider"):
            plain, sealed = (line[f"best {name} {which}"] for which in ("plain", "encrypted"))
            shares[-1] += [f"{plain * 1e3:.0f}, {sealed * 1e3:.0f} ms", f"{line[f'share {name}']:.0%}"]
    results.mkdir(parents=True, exist_ok=True)
    drawing.savefig(results / "data.svg", metadata={"Date": None})
    (results / "data.svg").write_text(" ".join((results / "data.svg").read_text().split()).replace("> <", "><") + "\n")  # in one line

    import distributed
    import pyarrow
    import pyspark

    import fastgcm

    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    cores, load = os.cpu_count(), os.getloadavg()[1]
    length = [line for line in known if line["what"].startswith("parquet")][0]["length"] >> 20
    text = [
        "# Data beyond one machine: figures",
        "",
        f"`python crates/fastgcm-python/interop/run.py --draw` makes this page. {processor}, back end {fastgcm.cpu()['backend']}. **{cores} cores, under load** ({load:.1f}",
        f"on average): workers, driver and servers share them, so more workers than cores cannot be faster. Dask {distributed.__version__}, Spark {pyspark.__version__},",
        f"pyarrow {pyarrow.__version__}.",
        "",
        "![Throughput, time lost by a killed worker, share of encryption](data.svg)",
        "",
        f"## One file of {mib} MiB, workers of Dask",
        "",
        "MiB/s, best and median. Parts of 16 MiB. On the disk each part is there (`fsync`) before it counts. In memory is /dev/shm.",
        "",
        table(["", *(f"{job}, {where}" for where, job in kinds)], rows),
        "",
        "## A worker is killed in the middle of a part",
        "",
        "Two workers, parts of 4 MiB. Best and median; what is lost is the difference of the best.",
        "",
        table(["", "undisturbed", "a worker killed", "lost"], lost),
        "",
        "## Encrypted Parquet in a task of Dask",
        "",
        f"A task writes {length} MiB and reads it back, with AES-256 in one thread. Processor time, best of its rounds: plain, encrypted, and the share of",
        "encryption. pyarrow carries an OpenSSL of its own, which reads OPENSSL_CONF. Differences of a few points are noise: the plain times of both, in",
        "which nothing is encrypted, differ as much.",
        "",
        table(["columns", "pages", "", "OpenSSL alone", "share", "the provider", "share"], shares),
    ]
    (results / "README.md").write_text("\n".join(text) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "target/data")
    arguments.add_argument("--official", type=pathlib.Path, default=ROOT / "target/official/bin/python")
    arguments.add_argument("--official-java", type=pathlib.Path, default=ROOT / "target/official-java")
    arguments.add_argument("--object", type=pathlib.Path, default=ROOT / "target/release/examples/object")
    arguments.add_argument("--module", type=pathlib.Path, default=ROOT / "target/openssl/fastgcm.so")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--draw", action="store_true")
    arguments = arguments.parse_args()
    wanted = {"official": "the official client for Python", "official_java": "the one for Java", "object": "the example of fastgcm-s3"}
    for name, how in (wanted | {"module": "the OpenSSL provider"}).items():
        needed = getattr(arguments, name)
        if not needed.exists():
            sys.exit(f"{needed}: {how} is not there")
    folder = arguments.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    os.environ.update({f"FASTGCM_{name.upper()}": str(getattr(arguments, name).absolute()) for name in wanted})
    os.environ.update(TMPDIR=str(folder / "tmp"), NO_PROXY="127.0.0.1,localhost")
    os.environ["FASTGCM_KEY"] = os.urandom(32).hex()
    mib, rounds = (64, 2) if arguments.quick else (256, 5)
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run(folder, "engines", "engines.py", folder / "engines", mib, rounds, least=6)
    run(folder, "parquet", "parquet.py", folder / "parquet", arguments.module.absolute(), 8 if arguments.quick else 32, rounds + 2)
    of_s3 = ["test_fsspec.py", "test_rust.py", "test_s3.py"]
    run(folder, "tests", *tests, "--basetemp", folder / "pytest", "test_abstract.py", *of_s3, least=4)
    print(f"-- Ceph {radosgw.version()}", flush=True)
    with radosgw.server(folder / "ceph") as url:
        run(folder, "tests-ceph", *tests, "--basetemp", folder / "pytest-ceph", *of_s3, least=3, FASTGCM_S3=url, FASTGCM_S3_NAME="ceph")
        run(folder, "guide", "guide.py", folder / "guide", FASTGCM_S3=url)
    run(folder, "search", "search.py", folder)
    results = HERE / "results" if arguments.draw else folder / "results"
    page(folder, results)
    print(f"{results / 'README.md'} is the page")


if __name__ == "__main__":
    main()
