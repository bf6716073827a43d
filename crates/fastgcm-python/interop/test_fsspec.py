"""Sealed files through fsspec: what is read and written, what appears when, where the key is, and programs of other people that read and write them."""

import base64
import contextlib
import doctest
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap

import cloudpickle
import fastgcm.fsspec
import fsspec
import pytest
from cryptography import cobblestone
from fastgcm import InvalidTag
from fastgcm.fsspec import EnvironmentKey, FileKey, FunctionKey, SealedFileSystem

KEY = os.urandom(32)
NAME = "environment:FASTGCM_TEST_KEY"
CHUNK = 16384


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("FASTGCM_TEST_KEY", KEY.hex())


@pytest.fixture(params=["file", "s3", "memory"])
def place(request, tmp_path, endpoint):
    """A URL of a folder, without `fastgcm::`, and the options for it."""
    if request.param == "s3":
        return f"s3://bucket/{tmp_path.name}", {"s3": {"endpoint_url": endpoint}}
    return (f"file://{tmp_path}" if request.param == "file" else f"memory://{tmp_path.name}"), {}


def of_pyca(sealed, key=KEY, context=b""):
    opener = (cobblestone.Cobblestone128Decryptor if len(key) == 16 else cobblestone.Cobblestone256Decryptor)(key, context)
    return opener.update(sealed) + opener.finalize()


def raw(place):
    return fsspec.core.url_to_fs(place[0], **place[1].get(place[0].split(":")[0], {}))


def everything(place):
    fs, folder = raw(place)
    fs.invalidate_cache()
    return fs.find(folder)


@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK, 700 * CHUNK + 7])
@pytest.mark.parametrize("size", [16, 32])
def test_there_and_back(place, length, size, monkeypatch):
    monkeypatch.setenv("FASTGCM_TEST_KEY", KEY[:size].hex())
    text, url, fs = random.randbytes(length), f"fastgcm::{place[0]}/there/and.back", raw(place)[0]
    fs.makedirs(raw(place)[1] + "/there", exist_ok=True)
    with fsspec.open(url, "wb", key=NAME, context="c", **place[1]) as file:
        for start in range(0, length, 3_000_001):
            file.write(memoryview(text)[start : start + 3_000_001])
    assert of_pyca(fs.cat_file(url.removeprefix("fastgcm::")), KEY[:size], b"c") == text
    sealed, path = fsspec.core.url_to_fs(url, key=NAME, context="c", **place[1])
    assert sealed.info(path)["size"] == length == sealed.du(path) == sealed.ls(path, detail=True)[0]["size"]
    assert sealed.find(sealed._parent(path)) == [path] == sealed.glob(sealed._parent(path) + "/*.ba?k")
    assert sealed.cat_file(path) == text
    with sealed.open(path) as file:
        again = pickle.loads(pickle.dumps(file))
        for _ in range(20):
            start, count = random.randrange(length + 1), random.choice((1, 100, CHUNK, 3 * CHUNK))
            file.seek(start)
            assert file.read(count) == text[start : start + count] == sealed.cat_file(path, start, start + count)
        assert again.read() == text == b"".join(sealed.open(path))
    pairs = [(0, 1), (length // 2, length), (-1, None), (length, length + 9), (CHUNK - 1, CHUNK + 1)]
    got = sealed.cat_ranges([path] * len(pairs), [a for a, _ in pairs], [b for _, b in pairs])
    assert got == [text[a:b] for a, b in pairs]


def test_what_was_not_sealed_is_refused(place):
    text, url, (fs, folder) = random.randbytes(5 * CHUNK + 9), f"fastgcm::{place[0]}/name", raw(place)
    fs.makedirs(folder, exist_ok=True)
    sealed, path = fsspec.core.url_to_fs(url, key=NAME, **place[1])
    sealed.pipe_file(path, text)
    good = fs.cat_file(path)

    def refused(changed, start=0, end=None, **options):
        fs.pipe_file(path, changed)
        fs.invalidate_cache()
        with pytest.raises(InvalidTag) as error:
            fsspec.core.url_to_fs(url, **({"key": NAME} | place[1] | options))[0].cat_file(path, start, end)
        assert path in error.value.__notes__[0]

    for at in (0, 30, 56, 56 + 3 * (CHUNK + 16), len(good) - 1):
        refused(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
    piece = lambda i: good[56 + i * (CHUNK + 16) : 56 + (i + 1) * (CHUNK + 16)]
    refused(good[:56] + piece(1) + piece(0) + good[56 + 2 * (CHUNK + 16) :])
    # Cut: it is refused even if nobody reads there.
    for length in (0, 10, 56, 71, 72, 100, len(good) - 1, len(good) - 16, len(good) - 25, 56 + 2 * (CHUNK + 16), 60 + 2 * (CHUNK + 16)):
        refused(good[:length], 0, 1)
    refused(good + b"1", 0, 1)
    refused(good, context="other")
    os.environ["FASTGCM_OTHER_KEY"] = os.urandom(32).hex()
    refused(good, key="environment:FASTGCM_OTHER_KEY")
    # It changes while somebody reads: to another file of ours, and to a shorter one.
    for other in (random.randbytes(5 * CHUNK + 9), b""):
        fs.pipe_file(path, good)
        with sealed.open(path, cache_type="none") as file:
            assert file.read(5) == text[:5]
            sealed.pipe_file(path, other)
            with pytest.raises((InvalidTag, OSError, ValueError)):  # S3 says that the range is not there
                file.read(CHUNK * 2)


def test_a_listing_that_is_out_of_date(endpoint, tmp_path, s3):
    sealed = SealedFileSystem(key=NAME, target_protocol="s3", target_options={"endpoint_url": endpoint})
    other = SealedFileSystem(key=NAME, target_protocol="s3", target_options={"endpoint_url": endpoint, "use_listings_cache": False})
    folder = f"bucket/{tmp_path.name}"
    sealed.pipe_file(f"{folder}/name", b"old")
    assert sealed.ls(folder, detail=True)[0]["size"] == 3
    other.pipe_file(f"{folder}/name", b"new, and longer")
    assert sealed.info(f"{folder}/name")["size"] == 3  # as s3fs has it
    assert sealed.cat_file(f"{folder}/name") == b"new, and longer" == sealed.open(f"{folder}/name").read()


def test_errors_of_ranges(place):
    """Each in its place, or the first one is raised."""
    url, (fs, folder) = f"fastgcm::{place[0]}/good", raw(place)
    fs.makedirs(folder, exist_ok=True)
    sealed, good = fsspec.core.url_to_fs(url, key=NAME, **place[1])
    bad, absent = good.replace("good", "bad"), good.replace("good", "absent")
    sealed.pipe_file(good, b"text")
    fs.pipe_file(bad, b"no sealed file")
    got = sealed.cat_ranges([good, bad, absent, good], [0, 0, 0, 1], [2, 2, 2, 3], on_error="return")
    assert got[0] == b"te" and isinstance(got[1], InvalidTag) and isinstance(got[2], FileNotFoundError) and got[3] == b"ex"
    for paths, kind in (([good, bad], InvalidTag), ([absent, good], FileNotFoundError)):
        with pytest.raises(kind):
            sealed.cat_ranges(paths, [0, 0], [2, 2], on_error="raise")


def test_ranges_are_slices():
    """Whatever the numbers: as Python's own slices of the text."""
    sealed, url = fsspec.filesystem("fastgcm", key=NAME, target_protocol="memory"), "/slices/text"
    text = os.urandom(3 * CHUNK + 5)
    sealed.pipe_file(url, text)
    places = [None, 0, 1, -1, CHUNK, -CHUNK, len(text), *(sign * (1 << bits) + by for bits in (31, 32, 63, 64) for sign in (1, -1) for by in (-1, 0, 1))]
    for start in places:
        assert sealed.cat_ranges([url] * len(places), start, places) == [text[start:end] for end in places], start
    with sealed.open(url) as file:
        for start in places[1:]:
            if start >= 0:
                file.seek(start)
                assert file.read(5) == text[start : start + 5]
            else:
                with pytest.raises((ValueError, OSError)):
                    file.seek(start)
        for wrong in (1.5, "1"):
            with pytest.raises(TypeError):
                sealed.cat_file(url, wrong, 5)


def test_a_link_stays(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to("real")
    SealedFileSystem(key=NAME, target_protocol="file").pipe_file(str(link), b"text")
    assert link.is_symlink() and os.readlink(link) == "real" and of_pyca(real.read_bytes()) == b"text"


class Stop(Exception):
    pass


def test_what_is_not_complete_does_not_appear(place, endpoint, s3):
    url, (fs, folder) = f"fastgcm::{place[0]}/name", raw(place)
    fs.makedirs(folder, exist_ok=True)
    sealed, path = fsspec.core.url_to_fs(url, key=NAME, **place[1])
    long = random.randbytes(12 << 20)  # more than a part of an upload

    def with_open():
        with sealed.open(path, "wb", block_size=5 << 20) as file:
            file.write(long)
            assert sealed.find(folder) == before
            raise Stop

    def with_fsspec_open():
        with fsspec.open(url, "wb", key=NAME, **place[1]) as file:
            file.write(long)
            raise Stop

    def with_text():
        with sealed.open(path, "w") as file:
            file.write("x" * len(long))
            raise Stop

    def with_compression():
        with fsspec.open(url, "wb", key=NAME, compression="gzip", **place[1]) as file:
            file.write(long)
            raise Stop

    def with_finally():
        file = sealed.open(path, "wb")
        try:
            file.write(long)
            raise Stop
        finally:
            file.close()

    def with_except():
        file = sealed.open(path, "wb")
        try:
            file.write(long)
            raise Stop
        except Stop:
            file.close()
            raise

    def left():
        sealed.open(path, "wb").write(long)
        raise Stop

    def with_transaction():
        with sealed.transaction:
            with sealed.open(path, "wb") as file:
                file.write(long)
            raise Stop

    for old in (None, b"the old text"):
        if old is not None:
            sealed.pipe_file(path, old)
        before = [path] if old is not None else []
        for way in (with_open, with_fsspec_open, with_text, with_compression, with_finally, with_except, left, with_transaction):
            warned = way not in (with_open, left, with_transaction)
            with pytest.warns(RuntimeWarning, match="Stop came before") if warned else contextlib.nullcontext(), pytest.raises(Stop):
                way()
            assert everything(place) == before, way
            assert old is None or sealed.cat_file(path) == old
    if place[0].startswith("s3"):
        assert not s3.list_multipart_uploads(Bucket="bucket").get("Uploads")
    # A write that fails, and a program that goes on all the same.
    file = sealed.open(path, "wb")
    with pytest.raises(TypeError):
        file.write("no bytes")
    with pytest.raises(OSError, match="was not written"):
        file.close()
    assert sealed.cat_file(path) == old
    # In a transaction: all together. An exception that is over is none, and an older one neither.
    with sealed.transaction:
        with sealed.open(path, "wb") as file:
            file.write(b"new")
        assert sealed.cat_file(path) == old
    assert sealed.cat_file(path) == b"new"
    try:
        raise Stop
    except Stop:
        with fsspec.open(url, "wb", key=NAME, **place[1]) as file:
            try:
                raise KeyError
            except KeyError:
                file.write(b"newer")
    assert sealed.cat_file(path) == b"newer"
    with pytest.raises(FileExistsError):
        sealed.open(path, "xb")
    # Two at once: the second one does not take the place of the first.
    with sealed.open(path + "2", "xb") as first:
        first.write(b"first")
        second = sealed.open(path + "2", "xb")
        second.write(b"second")
    if not place[0].startswith("memory"):
        with pytest.raises(FileExistsError):
            second.close()
        assert sealed.cat_file(path + "2") == b"first"
    for mode in ("ab", "r+b"):
        with pytest.raises(NotImplementedError):
            sealed.open(path, mode)


WRITER = """
    import fsspec, os, resource, sys
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
    file = fsspec.open(sys.argv[1], "wb", key="environment:FASTGCM_TEST_KEY", s3={"endpoint_url": os.environ["ENDPOINT"]}).open()
    for _ in range(int(sys.argv[3])):
        file.write(bytes(1 << 20))
    print("written", flush=True)
    if sys.argv[4] == "wait": sys.stdin.read()
    if sys.argv[4] == "close": file.close()
    """


def writer(url, *arguments, endpoint):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), url, *map(str, arguments)]
    return subprocess.Popen(command, env=os.environ | {"ENDPOINT": endpoint}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("where", ["file", "s3"])
def test_a_writer_is_killed(tmp_path, endpoint, where, s3):
    place = (f"file://{tmp_path}", {}) if where == "file" else (f"s3://bucket/{tmp_path.name}", {"s3": {"endpoint_url": endpoint}})
    url, name = f"fastgcm::{place[0]}/name", raw(place)[1] + "/name"
    process = writer(url, 1 << 40, 120, "wait", endpoint=endpoint)
    assert process.stdout.readline() == b"written\n", process.stderr.read()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    sealed, path = fsspec.core.url_to_fs(url, key=NAME, **place[1])
    assert not sealed.exists(path) and sealed.find(sealed._parent(path)) == []
    # One ends and has not closed its file.
    assert writer(url, 1 << 40, 60, "end", endpoint=endpoint).communicate(timeout=300)[0] == b"written\n"  # it does not hang
    assert not sealed.exists(path) and sealed.find(sealed._parent(path)) == []
    if where == "file":
        # A full disk: half of what was to be written fits.
        process = writer(url, 30 << 20, 60, "close", endpoint=endpoint)
        assert b"File too large" in process.communicate()[1] and process.returncode == 1
        left = os.listdir(tmp_path)  # that of the killed one, which nobody could remove
        assert len(left) == 1 and left[0].endswith(".partial")
    else:
        for upload in s3.list_multipart_uploads(Bucket="bucket")["Uploads"]:
            s3.abort_multipart_upload(Bucket="bucket", Key=upload["Key"], UploadId=upload["UploadId"])
    process = writer(url, 1 << 40, 3, "close", endpoint=endpoint)
    assert process.communicate() == (b"written\n", b"")
    sealed.invalidate_cache()
    assert sealed.cat_file(path) == bytes(3 << 20) and name == path


def function():
    return KEY


FORMS = [KEY, KEY.hex().encode(), base64.b64encode(KEY)[:40]]
FORMS += [base64.b64encode(bytes(shift) + KEY)[4:40] for shift in (1, 2)]


def test_a_condition_that_a_server_overlooks(endpoint, tmp_path):
    """That of an upload, as Ceph's does."""
    sealed = SealedFileSystem(key=NAME, target_protocol="s3", target_options={"endpoint_url": endpoint, "skip_instance_cache": True})
    seen = []

    def without(request, **_):
        seen.append(request.headers["If-None-Match"])
        del request.headers["If-None-Match"]

    sealed.fs.connect()
    sealed.fs.s3.meta.events.register("before-sign.s3.CompleteMultipartUpload", without)
    path = f"bucket/{tmp_path.name}/exclusive"
    assert not sealed.exists(path)  # a listing that is kept
    first, second = (sealed.open(path, "xb") for _ in range(2))
    first.write(b"first")
    second.write(b"second")
    first.close()
    with pytest.raises(FileExistsError):
        second.close()
    assert sealed.cat_file(path) == b"first" and seen == ["*"]


def test_keys(tmp_path, monkeypatch):
    (tmp_path / "key").write_text(KEY.hex())
    module = __name__
    text_of = {"environment:FASTGCM_TEST_KEY": EnvironmentKey("FASTGCM_TEST_KEY"), f"file:{tmp_path}/key": FileKey(f"{tmp_path}/key")}
    text_of |= {f"function:{module}:function": FunctionKey(f"{module}:function")}
    for text, key in text_of.items():
        for one in (text, key):
            fs = SealedFileSystem(key=one, target_protocol="file")
            fs.pipe_file(f"{tmp_path}/name", b"text" * 100_000)
            with fs.open(f"{tmp_path}/name") as file, fs.open(f"{tmp_path}/name2", "wb") as out:
                file.read(10)
                things = [fs, file, fsspec.open(f"fastgcm::file://{tmp_path}/name", key=one)]
                seen = [repr(thing) + str(thing) for thing in [*things, out, file._sealed, key]]
                seen += [repr(vars(thing)) for thing in [*things, out, file._sealed]] + [fs._fs_token, repr(fs.storage_options)]
                seen += [pickle.dumps(thing) for thing in things] + [cloudpickle.dumps(thing) for thing in things]
                if isinstance(one, str):
                    seen.append(fs.to_json())
                    assert fsspec.AbstractFileSystem.from_json(fs.to_json()) is fs
                seen = [one if isinstance(one, bytes) else one.encode() for one in seen]
                assert not [form for form in FORMS for one in seen if form in one or repr(form)[2:-1].encode() in one]
                for what in (out, file._sealed):
                    with pytest.raises(TypeError):
                        pickle.dumps(what)
            assert pickle.loads(pickle.dumps(fs)) is fs
    # The key itself, or what would be pickled with it: refused, and not repeated.
    for wrong in (KEY, KEY.hex(), f"key:{KEY.hex()}", "environment:", None, function, lambda: KEY, [EnvironmentKey("A")], f":{KEY.hex()}"):
        with pytest.raises(ValueError) as error:
            SealedFileSystem(key=wrong, target_protocol="file")
        assert KEY.hex() not in str(error.value) and str(KEY) not in str(error.value)
    monkeypatch.setattr(sys.modules[module], "function", lambda: b"short")
    for key in (FunctionKey(f"{module}:function"), FunctionKey(f"{module}:KEY"), EnvironmentKey("FASTGCM_NO_KEY")):
        with pytest.raises(ValueError, match="no key of 16 or 32 bytes"):
            SealedFileSystem(key=key, target_protocol="file").open(f"{tmp_path}/name")
        with pytest.raises(ValueError, match="no key of 16 or 32 bytes"):
            SealedFileSystem(key=key, target_protocol="file").open(f"{tmp_path}/name3", "wb")
    assert not (tmp_path / "name3").exists()
    for options in ({}, {"fs": fsspec.filesystem("file"), "target_protocol": "file"}):
        with pytest.raises(ValueError, match="behind it"):
            SealedFileSystem(key=NAME, **options)


def test_the_example():
    assert doctest.testmod(fastgcm.fsspec).attempted > 3 and not doctest.testmod(fastgcm.fsspec).failed


def table():
    import pandas

    return pandas.DataFrame({"number": range(200_000), "text": [f"text {i % 1000}" for i in range(200_000)]})


def sealed_and_right(place, least=1):
    """All files in the folder are sealed: none begins as Parquet does or has text in it."""
    fs = raw(place)[0]
    names = [name for name in everything(place) if not name.endswith("/")]
    for name in names:
        assert of_pyca(fs.cat_file(name))[:4] != fs.cat_file(name)[:4] and b"text 999" not in fs.cat_file(name)
    assert len(names) >= least
    return len(names)


@pytest.fixture
def folder(place):
    fs, path = raw(place)
    fs.makedirs(path, exist_ok=True)
    return f"fastgcm::{place[0]}"


on_disk_and_in_s3 = pytest.mark.parametrize("place", ["file", "s3"], indirect=True)


@on_disk_and_in_s3
def test_pandas(place, folder):
    import pandas

    options, frame = {"key": NAME} | place[1], table()
    frame.to_csv(f"{folder}/table.csv", index=False, storage_options=options)
    frame.to_parquet(f"{folder}/table.parquet", storage_options=options)
    frame.to_json(f"{folder}/table.json.gz", orient="records", lines=True, storage_options=options)
    sealed_and_right(place, 3)
    assert pandas.read_csv(f"{folder}/table.csv", storage_options=options).equals(frame)
    assert pandas.read_parquet(f"{folder}/table.parquet", storage_options=options).equals(frame)
    assert pandas.read_parquet(f"{folder}/table.parquet", columns=["number"], storage_options=options).equals(frame[["number"]])
    assert pandas.read_json(f"{folder}/table.json.gz", orient="records", lines=True, storage_options=options).equals(frame)


@on_disk_and_in_s3
def test_dask(place, folder, monkeypatch):
    import dask.bag
    import dask.dataframe
    from distributed import Client, LocalCluster
    from distributed.protocol import pickle as serializer

    options, frame, serialized, dumps = {"key": NAME} | place[1], table(), [], serializer.dumps

    def noting(*arguments, **how):
        serialized.append(dumps(*arguments, **how))
        return serialized[-1]

    monkeypatch.setattr(serializer, "dumps", noting)
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        dask.dataframe.from_pandas(frame, npartitions=4).to_parquet(f"{folder}/parquet", storage_options=options)
        dask.dataframe.from_pandas(frame, npartitions=4).to_csv(f"{folder}/csv-*.csv", index=False, storage_options=options)
        assert sealed_and_right(place, 8) == 8
        got = dask.dataframe.read_parquet(f"{folder}/parquet", storage_options=options).compute()
        assert got.reset_index(drop=True).astype({"text": frame.text.dtype}).equals(frame)
        got = dask.dataframe.read_csv(f"{folder}/csv-*.csv", blocksize=100_000, storage_options=options)
        assert got.npartitions > 20 and got.number.sum().compute() == frame.number.sum()
        lines = dask.bag.read_text(f"{folder}/csv-*.csv", storage_options=options)
        assert lines.count().compute() == 200_000 + 4
    # Graphs have the key's name, and not the key.
    assert sum(NAME.encode() in one for one in serialized) > 5
    assert not [form for form in FORMS for one in serialized if form in one]


@on_disk_and_in_s3
def test_pyarrow(place, folder):
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet

    fs, path = fsspec.core.url_to_fs(folder, key=NAME, **place[1])
    whole = pyarrow.Table.from_pandas(table())
    pyarrow.parquet.write_table(whole, f"{path}/table.parquet", filesystem=fs, row_group_size=10_000)
    pyarrow.parquet.write_to_dataset(whole, f"{path}/set", filesystem=fs)
    pyarrow.dataset.write_dataset(whole, f"{path}/arrow", format="feather", filesystem=fs, max_rows_per_file=50_000, max_rows_per_group=50_000)
    sealed_and_right(place, 6)
    assert pyarrow.parquet.read_table(f"{path}/table.parquet", filesystem=fs).equals(whole)
    found = pyarrow.dataset.dataset(f"{path}/set", filesystem=fs).to_table(filter=pyarrow.dataset.field("number") > 199_990)
    assert found.column("number").to_pylist() == list(range(199_991, 200_000))
    assert pyarrow.dataset.dataset(f"{path}/arrow", format="feather", filesystem=fs).count_rows() == 200_000
    # It reads a few chunks, not the file.
    read = []
    cat = fs.fs.cat_file
    fs.fs.cat_file = lambda *a, start, end, **k: read.append(end - start) or cat(*a, start=start, end=end, **k)
    try:
        with fs.open(f"{path}/table.parquet", cache_type="none") as file:
            group = pyarrow.parquet.ParquetFile(file).read_row_group(7, columns=["number"])
    finally:
        del fs.fs.cat_file
    assert group.column("number")[0].as_py() == 70_000 and sum(read) < fs.size(f"{path}/table.parquet") / 3


@on_disk_and_in_s3
def test_duckdb(place, folder):
    import duckdb

    fs, path = fsspec.core.url_to_fs(folder, key=NAME, **place[1])
    fs.pipe_file(f"{path}/a.csv", table().to_csv(index=False).encode())
    database = duckdb.connect()
    database.register_filesystem(fs)
    url = f"fastgcm://{path}"
    assert database.sql(f"select sum(number), count(*) from '{url}/a.csv'").fetchall() == [(19999900000, 200_000)]
    database.sql(f"copy (select * from '{url}/a.csv') to '{url}/b.parquet'")
    database.sql(f"copy (select * from '{url}/a.csv') to '{url}/c.parquet'")
    sealed_and_right(place, 3)
    assert database.sql(f"select max(number), count(*) from '{url}/*.parquet'").fetchall() == [(199_999, 400_000)]
    with pytest.raises(duckdb.Error):
        database.sql(f"copy (select 1 / (number - number) as a, error('no') as b from '{url}/a.csv') to '{url}/d.parquet'")
    assert not fs.exists(f"{path}/d.parquet")
