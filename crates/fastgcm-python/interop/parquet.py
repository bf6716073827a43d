"""Encrypted Parquet in tasks of Dask, with OpenSSL alone and with the provider: `parquet.py FOLDER FASTGCM.SO [MIB]`.

One cluster has OpenSSL alone and one the provider, by OPENSSL_CONF. A task writes a table and reads it back, in turn on both clusters, plain and
encrypted, with pages of 8 KiB to 1 MiB. Each cluster reads what the other one wrote. `counted.c` says that all of it went through the provider.
"""

import base64
import itertools
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGES = [8 << 10, 64 << 10, 256 << 10, 1 << 20]
KINDS = {"numbers, not compressed": None, "numbers and text, zstd": "zstd"}


def table(kind, length):
    import numpy
    import pyarrow

    random = numpy.random.default_rng(1)
    if KINDS[kind] is None:
        return pyarrow.table({"number": random.random(length // 8)})
    rows = length // 24
    return pyarrow.table({"number": random.integers(0, 1 << 40, rows), "text": [f"customer {i % 99991:08}" for i in range(rows)]})


def crypto():
    """pyarrow's factory. Each process asks for the master key by its name."""
    import pyarrow.parquet.encryption as parquet
    from fastgcm import AESGCM
    from fastgcm.jobs import EnvironmentKey

    class Kms(parquet.KmsClient):
        """What a KMS does: it wraps keys of files with a master key."""

        def wrap_key(self, key, name):
            nonce = os.urandom(12)
            return base64.b64encode(nonce + AESGCM(EnvironmentKey("FASTGCM_KEY")()).encrypt(nonce, key, name.encode()))

        def unwrap_key(self, wrapped, name):
            data = base64.b64decode(wrapped)
            return AESGCM(EnvironmentKey("FASTGCM_KEY")()).decrypt(data[:12], data[12:], name.encode())

    return parquet.CryptoFactory(lambda _: Kms()), parquet.KmsConnectionConfig()


def write(path, whole, page, compression, encrypted):
    import pyarrow.parquet
    from pyarrow.parquet.encryption import EncryptionConfiguration

    factory, connection = crypto()
    configuration = EncryptionConfiguration(footer_key="master", uniform_encryption=True, data_key_length_bits=256)
    properties = factory.file_encryption_properties(connection, configuration) if encrypted else None
    options = {"use_dictionary": False, "compression": compression or "none", "write_statistics": False, "encryption_properties": properties}
    pyarrow.parquet.write_table(whole, path, data_page_size=page, write_batch_size=256, max_rows_per_page=1 << 30, **options)


def read(path, encrypted):
    import pyarrow.parquet

    factory, connection = crypto()
    properties = factory.file_decryption_properties(connection) if encrypted else None
    with pyarrow.parquet.ParquetFile(path, decryption_properties=properties, pre_buffer=False) as file:
        return file.read(use_threads=False)


tables = {}


def provided():
    """Whether this process has loaded the provider."""
    return "/fastgcm.so" in pathlib.Path("/proc/self/maps").read_text()


def task(path, kind, length, page, encrypted, theirs=None):
    """Writes the file and reads it, and then theirs."""
    if (kind, length) not in tables:
        tables[kind, length] = table(kind, length)
    whole = tables[kind, length]
    write(path, whole, page, KINDS[kind], encrypted)
    assert read(path, encrypted).equals(whole) and (theirs is None or read(theirs, encrypted).equals(whole))
    with open(path, "rb") as file:
        assert (file.read(4) == b"PARE") == encrypted


def configuration(folder, module):
    text = (HERE / "../../fastgcm-openssl/fastgcm.cnf").read_text()
    path = folder / f"{pathlib.Path(module).stem}.cnf"
    path.write_text(text.replace("\nmodule = fastgcm.so\n", f"\nmodule = {module}\n"))
    return str(path)


def counted(folder, module, length):
    """All of it goes through the provider, and pages have the length that was asked for."""
    shim, counter = folder / "counted.so", folder / "counted"
    command = ["cc", "-shared", "-fPIC", "-O1", f'-DMODULE="{module}"', "-o", shim, HERE / "../../fastgcm-openssl/interop/counted.c"]
    subprocess.run(command, check=True)
    checked = 0
    for page in PAGES:
        counter.write_bytes(bytes(24))
        env = os.environ | {"OPENSSL_CONF": configuration(folder, shim), "FASTGCM_COUNTED": str(counter)}
        code = f"import parquet; parquet.task({str(folder / 'counted.parquet')!r}, {next(iter(KINDS))!r}, {length}, {page}, True)"
        subprocess.run([sys.executable, "-c", code], check=True, env=env | {"PYTHONPATH": str(HERE)})
        keys, messages, count = memoryview(counter.read_bytes()).cast("Q")
        # A page is a message, and so is its header; both are sealed and opened.
        assert 2 * length <= count < 2.2 * length and 3 * length < page * messages < 8 * length + 200 * page, (page, keys, messages, count)
        checked += 1
    return checked


def main(folder, module, length):
    from distributed import Client, LocalCluster

    folder, module = pathlib.Path(folder).resolve(), pathlib.Path(module).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("FASTGCM_KEY", os.urandom(32).hex())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    import parquet  # by its name, for the workers

    # All that is serialized goes into a file, where `run.py` looks for the key.
    from distributed.protocol import pickle as serializer

    written, dumps = open(folder / "dask-serialized", "wb"), serializer.dumps

    def noting(*arguments, **options):
        pickled = dumps(*arguments, **options)
        written.write(pickled)
        return pickled

    serializer.dumps = noting
    checked = counted(folder, module, length)
    clusters = {}
    for name, conf in (("openssl", "/dev/null"), ("provider", configuration(folder, module))):
        os.environ["OPENSSL_CONF"] = conf  # the worker inherits it
        cluster = LocalCluster(1, threads_per_worker=1, local_directory=folder / "dask", dashboard_address=":0", silence_logs=40)
        clusters[name] = cluster, Client(cluster)
    del os.environ["OPENSSL_CONF"]
    for kind in KINDS:
        for page in PAGES:
            for round in range(2):
                for name, encrypted in itertools.product(clusters, (False, True)):
                    path, theirs = (str(folder / f"{which}-{encrypted}.parquet") for which in (name, "openssl" if name == "provider" else "provider"))
                    known = theirs if round else None  # both have written it
                    clusters[name][1].submit(parquet.task, path, kind, length, page, encrypted, known, pure=False).result()
            assert [client.submit(parquet.provided, pure=False).result() for _, client in clusters.values()] == [False, True]
            checked += 2
    for cluster, client in clusters.values():
        (folder / f"parquet-logs-{cluster.name}").write_text(repr((cluster.get_logs(), client.get_worker_logs(), client.get_events())))
        client.close()
        cluster.close()
    for path in folder.glob("*.parquet"):
        path.unlink()
    written.close()
    assert (folder / "dask-serialized").stat().st_size > 1000
    print(f"data::parquet ok {checked}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3] if len(sys.argv) > 3 else 64) << 20)
