"""Objects of the S3 Encryption Client beside the official client, which runs in an environment of its own (`FASTGCM_OFFICIAL`: its Python)."""

import base64
import contextlib
import hmac
import io
import os
import pathlib
import pickle
import random
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import dask.config
import distributed
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import BotoCoreError, ClientError
from botocore.response import StreamingBody
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from fastgcm import InvalidTag, OtherText, jobs, s3
from fastgcm.hazmat import seal_part
from fastgcm.s3 import Envelope, Opening, Sealing
from proxy import Proxy

HERE = pathlib.Path(__file__).resolve().parent
PART = 5 << 20
CONTEXT = {"name": "object"}


@pytest.fixture
def options(endpoint, kms_endpoint):
    return {"context": CONTEXT, "part": PART, "s3": {"endpoint_url": endpoint}, "kms": {"endpoint_url": kms_endpoint}}


@pytest.fixture
def text(tmp_path):
    return tmp_path / "text"


def names(client):
    return [found["Key"] for found in client.list_objects_v2(Bucket="bucket").get("Contents", [])]


def nothing_left(client):
    assert not [name for name in names(client) if ".claims/" in name]
    assert not client.list_multipart_uploads(Bucket="bucket").get("Uploads")
    return True


LENGTHS = [0, 1, 16, PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 12345]


@pytest.mark.parametrize("length", LENGTHS)
def test_beside_the_official_clients(tmp_path, text, length, officials, kms_key, options):
    text.write_bytes(random.randbytes(length))
    s3.upload(text, "bucket", f"ours-{length}", kms_key, **options)
    s3.download("bucket", f"ours-{length}", tmp_path / "back", **options | {"part": 2 * PART})
    assert (tmp_path / "back").read_bytes() == text.read_bytes()
    for language, official in officials.items():
        got = tmp_path / f"got-{language}"
        assert official("get", f"ours-{length}", got) == "ok" and got.read_bytes() == text.read_bytes()
        for how in ("put", "series"):
            theirs = f"{how}-{language}"
            assert official(how, f"{theirs}-{length}", text) == "ok"
            s3.download("bucket", f"{theirs}-{length}", tmp_path / theirs, **options)
            assert (tmp_path / theirs).read_bytes() == text.read_bytes()
    of_each = [f"{how}-{language}" for how in ("got", "put", "series") for language in ("java", "python")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", *of_each, "text"]


def test_what_was_not_sealed_is_refused(tmp_path, text, kms, kms_key, options, endpoint, officials):
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint)
    text.write_bytes(random.randbytes(2 * PART + 7))
    s3.upload(text, "bucket", "good", kms_key, **options)
    found = client.get_object(Bucket="bucket", Key="good")
    body, metadata = found["Body"].read(), found["Metadata"]
    changed = lambda at: body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
    bodies = [changed(at) for at in (0, PART - 1, PART, len(body) - 17, len(body) - 16, len(body) - 1)]
    bodies += [body[:-1], body[:15], b"", body + b"1", body[PART : 2 * PART] + body[:PART] + body[2 * PART :]]
    for other in bodies:
        client.put_object(Bucket="bucket", Key="changed", Body=other, Metadata=metadata)
        with pytest.raises(InvalidTag):
            s3.download("bucket", "changed", tmp_path / "never", **options)
        for language, official in officials.items():
            if language == "java" and len(other) == 15:
                continue  # 4.0.1 waits for more, for ever
            assert "Exception" in (answer := official("get", "changed", tmp_path / "never")) or answer == "S3EncryptionClientError", answer
            (tmp_path / "never").unlink(missing_ok=True)
    other_key = kms.generate_data_key(KeyId=kms_key, KeySpec="AES_256", EncryptionContext=CONTEXT | {"aws:x-amz-cek-alg": "115"})
    swapped = metadata | {"x-amz-3": base64.b64encode(other_key["CiphertextBlob"]).decode()}
    for name in ("x-amz-i", "x-amz-d"):
        flipped = base64.b64decode(metadata[name])
        flipped = metadata | {name: base64.b64encode(bytes([flipped[0] ^ 1]) + flipped[1:]).decode()}
        for other in (flipped, swapped):
            client.put_object(Bucket="bucket", Key="changed", Body=body, Metadata=other)
            with pytest.raises(InvalidTag):
                s3.download("bucket", "changed", tmp_path / "never", **options)
    wrong = [{name: value for name, value in metadata.items() if name != missing} for missing in metadata]
    wrong += [metadata | {"x-amz-c": "116"}, metadata | {"x-amz-w": "11"}, metadata | {"x-amz-key-v2": "1"}, metadata | {"x-amz-i": "AAAA"}]
    wrong += [metadata | {"x-amz-t": value} for value in ("[1]", "{", '{"name": 1}', '{"name": "other"}')]
    for other in wrong:
        with pytest.raises(ValueError):
            Envelope.of(other, CONTEXT)
    for context in ({}, {"name": "other"}, CONTEXT | {"more": "1"}):
        with pytest.raises(ValueError, match="another encryption context"):
            s3.download("bucket", "good", tmp_path / "never", **options | {"context": context})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text"]
    # The object changes between two parts.
    job = Opening.begin("bucket", "good", tmp_path / "never", **options)
    receipt = job.run(0)
    client.put_object(Bucket="bucket", Key="good", Body=changed(PART), Metadata=metadata)
    with pytest.raises(ClientError, match="PreconditionFailed|412"):
        job.run(1)
    # And a server that does not notice: what was written for a part stays what it was.
    job = pickle.loads(pickle.dumps(job))
    object.__setattr__(job, "etag", client.head_object(Bucket="bucket", Key="good")["ETag"])
    assert job.run(0)[0] == receipt[0]
    client.put_object(Bucket="bucket", Key="good", Body=changed(0), Metadata=metadata)
    object.__setattr__(job, "etag", client.head_object(Bucket="bucket", Key="good")["ETag"])
    with pytest.raises(OtherText):
        job.run(0)
    assert open(job._body(), "rb").read(PART) == text.read_bytes()[:PART]
    job.abandon()


class Body(io.BytesIO):
    def stream(self):
        yield self.read()


@contextlib.contextmanager
def no_such_upload(options):
    """What a server says of parts for an upload that was aborted. moto's says 500, and so we say it in its place."""
    if "FASTGCM_S3" not in os.environ:
        s3._made.cache_clear()
        body = Body(b"<Error><Code>NoSuchUpload</Code></Error>")
        events = s3._client("s3", s3._frozen(options["s3"])).meta.events
        events.register("before-send.s3.UploadPart", lambda request, **_: AWSResponse(request.url, 404, {}, body))
    yield
    s3._made.cache_clear()


def test_a_part_has_one_text(tmp_path, text, kms_key, options, endpoint, official):
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint)
    data = bytearray(random.randbytes(3 * PART + 100))
    text.write_bytes(data)
    job = Sealing.begin(text, "bucket", "one", kms_key, **options)
    first = job.run(1)
    uploaded = lambda: client.list_parts(Bucket="bucket", Key="one", UploadId=job.upload_id)["Parts"]
    before = uploaded()
    assert job.run(1)[0] == 1 and uploaded()[0]["ETag"] == before[0]["ETag"]
    for at in (PART, 2 * PART - 1):
        data[at] ^= 1
        text.write_bytes(data)
        with pytest.raises(OtherText):
            job.run(1)
        data[at] ^= 1
    for other in (data[:-1], data + b"1"):
        text.write_bytes(other)
        with pytest.raises(OtherText):
            job.run(2)
    assert [part["ETag"] for part in uploaded()] == [part["ETag"] for part in before]
    with pytest.raises(ValueError, match="missing"):
        job.finish([first])
    text.write_bytes(data)
    receipts = [job.run(0), first, job.run(2)]
    with pytest.raises(ValueError, match="another part"):
        job.finish([(0, first[1]), (1, receipts[0][1]), receipts[2]])
    with pytest.raises(InvalidTag):
        job.finish([(0, "00" * 60), *receipts[1:]])
    assert "one" not in names(client)
    # The rest changes between two attempts to finish.
    put = Sealing._put_part
    Sealing._put_part = lambda *_: (_ for _ in ()).throw(OSError)
    try:
        with pytest.raises(OSError):
            job.finish(receipts)
    finally:
        Sealing._put_part = put
    data[-1] ^= 1
    text.write_bytes(data)
    with pytest.raises(OtherText):
        job.finish(receipts)
    data[-1] ^= 1
    text.write_bytes(data)
    # Somebody else's object is in the way.
    client.put_object(Bucket="bucket", Key="one", Body=b"old")
    with pytest.raises(FileExistsError):
        job.finish(receipts)
    job.finish(receipts, overwrite=True)
    assert official("get", "one", tmp_path / "got") == "ok" and (tmp_path / "got").read_bytes() == data
    assert nothing_left(client)
    for index in (-1, 3):
        with pytest.raises(IndexError):
            job.run(index)
    # The whole anew has another key.
    again = Sealing.begin(text, "bucket", "one", kms_key, **options)
    assert again.envelope.wrapped != job.envelope.wrapped and again.envelope.message_id != job.envelope.message_id
    again.abandon()
    assert nothing_left(client)
    # A worker does not know yet that the job was given up.
    with no_such_upload(options), pytest.raises(ClientError, match="NoSuchUpload"):
        again.run(0)
    assert nothing_left(client)


NUMBERS = [sign * (1 << bits) + by for bits in (0, 31, 32, 36, 63, 64, 200) for sign in (1, -1) for by in (-16, -1, 0, 1, 16)]


def test_sizes():
    """Numbers that wrap, negative ones, and what is none."""
    for length in (0, 1, PART, 1 << 33):
        for part in NUMBERS:
            is_right = PART <= part <= (5 << 30) - 16 and part % 16 == 0 and length // part < 10_000
            if is_right:
                assert s3._part_of(length, part) == part
            else:
                with pytest.raises((ValueError, OverflowError)):
                    s3._part_of(length, part)
    for part in (1.0 * (8 << 20), "8388608", b"1"):
        with pytest.raises(TypeError):
            s3._part_of(1, part)
    envelope = s3.Envelope(b"", (), bytes(28), bytes(28))
    sealing = Sealing("absent", "bucket", "key", envelope, 3 * PART, PART, "id", "claims/", (), ())
    opening = Opening("bucket", "key", "etag", envelope, "absent", 3 * PART, PART, "absent", (), ())
    for job in (sealing, opening):
        assert job.parts == 3
        for index in NUMBERS:
            if not 0 <= index < 3:
                with pytest.raises(IndexError):
                    job.run(index)
        for index in (1.0, "1", None):
            with pytest.raises(TypeError):
                job.run(index)


def test_options(text, kms_key, options, endpoint):
    text.write_bytes(b"1")
    begin = lambda **other: Sealing.begin(text, "bucket", "never", kms_key, **options | other)
    for part in (PART - 16, PART + 8, 5 << 30, 0):
        with pytest.raises(ValueError, match="part is no multiple"):
            begin(part=part)
    for name in ("aws_secret_access_key", "aws_access_key_id", "aws_session_token"):
        with pytest.raises(ValueError, match=name) as error:
            begin(s3={name: "secret!"})
        assert "secret!" not in str(error.value)
    with pytest.raises(ValueError, match="a text, a number or a bool"):
        begin(s3={"config": object()})
    for context in ({"aws:x-amz-cek-alg": "115"}, {"name": "ä"}):
        with pytest.raises(ValueError, match="ASCII"):
            begin(context=context)
    os.truncate(text, PART * 10_000)
    with pytest.raises(ValueError, match="10,000 parts"):
        begin()
    assert s3._part_of(PART * 10_000, None) * 9_999 >= PART * 10_000 and s3._part_of(0, None) == 8 << 20
    os.truncate(text, (1 << 36) - 31)
    with pytest.raises(OverflowError):
        begin(part=1 << 30)
    for wrong in ({"workers": 0}, {"attempts": 0}):
        os.truncate(text, 1)
        with pytest.raises(ValueError, match="no worker, or no attempt"):
            s3.upload(text, "bucket", "never", kms_key, **options | wrong)


def test_no_key_travels(tmp_path, text, kms, kms_key, options, endpoint):
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint)
    text.write_bytes(random.randbytes(2 * PART))
    job = Sealing.begin(text, "bucket", "travels", kms_key, **options)
    receipts = [job.run(0), job.run(1)]
    data_key = kms.decrypt(CiphertextBlob=job.envelope.wrapped, EncryptionContext=dict(job.envelope.context))["Plaintext"]
    derived = lambda name: HKDF(hashes.SHA512(), 32, job.envelope.message_id, b"\x00\x73" + name).derive(data_key)
    content = s3._content(job.kms, job.envelope)
    sealed = AESGCM(derived(b"DERIVEKEY")).encrypt(b"\x01" * 12, text.read_bytes(), b"\x00\x73")
    secrets = [data_key, derived(b"DERIVEKEY"), derived(b"fastgcm hashes of parts"), derived(b"fastgcm claims of parts")]
    secrets += [content.opened_hash(receipt).to_bytes()[16:] for _, receipt in receipts]
    claims = [client.get_object(Bucket="bucket", Key=name)["Body"].read() for name in names(client) if ".claims/" in name]
    assert len(claims) == 3
    job.finish(receipts)
    assert client.get_object(Bucket="bucket", Key="travels")["Body"].read() == sealed
    opening = Opening.begin("bucket", "travels", tmp_path / "opened", **options)
    receipts += [opening.run(0)]
    claims += [opening._claimed(0).encode()]
    for one in (job, opening):
        seen = [pickle.dumps(one), cloudpickle.dumps(one), repr(one).encode(), *claims, repr(receipts).encode(), repr(content).encode()]
        for secret in secrets:
            for form in (secret, secret.hex().encode(), base64.b64encode(secret)[:40], repr(secret)[2:-1].encode()):
                assert not [where for where in seen if form in where]
    with pytest.raises(TypeError):
        pickle.dumps(content)
    opening.abandon()
    assert not list(tmp_path.glob("opened*"))


def test_each_key_has_a_label_of_its_own():
    """Hashes of parts travel under one key, so under another nonce each time; and that key is not the key of the text."""
    data_key, message_id = bytes(range(32)), bytes(range(28))
    derived = lambda label, length=32: HKDF(hashes.SHA512(), length, message_id, b"\x00\x73" + label).derive(data_key)
    content = s3._Content(data_key, message_id)
    sealed, part = seal_part(content.aesgcm, b"\x01" * 12, 0, b"text")
    assert AESGCM(derived(b"DERIVEKEY")).encrypt(b"\x01" * 12, b"text", None)[:4] == sealed
    travelling = [bytes.fromhex(content.sealed_hash(part)) for _ in range(50)]
    assert len({one[:12] for one in travelling}) == 50
    for one in travelling:
        assert AESGCM(derived(b"fastgcm hashes of parts")).decrypt(one[:12], one[12:], None) == part.to_bytes()
        with pytest.raises(InvalidTag):
            AESGCM(derived(b"DERIVEKEY")).decrypt(one[:12], one[12:], None)
    assert content.claim(part) == hmac.new(derived(b"fastgcm claims of parts", 64), part.to_bytes(), "sha512").hexdigest()
    assert content.commitment == derived(b"COMMITKEY", 28)


def test_a_part_is_missing(text, kms_key, options, endpoint, monkeypatch):
    """It has a receipt, and is not there."""
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint)
    text.write_bytes(random.randbytes(3 * PART + 5))
    put = Sealing._put_part
    for lost in (0, 1, 2, 3):
        monkeypatch.setattr(Sealing, "_put_part", lambda job, index, sealed: put(job, index, sealed) if index != lost else None)
        job = Sealing.begin(text, "bucket", "lacks", kms_key, **options)
        with pytest.raises(ValueError, match="not those of the job"):
            job.finish([job.run(index) for index in range(3)])
        job.abandon()
    # A part that is there, and has another length.
    monkeypatch.setattr(Sealing, "_put_part", lambda job, index, sealed: put(job, index, sealed + b"1" if index == 1 else sealed))
    job = Sealing.begin(text, "bucket", "lacks", kms_key, **options)
    with pytest.raises(ValueError, match="not those of the job"):
        job.finish([job.run(index) for index in range(3)])
    job.abandon()
    assert "lacks" not in names(client) and nothing_left(client)


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_attempts_end(attempts):
    class Failing:
        parts, calls = 1, 0

        def run(self, index):
            self.calls += 1
            if self.calls > 50:
                pytest.fail("it is tried without end")
            raise OSError

    job = Failing()
    with pytest.raises(OSError):
        s3._by_threads(job, 1, attempts)
    assert job.calls == attempts


def spoiled(events, operation, at, how):
    """Spoils the answer to the `at`-th request of this operation (-1: none). Returns what counts them."""
    asked = []

    def before(request, **_):
        asked.append(request.url)
        if len(asked) - 1 == at and how != "short":
            return AWSResponse(request.url, {"unavailable": 503, "missing": 404}[how], {}, Body())

    def after(parsed, **_):
        if len(asked) - 1 == at and how == "short":
            parsed["Body"] = StreamingBody(io.BytesIO(parsed["Body"].read()[:-7]), None)

    events.register(f"before-send.{operation}", before)
    events.register(f"after-call.{operation}", after)
    return asked


def test_each_request_has_attempts(tmp_path, text, kms_key, options, monkeypatch):
    """boto3 makes none here. What the server refuses is not tried again, and a body that ends early is no forgery."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    text.write_bytes(random.randbytes(2 * PART + 7))
    of_upload = ["kms.GenerateDataKey", "s3.CreateMultipartUpload", "s3.PutObject", "s3.UploadPart", "s3.ListParts", "s3.CompleteMultipartUpload"]
    of_upload += ["s3.HeadObject", "s3.ListObjectsV2", "s3.DeleteObjects"]
    of_download = ["kms.Decrypt", "s3.HeadObject", "s3.GetObject"]
    run = {
        "up": lambda: s3.upload(text, "bucket", "spoiled", kms_key, **options, workers=1, overwrite=False),
        "down": lambda: s3.download("bucket", "spoiled", tmp_path / "back", **options, workers=1),
    }

    def go(way, operation, at, how):
        s3._made.cache_clear()
        s3._unwrapped.cache_clear()
        service = operation.split(".")[0]
        asked = spoiled(s3._client(service, s3._frozen(options[service])).meta.events, operation, at, how)
        (tmp_path / "back").unlink(missing_ok=True)
        if way == "up":
            s3.Session().client("s3", **options["s3"]).delete_object(Bucket="bucket", Key="spoiled")
        run[way]()
        return len(asked)

    for way, operations in ("up", of_upload), ("down", of_download):
        for operation in operations:
            requests = go(way, operation, -1, "unavailable")
            assert requests > 0, operation
            for at in range(requests):
                again = 2 if operation == "s3.PutObject" and at == 1 else 1  # both claims that try the server's conditions
                assert go(way, operation, at, "unavailable") == requests + again, (operation, at)
                if way == "down":
                    assert (tmp_path / "back").read_bytes() == text.read_bytes()
                if operation == "s3.GetObject":
                    assert go(way, operation, at, "short") == requests + 1
                    with pytest.raises(ClientError, match="404"):
                        go(way, operation, at, "missing")
    # A body that is always short.
    job = Opening.begin("bucket", "spoiled", tmp_path / "never", **options)
    monkeypatch.setattr(s3, "_filled", lambda readinto, buffer: len(buffer) - 7)
    with pytest.raises(ConnectionError, match=f"was asked for {PART} bytes, and {PART - 7} came"):
        job.run(0)
    job.abandon()


def test_only_the_owner_reads(tmp_path, text, kms_key, options):
    text.write_bytes(random.randbytes(PART + 5))
    s3.upload(text, "bucket", "modes", kms_key, **options)
    mode = lambda path: stat.S_IMODE(os.stat(path).st_mode)
    before = os.umask(0)
    try:
        job = Opening.begin("bucket", "modes", tmp_path / "opened", **options)
        assert mode(job.stage) == 0o700 and mode(job._body()) == 0o600
        job.finish([job.run(index) for index in range(job.parts)])
    finally:
        os.umask(before)
    assert mode(tmp_path / "opened") == 0o600 and (tmp_path / "opened").read_bytes() == text.read_bytes()


def port_of(endpoint):
    return urllib.parse.urlsplit(endpoint).port


def test_connections_are_cut(tmp_path, text, kms_key, options, endpoint, official, monkeypatch):
    """boto3 does not try again here: we do."""
    import boto3

    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    client = boto3.client("s3", endpoint_url=endpoint)
    text.write_bytes(random.randbytes(6 * PART + 5))
    cut, lock, seen = [], threading.Lock(), {}

    def through(number, up, data):
        """Each second long message is cut after 2 MiB, on its way up or down."""
        with lock:
            seen[number, up] = seen.get((number, up), 0) + len(data)
            if seen[number, up] > 2 << 20 and number not in cut and len(cut) < 4:
                cut.append(number)
                return None
        return data

    proxy = Proxy(port_of(endpoint), through)
    options = options | {"s3": {"endpoint_url": proxy.url}}
    s3.upload(text, "bucket", "cut", kms_key, workers=2, attempts=5, **options)
    assert len(cut) == 4 and official("get", "cut", tmp_path / "got") == "ok" and (tmp_path / "got").read_bytes() == text.read_bytes()
    cut.clear()
    seen.clear()
    s3.download("bucket", "cut", tmp_path / "back", workers=2, attempts=5, **options)
    assert len(cut) == 4 and (tmp_path / "back").read_bytes() == text.read_bytes()
    # For good: there is no object, and nothing is left. The way to abort it is free.
    seen.clear()
    hopeless = Proxy(port_of(endpoint), lambda number, up, data: None if up and b"partNumber=3" in data else data)
    with pytest.raises((ClientError, BotoCoreError)):
        s3.upload(text, "bucket", "hopeless", kms_key, workers=2, **options | {"s3": {"endpoint_url": hopeless.url}})
    assert "hopeless" not in names(client) and nothing_left(client)
    # The answer that it is complete is lost: it is complete all the same.
    lost = []

    def losing(number, up, data):
        if up and b"uploadId=" in data and data.startswith(b"POST"):
            lost.append(number)
        return None if not up and number in lost else data

    losing_proxy = Proxy(port_of(endpoint), losing)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    s3._made.cache_clear()
    s3.upload(text, "bucket", "lost", kms_key, **options | {"s3": {"endpoint_url": losing_proxy.url}})
    assert lost and official("get", "lost", tmp_path / "got") == "ok" and nothing_left(client)
    for one in (proxy, hopeless, losing_proxy):
        one.close()


@contextlib.contextmanager
def overlooked(options, operation):
    """`If-None-Match` does not get to the server, which so seems to overlook it."""
    s3._made.cache_clear()
    events = s3._client("s3", s3._frozen(options["s3"])).meta.events
    seen = []

    def without(request, **_):
        seen.append(request.headers["If-None-Match"])
        del request.headers["If-None-Match"]

    events.register(f"before-sign.s3.{operation}", without)
    yield seen
    s3._made.cache_clear()


def test_conditions_that_a_server_overlooks(text, kms_key, options, endpoint):
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint)
    text.write_bytes(bytes(PART))
    # Of parts: it is refused, before anything is sealed.
    with overlooked(options, "PutObject") as seen, pytest.raises(ValueError, match="conditional"):
        s3.upload(text, "bucket", "never", kms_key, **options)
    assert seen == ["*", "*"] and "never" not in names(client) and nothing_left(client)
    # Of the whole, as Ceph's does: an object that is there stays.
    client.put_object(Bucket="bucket", Key="there", Body=b"old")
    with overlooked(options, "CompleteMultipartUpload") as seen:
        with pytest.raises(FileExistsError):
            s3.upload(text, "bucket", "there", kms_key, **options)
        assert client.get_object(Bucket="bucket", Key="there")["Body"].read() == b"old" and nothing_left(client)
        s3.upload(text, "bucket", "not there", kms_key, **options)
    assert seen == ["*"] and "not there" in names(client) and nothing_left(client)


def test_the_first_claim_stands(text, kms_key, options, endpoint):
    """Of many at the same moment. A server that looks first and then writes (s3s-fs does) has several winners, and mixes them."""
    text.write_bytes(bytes(PART))
    job = Sealing.begin(text, "bucket", "claims", kms_key, **options)
    workers, rounds = 8, 20
    with ThreadPoolExecutor(workers) as pool:
        for number in range(rounds):
            together = threading.Barrier(workers)

            def claim(worker):
                together.wait()
                return job._put_claim(f"of-{number}", f"{worker}")

            won = list(pool.map(claim, range(workers)))
            stands = s3._client("s3", job.s3).get_object(Bucket="bucket", Key=f"{job.claims}of-{number}")["Body"].read()
            assert won == [worker == int(stands) for worker in range(workers)]
    job.abandon()


class Deadly:
    """A job whose worker dies, once, when it has read half of a part, or sent half: what a test plants. It is pickled with the job."""

    def __init__(self, job, index, mark):
        self.job, self.index, self.mark, self.parts = job, index, str(mark), job.parts
        self.finish, self.abandon = job.finish, job.abandon

    def __reduce__(self):
        return Deadly, (self.job, self.index, self.mark)

    def run(self, index):
        if index == self.index and not os.path.exists(self.mark):
            open(self.mark, "x").close()
            name = "_put_part" if isinstance(self.job, Sealing) else "_write"
            whole = getattr(type(self.job), name)

            def half(job, at, data):
                if name == "_write":
                    whole(job, at, data[: len(data) // 2])
                else:
                    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
                    whole(job, at, data)
                    time.sleep(1)
                os.kill(os.getpid(), signal.SIGKILL)

            setattr(type(self.job), name, half)
        return self.job.run(index)


def test_workers_of_dask_are_killed(tmp_path, text, kms_key, options, endpoint, official, monkeypatch):
    import boto3

    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setitem(dask.config.config["distributed"]["deploy"], "lost-worker-timeout", "1h")  # as in engines.py
    client = boto3.client("s3", endpoint_url=endpoint)
    text.write_bytes(random.randbytes(7 * PART + 99))
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as engine:
        job = Sealing.begin(text, "bucket", "dask", kms_key, **options)
        jobs.on_dask(engine, Deadly(job, 3, tmp_path / "killed"))
        assert (tmp_path / "killed").exists() and nothing_left(client)
        assert official("get", "dask", tmp_path / "got") == "ok" and (tmp_path / "got").read_bytes() == text.read_bytes()
        opening = Opening.begin("bucket", "dask", tmp_path / "opened", **options)
        jobs.on_dask(engine, Deadly(opening, 3, tmp_path / "killed too"))
        assert (tmp_path / "killed too").exists() and (tmp_path / "opened").read_bytes() == text.read_bytes()
        # It fails for good: nothing is there.
        job = Sealing.begin(text, "bucket", "dask2", kms_key, **options)
        job.run(1)
        with open(text, "r+b") as file:
            file.seek(PART)
            file.write(b"other")
        with pytest.raises(OtherText):
            jobs.on_dask(engine, job)
        assert "dask2" not in names(client) and not client.list_multipart_uploads(Bucket="bucket").get("Uploads")
        # The other worker may be at its part still, and tidies up, unless it is moto's server that does not say why.
        late = lambda: "FASTGCM_S3" in os.environ and [name for name in names(client) if ".claims/" in name]
        deadline = time.monotonic() + 30
        while late() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not late()


MEMORY = """
    import sys
    from fastgcm import s3
    import boto3

    def most():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

    what, file, key, kms_key, endpoint, kms_endpoint = sys.argv[1:]
    at, of_kms = {"endpoint_url": endpoint}, {"endpoint_url": kms_endpoint}
    [boto3.client(name, **at) for name in ("s3", "kms")]
    before = most()
    options = {"s3": at, "kms": of_kms, "part": 16 << 20, "workers": 2}
    s3.upload(file, "bucket", key, kms_key, **options) if what == "up" else s3.download("bucket", key, file, **options)
    print(most() - before)
    """


def test_memory_is_bounded_by_the_parts(tmp_path, text, kms_key, endpoint, kms_endpoint):
    with open(text, "wb") as file:
        for _ in range(320):
            file.write(random.randbytes(1 << 20))
    took = {}
    for what, name in (("up", text), ("down", tmp_path / "back")):
        command = [sys.executable, "-c", textwrap.dedent(MEMORY), what, name, "memory", kms_key, endpoint, kms_endpoint]
        took[what] = int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) >> 10
    assert (tmp_path / "back").read_bytes() == text.read_bytes()
    print(f"320 MiB, two threads with parts of 16 MiB: {took} MiB of memory more than before")
    # Two parts, and what boto3 and the connections take.
    assert max(took.values()) < 64, took
