"""The crate `fastgcm-s3` over `object_store`, by its example `object` (`FASTGCM_OBJECT`), beside the official clients and `fastgcm.s3`."""

import base64
import hashlib
import os
import random
import signal
import subprocess
import time
import urllib.parse

import pytest
from conftest import TARGET
from fastgcm import s3 as ours_in_python
from proxy import Proxy

PART = 5 << 20
CONTEXT = {"name": "object"}
KMS_CONTEXT = CONTEXT | {"aws:x-amz-cek-alg": "115"}
PROGRAM = os.environ.get("FASTGCM_OBJECT", TARGET / "adapters/release/examples/object")


@pytest.fixture
def rust(endpoint):
    """Starts the program. What KMS has made or unwrapped comes with it, as from the environment of a worker."""

    def start(*arguments, data_key=b"", wrapped=b"", at=endpoint):
        keys = {"DATA_KEY": base64.b64encode(data_key).decode(), "WRAPPED": base64.b64encode(wrapped).decode(), "CONTEXT": "name=object"}
        where = {"BUCKET": "bucket", "AWS_ENDPOINT": at}
        command = [PROGRAM, *map(str, arguments)]
        return subprocess.Popen(command, env=os.environ | keys | where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def done(process):
    """What it said, and the peak of its memory in KiB."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, int(err.split()[-2])


@pytest.fixture
def new_key(kms, kms_key):
    def make():
        made = kms.generate_data_key(KeyId=kms_key, KeySpec="AES_256", EncryptionContext=KMS_CONTEXT)
        return {"data_key": made["Plaintext"], "wrapped": made["CiphertextBlob"]}

    return make


@pytest.fixture
def unwrapped(rust, kms, kms_key):
    def ask(name):
        wrapped = base64.b64decode(done(rust("envelope", name))[0])
        return kms.decrypt(KeyId=kms_key, CiphertextBlob=wrapped, EncryptionContext=KMS_CONTEXT)["Plaintext"]

    return ask


@pytest.mark.parametrize("length", [0, 1, 16, PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 12345])
def test_beside_the_official_clients(tmp_path, length, rust, officials, new_key, unwrapped, endpoint, kms_endpoint):
    text = tmp_path / "text"
    text.write_bytes(random.randbytes(length))
    name = f"rust-{length}"
    done(rust("seal", text, name, **new_key()))
    ours_in_python.download("bucket", name, tmp_path / "python", context=CONTEXT, s3={"endpoint_url": endpoint}, kms={"endpoint_url": kms_endpoint})
    assert (tmp_path / "python").read_bytes() == text.read_bytes()
    for language, official in officials.items():
        got = tmp_path / f"got-{language}"
        assert official("get", name, got) == "ok" and got.read_bytes() == text.read_bytes()
        for how in ("put", "series"):
            theirs = f"for-rust-{how}-{language}-{length}"
            assert official(how, theirs, text) == "ok"
            done(rust("open", tmp_path / theirs, theirs, data_key=unwrapped(theirs)))
            assert (tmp_path / theirs).read_bytes() == text.read_bytes()


def test_changed_objects_are_refused(tmp_path, rust, s3, new_key, unwrapped):
    text, back = tmp_path / "text", tmp_path / "back"
    text.write_bytes(b"1")
    done(rust("seal", text, "rust-good", **new_key()))
    found = s3.get_object(Bucket="bucket", Key="rust-good")
    body, metadata = found["Body"].read(), found["Metadata"]
    key = unwrapped("rust-good")
    done(rust("open", back, "rust-good", data_key=key))
    back.unlink()
    for other, changed in ((metadata, bytes([body[0] ^ 1]) + body[1:]), (metadata | {"x-amz-d": "A" * 38 + "=="}, body), (metadata, body[:15])):
        s3.put_object(Bucket="bucket", Key="rust-changed", Body=changed, Metadata=other)
        process = rust("open", back, "rust-changed", data_key=key)
        assert "Unauthentic" in process.communicate()[1] and process.returncode == 1 and not back.exists()


def uploads(s3, name):
    return [upload["UploadId"] for upload in s3.list_multipart_uploads(Bucket="bucket").get("Uploads", []) if upload["Key"] == name]


def test_it_is_killed_and_begun_anew(tmp_path, rust, s3, officials, new_key, unwrapped):
    """Two workers with a part of 5 MiB each, and what the HTTP client and the runtime take. The object has 200 MiB."""
    text, back = tmp_path / "text", tmp_path / "back"
    with open(text, "wb") as file:
        for _ in range(40):
            file.write(random.randbytes(PART))
    with open(text, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    key = new_key()
    process = rust("seal", text, "rust-large", **key)
    while not any(s3.list_parts(Bucket="bucket", Key="rust-large", UploadId=upload).get("Parts") for upload in uploads(s3, "rust-large")):
        assert process.poll() is None, "it was too fast to be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not [found for found in s3.list_objects_v2(Bucket="bucket").get("Contents", []) if found["Key"] == "rust-large"]
    (left,) = uploads(s3, "rust-large")
    s3.abort_multipart_upload(Bucket="bucket", Key="rust-large", UploadId=left)  # as a rule of the bucket does
    # The whole again, with a new message under the same data key.
    _, sealing = done(rust("seal", text, "rust-large", **key))
    assert officials["python"]("get", "rust-large", back) == "ok"
    with open(back, "rb") as file:
        assert hashlib.file_digest(file, "sha256").digest() == digest
    back.unlink()
    _, opening = done(rust("open", back, "rust-large", data_key=unwrapped("rust-large")))
    with open(back, "rb") as file:
        assert hashlib.file_digest(file, "sha256").digest() == digest
    assert sealing < 64 << 10 and opening < 64 << 10, (sealing, opening)
    print(f"200 MiB, two parts of 5 MiB at a time: at most {sealing >> 10} MiB of memory to seal them, {opening >> 10} MiB to open them")


def test_connections_are_cut(tmp_path, rust, s3, endpoint, officials, new_key, unwrapped):
    text, back, got = tmp_path / "text", tmp_path / "back", tmp_path / "got"
    text.write_bytes(random.randbytes(6 * PART + 5))
    cut, seen = [], {}

    def through(number, up, data):
        """The first four connections that carry 2 MiB are cut then."""
        seen[number, up] = seen.get((number, up), 0) + len(data)
        if seen[number, up] > 2 << 20 and number not in cut and len(cut) < 4:
            cut.append(number)
            return None
        return data

    proxy = Proxy(urllib.parse.urlsplit(endpoint).port, through)
    done(rust("seal", text, "rust-cut", **new_key(), at=proxy.url))
    assert len(cut) == 4 and officials["java"]("get", "rust-cut", got) == "ok" and got.read_bytes() == text.read_bytes()
    cut.clear()
    seen.clear()
    done(rust("open", back, "rust-cut", data_key=unwrapped("rust-cut"), at=proxy.url))
    assert len(cut) == 4 and back.read_bytes() == text.read_bytes()
    # One part never arrives: the upload is aborted, and there is no object.
    hopeless = Proxy(urllib.parse.urlsplit(endpoint).port, lambda number, up, data: None if up and b"partNumber=3" in data else data)
    process = rust("seal", text, "rust-hopeless", **new_key(), at=hopeless.url)
    assert process.wait(300) == 1 and not uploads(s3, "rust-hopeless")
    with pytest.raises(s3.exceptions.ClientError, match="404"):
        s3.head_object(Bucket="bucket", Key="rust-hopeless")
    for one in (proxy, hopeless):
        one.close()
