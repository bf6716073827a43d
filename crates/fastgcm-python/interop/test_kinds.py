"""Walks over S3 and fsspec, as `tests/test_walks.py` walks over the package: sizes, halves, what comes after a refused call, and texts that show no secret."""

import base64
import os
import pickle

import boto3
import fsspec
import pytest
from fastgcm import InvalidTag, s3
from fastgcm.fsspec import EnvironmentKey, SealedFileSystem, text_length
from fastgcm.hazmat import CobblestoneChunks, PartHash
from fsspec.spec import AbstractFileSystem

SECRET = bytes(0xC9 ^ i * 0x5B & 0xFF for i in range(32))  # bytes that stand in no message by chance
CHUNK, TAG, PART = 16384, 16, 5 << 20
FAR = (1 << 32) + 5 * CHUNK + 21


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("FASTGCM_TEST_KEY", SECRET.hex())


def changed(data, at):
    return data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1 :]


def quiet(*shown, secret=SECRET):
    for text in shown:
        squeezed = "".join(filter(str.isalnum, text.lower()))
        for at in range(len(secret) - 2):
            three = secret[at : at + 3]
            assert not any(form in squeezed for form in (three.hex(), "".join(map(str, three)), "".join(f"0x{b:x}" for b in three), repr(three)[2:-1].replace("\\", "").lower())), text
        assert base64.b64encode(secret).decode()[:12] not in text, text


def drawn(draw):
    draws = [draw() for _ in range(20)]
    assert all(len({one[at] for one in draws}) > 1 for at in range(len(draws[0])))


class Giant(AbstractFileSystem):
    """One sealed file of zeros that is longer than 2^32 bytes. Its chunks are made when they are read."""

    cachable = False

    def __init__(self):
        super().__init__()
        self.chunks, self.last = CobblestoneChunks(SECRET, b"", bytes(24)), FAR // CHUNK

    def info(self, path, **_):
        return {"name": path, "type": "file", "size": 56 + FAR + (self.last + 1) * TAG}

    def cat_file(self, path, start=None, end=None, **_):
        if start == 0:
            return self.chunks.header[:end]
        first, behind = (start - 56) // (CHUNK + TAG), -((56 - end) // (CHUNK + TAG))
        seal = lambda n: self.chunks.seal(n, bytes(FAR % CHUNK if n == self.last else CHUNK), last=n == self.last)
        return b"".join(map(seal, range(first, behind)))


def test_sizes():
    for length in (0, 1, CHUNK, (1 << 31) + 3, 1 << 32, FAR, 1 << 50):
        assert text_length(56 + length + (length // CHUNK + 1) * TAG) == length
    sealed = SealedFileSystem(EnvironmentKey("FASTGCM_TEST_KEY"), fs=Giant())
    assert sealed.info("zeros")["size"] == FAR
    ranges = [((1 << 32) - 5, (1 << 32) + 5), (1 << 32, (1 << 32) + 40000), (FAR - 30, FAR), (1 << 31, (1 << 31) + 1), (FAR, FAR + 9)]
    assert sealed.cat_ranges(["zeros"] * 5, *map(list, zip(*ranges))) == [bytes(min(end, FAR) - start) for start, end in ranges]
    with sealed.open("zeros") as file:
        assert file.seek(-7, 2) == FAR - 7 and file.read() == bytes(7) and file.seek(1 << 32) == 1 << 32 and file.read(9) == bytes(9)


def test_halves_of_files(tmp_path):
    path = tmp_path / "file"
    fs = SealedFileSystem("environment:FASTGCM_TEST_KEY", target_protocol="file")
    write = lambda: fs.pipe_file(str(path), b"text") or path.read_bytes()
    drawn(lambda: write()[:24])
    whole = write()
    for at in range(len(whole)):
        path.write_bytes(changed(whole, at))
        with pytest.raises(InvalidTag):
            fs.cat_file(str(path))
    path.write_bytes(whole)
    assert fs.cat_file(str(path)) == b"text"  # after so many refused calls


def test_halves_of_objects(tmp_path, kms, kms_key, endpoint, kms_endpoint):
    client, options = boto3.client("s3", endpoint_url=endpoint), {"s3": {"endpoint_url": endpoint}, "kms": {"endpoint_url": kms_endpoint}}
    (tmp_path / "text").write_bytes(b"text")
    begin = lambda: s3.Sealing.begin(tmp_path / "text", "bucket", "kinds", kms_key, **options)
    jobs = []
    drawn(lambda: jobs.append(begin()) or jobs[-1].envelope.message_id)
    [job.abandon() for job in jobs]
    s3.upload(tmp_path / "text", "bucket", "kinds", kms_key, **options)
    found = client.get_object(Bucket="bucket", Key="kinds")
    body, metadata = found["Body"].read(), found["Metadata"]

    def refused(body, metadata):
        client.put_object(Bucket="bucket", Key="changed", Body=body, Metadata=metadata)
        with pytest.raises(InvalidTag):
            s3.download("bucket", "changed", tmp_path / "never", **options)

    for at in range(len(body)):
        refused(changed(body, at), metadata)
    for name in ("x-amz-d", "x-amz-i"):
        for at in range(28):
            refused(body, metadata | {name: base64.b64encode(changed(base64.b64decode(metadata[name]), at)).decode()})
    assert os.listdir(tmp_path) == ["text"]
    s3.download("bucket", "kinds", tmp_path / "back", **options)  # after so many refused calls
    assert (tmp_path / "back").read_bytes() == b"text"
    content, part = s3._Content(SECRET, bytes(28)), PartHash.from_bytes(bytes(16) + SECRET[:16])
    drawn(lambda: bytes.fromhex(content.sealed_hash(part))[:12])
    sealed = bytes.fromhex(content.sealed_hash(part))
    for at in range(len(sealed)):
        with pytest.raises(InvalidTag):
            content.opened_hash(changed(sealed, at).hex())
    assert content.opened_hash(sealed.hex()).to_bytes() == part.to_bytes()
    quiet(repr(content), content.claim(part), content.sealed_hash(part), repr(jobs[0]), str(pickle.dumps(jobs[0])))


def test_quiet(tmp_path):
    fs = SealedFileSystem("environment:FASTGCM_TEST_KEY", context=b"other", target_protocol="file")
    path = f"{tmp_path}/file"
    with fs.open(path, "wb") as writer:
        writer.write(SECRET)
        shown = [repr(writer)]
    with fs.open(path) as reader:
        shown += [repr(reader), repr(fs), str(pickle.dumps(fs)), fs.to_json(), str(pickle.dumps(reader))]
    wrong = SealedFileSystem("environment:FASTGCM_TEST_KEY", target_protocol="file")
    for call in (
        lambda: wrong.cat_file(path),
        lambda: wrong.open(path, "ab"),
        lambda: wrong.open(f"{tmp_path}/none"),
        lambda: SealedFileSystem(SECRET, target_protocol="file"),
        lambda: SealedFileSystem(SECRET.hex(), target_protocol="file"),
        lambda: s3.Sealing.begin(path, "bucket", "key", "kms", s3={"aws_secret_access_key": SECRET.hex()}),
    ):
        with pytest.raises(Exception) as refused:
            call()
        shown += [str(refused.value), repr(refused.value), *getattr(refused.value, "__notes__", [])]
    assert fs.cat_file(path) == SECRET and fsspec.filesystem("file").ls(str(tmp_path), detail=False) == [path]
    quiet(*shown)
