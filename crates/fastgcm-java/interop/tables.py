"""Tables that Spark encrypts, Parquet's and Iceberg's, as docs/data.md has them, with the provider and without: `tables.py OUT JAR ICEBERG [ROUNDS]`.

The Python that runs it has pyspark; ICEBERG is the jar of Iceberg's runtime for it. Each statement of the page, a million rows, is timed in fresh
JVMs: one without encryption, one with the JDK's provider, one with ours, and so in each round. Then either provider reads what the other wrote.
"""

import glob
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECTION = re.search(r"^## Tables of Spark and Iceberg\n(.*?)^## ", (HERE.parents[2] / "docs/data.md").read_text(), re.DOTALL | re.MULTILINE)[1]
SETTINGS = dict(re.findall(r"^(spark\.\S+) +(.*)$", SECTION, re.MULTILINE))
PARQUET, ICEBERG, (PROVIDER,) = (
    [" ".join(statement.split()) for statement in block.split(";\n")[:-1]] for block in re.findall(r"^```sql\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
)
OURS, REFUSED = "Fastgcm version 0.1.0", "refused: "
MILLION = ["1000000"]


def job(settings, steps):
    """A JVM: for each of these statements its user seconds and the answers. `flip GLOB` changes a byte of the newest such file for the next statement."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.config(map=settings).enableHiveSupport().getOrCreate()

    def seconds():
        stat = pathlib.Path(f"/proc/{session.sparkContext._gateway.proc.pid}/stat").read_text()
        return int(stat.rsplit(")", 1)[1].split()[11]) / os.sysconf("SC_CLK_TCK")

    results, restore = [], lambda: None
    for step in steps:
        if step.startswith("flip "):
            path = pathlib.Path(max(glob.glob(step[5:]), key=os.path.getmtime))
            whole = path.read_bytes()
            path.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :])
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # Hadoop's own checksum, which would see it first
            restore = lambda: path.write_bytes(whole)  # noqa: E731
            continue
        start = seconds()
        try:
            answers = sorted({str(row[0]) for row in session.sql(step).collect()})
        except Exception as thrown:  # noqa: BLE001
            answers = [REFUSED + str(thrown)]
        results.append((round(seconds() - start, 2), answers))
        restore()
    print("results:", json.dumps(results), flush=True)
    session.stop()


def table(statements, name, plain=False):
    """These statements for a table of that name."""
    statements = [statement.replace("sales", name) for statement in statements]
    return [re.sub(r"OPTIONS \(.*?\) |, 'encryption.key-id' = 'k'", "", statement) if plain else statement for statement in statements]


class Spark:
    def __init__(self, out, jar, iceberg):
        import pyspark

        self.out = out
        shutil.rmtree(out, ignore_errors=True)
        for name in ("opt", "conf", "kms"):
            (out / name).mkdir(parents=True)
        for each in (jar, iceberg):
            shutil.copy(each, out / "opt")
        (out / "opt/fastgcm.security").write_bytes(subprocess.run(["java", "-jar", jar, "--security"], check=True, stdout=subprocess.PIPE).stdout)
        libraries = f"{pathlib.Path(pyspark.__file__).parent}/jars/*:{iceberg}"
        subprocess.run(["javac", "-cp", libraries, "-d", out / "kms", HERE / "Kms.java"], check=True)
        subprocess.run(["jar", "cf", out / "opt/kms.jar", "-C", out / "kms", "."], check=True)
        # The metastore is a Derby in the folder, where others have a server (`spark.sql.catalog.sealed.uri`).
        hive = {"javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={out}/metastore;create=true", "hive.metastore.schema.verification": "false",
                "datanucleus.schema.autoCreateAll": "true", "datanucleus.connectionPoolingType": "DBCP", "iceberg.engine.hive.lock-enabled": "false",
                "hive.metastore.warehouse.dir": f"{out}/warehouse"}  # fmt: skip
        local = {"spark.master": "local[2]", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
                 "spark.sql.pyspark.jvmStacktrace.enabled": "true", "spark.sql.warehouse.dir": f"{out}/warehouse"}  # fmt: skip
        lines = {**SETTINGS, **local, **{f"spark.hadoop.{name}": value for name, value in hive.items()}}
        (out / "conf/spark-defaults.conf").write_text(self.here("".join(f"{name} {value}\n" for name, value in lines.items())))

    def here(self, text):
        return re.sub(r"(?<=[ =,'`\"])/(opt|data)/", rf"{self.out}/\1/", text)

    def run(self, steps, java=None, key="0123456789abcdef", starts=True, **settings):
        """Results of these statements with the page's settings, or with these; and what the JVM said."""
        settings = {"spark." + name.replace("_", "."): value for name, value in settings.items()}
        if java is not None:
            settings.update(dict.fromkeys(("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"), java))
        environment = {**os.environ, "SPARK_CONF_DIR": str(self.out / "conf"), "TABLES_KEY": key}
        command = [sys.executable, __file__, self.here(json.dumps([settings, steps]))]
        done = subprocess.run(command, env=environment, cwd=self.out, capture_output=True, text=True, timeout=900)
        (self.out / "log").write_text(done.stdout + done.stderr)
        assert (done.returncode == 0) == starts, done.stderr[-3000:]
        return json.loads(done.stdout.split("results: ")[1]) if starts else [], done.stdout + done.stderr


def rounds(spark, number):
    """Statements in fresh JVMs: without encryption, with the JDK's provider, with ours."""
    took = {}
    for turn in range(number):
        for kind, statements in (("Iceberg", [*ICEBERG, *ICEBERG[-1:] * 2]), ("Parquet", PARQUET)):
            for who in ("plain", "jdk", "ours"):
                results, said = spark.run([PROVIDER, *table(statements, f"{who}{turn}", who == "plain")], java=None if who == "ours" else "-Dnone")
                answers = [answer for _, answer in results]
                assert answers[0] == [OURS if who == "ours" else "null"] and answers[-1] == MILLION, answers
                assert ("fastgcm 0.1.0: the first message has been sealed or opened" in said) == (who == "ours"), said[-3000:]
                for place, name in {"Iceberg": {3: "insert", 4: "first scan", 6: "third scan"}, "Parquet": {1: "write", 2: "scan"}}[kind].items():
                    took.setdefault((kind, name), {}).setdefault(who, []).append(results[place][0])
    for (kind, name), times in took.items():
        print(f"   {kind}, {name}: user seconds", *(f"{who} {statistics.median(times[who]):.1f} {times[who]}" for who in times), flush=True)
    print(f"tables::written ok {6 * number}", flush=True)


def read(spark):
    """Either provider reads what the other wrote, and adds to it."""
    for java, name in ((None, "jdk0"), ("-Dnone", "ours0")):
        results, _ = spark.run([PROVIDER, *table([*ICEBERG, PARQUET[-1]], name)], java=java)
        answers = [answer for _, answer in results]
        assert answers == [["null" if java else OURS], [], [], [], ["2000000"], MILLION], answers
    print("tables::read_by_the_other ok 2", flush=True)


def refused(spark):
    """A byte of each kind of file, and another key."""
    iceberg, parquet = scans = table([ICEBERG[-1], PARQUET[-1]], "ours0")
    # Iceberg keeps the list of manifests when it has read it once.
    files = {"warehouse/db.db/ours0/metadata/snap-*.avro": iceberg, "warehouse/db.db/ours0/metadata/*-m0.avro": iceberg,
             "warehouse/db.db/ours0/data/*.parquet": iceberg, "data/ours0/*.parquet": parquet}  # fmt: skip
    steps = [step for path, scan in files.items() for step in (f"flip {spark.out}/{path}", scan, scan)]
    for path in files:
        magics = {file.read_bytes()[:4] for file in spark.out.glob(path)}
        assert magics == {b"AGS1" if path.endswith("avro") else b"PARE"}, (path, magics)
    broken = [each for java in (None, "-Dnone") for _, each in spark.run(steps, java=java)[0]]
    assert [each[0] for each in broken[1::2]] == [*["2000000"] * 3, *MILLION] * 2, broken[1::2]
    broken = [*broken[::2], *(each for _, each in spark.run(scans, key="fedcba9876543210")[0])]
    assert all(each[0].startswith(REFUSED) and "AEADBadTagException: Tag mismatch" in each[0] for each in broken), broken
    print(f"tables::refused ok {2 * len(files) + 2}", flush=True)


def traps(spark):
    """What the page warns of."""
    options, jar = SETTINGS["spark.driver.extraJavaOptions"], "/opt/fastgcm-java-0.1.0.jar"
    _, said = spark.run([], java=options.replace("-0.1.0", "-none"), starts=False)
    assert "Module io.github.fastgcm not found" in said, said[-3000:]
    executors = {"master": "local-cluster[1,2,1024]"}
    results, _ = spark.run([PROVIDER, *table(PARQUET, "executors")], **executors)
    assert [answer for _, answer in results] == [[OURS], [], MILLION], results
    late = re.sub("-p .*", "-Dfastgcm.report -Djava.security.debug=jca", options)
    results, said = spark.run([PROVIDER, *table(PARQUET, "executors")[-1:]], java=late, jars=f"{SETTINGS['spark.jars']},{jar}", **executors)
    assert [answer for _, answer in results] == [["null"], MILLION], results
    assert "Error loading legacy provider Fastgcm" in said and "fastgcm 0.1.0: " not in said, said[-3000:]
    print("tables::missing_jar ok 3", flush=True)
    hadoop = {"sql_catalog_sealed_type": "hadoop", "sql_catalog_sealed_warehouse": f"{spark.out}/hadoop"}
    results, _ = spark.run(ICEBERG, **hadoop)
    (path, *_) = spark.out.glob("hadoop/db/sales/data/*.parquet")
    assert results[-1][1] == MILLION and path.read_bytes()[:4] == b"PAR1", results
    print("tables::hadoop_catalog ok 1", flush=True)


if __name__ == "__main__":
    if sys.argv[1].startswith("["):
        job(*json.loads(sys.argv[1]))
    else:
        made = Spark(*(pathlib.Path(path).resolve() for path in sys.argv[1:4]))
        rounds(made, int(sys.argv[4]) if len(sys.argv) > 4 else 1)
        read(made)
        refused(made)
        traps(made)
