"""Dask and Spark seal and open one large file on clusters of processes, and workers are killed in the middle.

`engines.py FOLDER [MIB [ROUNDS]]`: works in FOLDER, which it makes anew. pyca/cryptography opens what was sealed. It needs Java
for Spark. (`run.py` looks for the key in all that the engines have serialized, logged and left in files.)
"""

import hashlib
import os
import pathlib
import random
import shutil
import signal
import sys
import time

from cryptography import cobblestone
from fastgcm import jobs

FOLDER = pathlib.Path(sys.argv[1]).absolute()
MIB = int(sys.argv[2]) if len(sys.argv) > 2 else 256
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
KEY = bytes.fromhex(os.environ.setdefault("FASTGCM_KEY", os.urandom(32).hex()))  # processes of Dask import this file, and have it already
PART = 4 << 20
TEXT = FOLDER / "text"


def prepare():
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "tmp").mkdir(parents=True)
    # The workers inherit the environment. A variable that an engine sets on its workers would stand in the engine's configuration, and so in its logs.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(pathlib.Path(__file__).resolve().parent), os.environ.get("PYTHONPATH")]))
    os.environ.update(TMPDIR=str(FOLDER / "tmp"), SPARK_LOCAL_DIRS=str(FOLDER / "tmp"), PYSPARK_PYTHON=sys.executable)
    os.environ["SPARK_WORKER_DIR"] = os.environ["SPARK_LOG_DIR"] = str(FOLDER / "spark")
    with open(TEXT, "wb") as file:
        for _ in range(MIB):
            file.write(random.randbytes(1 << 20))
        file.write(b"and the end")


class Deadly:
    """A job whose worker dies, once, when it has written half of a part: what a test plants. It is pickled with the job."""

    def __init__(self, job, index, folder):
        self.job, self.index, self.mark, self.parts = job, index, str(folder / f"killed-{time.monotonic_ns()}"), job.parts
        self.finish, self.abandon = job.finish, job.abandon

    def run(self, index):
        if index == self.index:
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return self.job.run(index)  # it was killed before
            pwrite = os.pwrite

            def half(file, data, at):
                pwrite(file, data[: len(data) // 2], at)
                os.kill(os.getpid(), signal.SIGKILL)

            os.pwrite = half
        return self.job.run(index)

    def __reduce__(self):
        return _deadly, (self.job, self.index, self.mark)


def _deadly(job, index, mark):
    deadly = Deadly.__new__(Deadly)
    deadly.job, deadly.index, deadly.mark, deadly.parts = job, index, mark, job.parts
    return deadly


def of_pyca(path):
    """What pyca's decryptor makes of it."""
    opener, digest = cobblestone.Cobblestone256Decryptor(KEY, b"context"), hashlib.sha256()
    with open(path, "rb") as sealed:
        while piece := sealed.read(1 << 22):
            digest.update(opener.update(piece))
    digest.update(opener.finalize())
    return digest.digest()


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def there_and_back(name, run):
    """Seals and opens, with and without a worker that is killed; a text that changes is refused."""
    key, context, whole = jobs.EnvironmentKey("FASTGCM_KEY"), b"context", digest_of(TEXT)
    for killed in (False, True) * ROUNDS:
        sealed, opened = FOLDER / f"{name}-{killed}.sealed", FOLDER / f"{name}-{killed}.opened"
        for what, cls, source, target in (("seal", jobs.Sealing, TEXT, sealed), ("open", jobs.Opening, sealed, opened)):
            job = cls.begin(key, source, target, context=context, part=PART)
            deadly = Deadly(job, job.parts // 2, FOLDER)
            began = time.monotonic()
            run(deadly if killed else job)
            took = time.monotonic() - began
            print(f"{name}: {what} {MIB} MiB in {job.parts} parts, {'a worker killed' if killed else 'undisturbed'}: {took:.2f} s")
            assert os.path.exists(deadly.mark) == killed, "no worker was killed"
            assert not os.path.exists(job.stage)
        assert of_pyca(sealed) == whole == digest_of(opened)
        opened.unlink()
        sealed.unlink()
    print(f"{name}::there_and_back ok 4", flush=True)

    # A part is sealed, then its text changes and the engine runs it again.
    text = FOLDER / f"{name}.changing"
    shutil.copyfile(TEXT, text)
    job = jobs.Sealing.begin(key, text, FOLDER / f"{name}.never", context=context, part=PART)
    job.run(1)
    with open(text, "r+b") as file:
        file.seek(PART + 5)
        byte = file.read(1)[0]
        file.seek(PART + 5)
        file.write(bytes([byte ^ 1]))
    try:
        run(job)
    except Exception as error:
        assert "has another text than before" in str(error), error
    else:
        raise SystemExit("another text was sealed")
    assert not os.path.exists(job.stage) and not os.path.exists(job.target)
    text.unlink()
    print(f"{name}::another_text_is_refused ok 1", flush=True)


def dask():
    import cloudpickle
    from dask.config import set as set_option
    from distributed import Client, LocalCluster
    from distributed.protocol import pickle as serializer

    # All that is serialized goes into a file, too.
    written = open(FOLDER / "dask-serialized", "wb")
    dumps = serializer.dumps

    def noting(*arguments, **options):
        pickled = dumps(*arguments, **options)
        written.write(pickled)
        return pickled

    serializer.dumps = noting
    # 15 s after a worker was lost, a local cluster gives up the one of that name if it is away just then: it was killed once more, say.
    set_option({"distributed.deploy.lost-worker-timeout": "1h"})
    with LocalCluster(2, threads_per_worker=1, local_directory=FOLDER / "dask", dashboard_address=":0") as cluster, Client(cluster) as client:
        there_and_back("dask", lambda job: jobs.on_dask(client, job))
        logs = repr((cluster.get_logs(), client.get_worker_logs(), client.get_scheduler_logs(), client.get_events()))
        (FOLDER / "dask-logs").write_text(logs)
    written.write(cloudpickle.dumps(jobs.Sealing.begin(jobs.EnvironmentKey("FASTGCM_KEY"), TEXT, FOLDER / "none")))
    written.close()
    assert (FOLDER / "dask-serialized").stat().st_size > 2000


def spark():
    from pyspark import SparkConf, SparkContext

    events = FOLDER / "spark-events"
    events.mkdir()
    conf = SparkConf().setMaster("local-cluster[2,1,1024]").set("spark.driver.host", "127.0.0.1").set("spark.ui.enabled", "false")
    conf.set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.eventLog.compress", "false").set("spark.eventLog.enabled", "true").set("spark.eventLog.dir", f"file://{events}")
    conf.set("spark.python.worker.reuse", "true")
    conf.set("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    context = SparkContext(conf=conf)
    try:
        there_and_back("spark", lambda job: jobs.on_spark(context, job))
    finally:
        application = context.applicationId
        context.stop()
    import pyspark

    # Where executors log, whatever the variables say.
    shutil.copytree(pathlib.Path(pyspark.__file__).parent / "work" / application, FOLDER / "spark-executors")


if __name__ == "__main__":
    prepare()
    dask()
    spark()
