"""Beside the official client: `official_client.py PROGRAM`, where PROGRAM is the example `object`. moto's server stands in for S3 and KMS."""

import base64
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import boto3
from moto.server import ThreadedMotoServer
from s3_encryption import S3EncryptionClient, S3EncryptionClientConfig
from s3_encryption.exceptions import S3EncryptionClientError
from s3_encryption.materials.kms_keyring import KmsKeyring

PART = 5 << 20
PROGRAM = os.path.abspath(sys.argv[1])
CONTEXT = {"name": "object"}

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"
os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1", AWS_ENDPOINT=endpoint, BUCKET="bucket")
s3, kms = (boto3.client(name, endpoint_url=endpoint) for name in ("s3", "kms"))
s3.create_bucket(Bucket="bucket")
key_id = kms.create_key()["KeyMetadata"]["KeyId"]
official = S3EncryptionClient(boto3.client("s3", endpoint_url=endpoint), S3EncryptionClientConfig(keyring=KmsKeyring(kms, key_id)))
kms_context = CONTEXT | {"aws:x-amz-cek-alg": "115"}


def ours(*arguments, data_key, wrapped=b"", **options):
    env = os.environ | {"DATA_KEY": base64.b64encode(data_key).decode(), "WRAPPED": base64.b64encode(wrapped).decode(), "CONTEXT": "name=object"}
    return subprocess.Popen([PROGRAM, *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def done(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, int(err.split()[-2]) if "VmHWM" in err else 0


def new_key():
    made = kms.generate_data_key(KeyId=key_id, KeySpec="AES_256", EncryptionContext=kms_context)
    return {"data_key": made["Plaintext"], "wrapped": made["CiphertextBlob"]}


def unwrapped(name):
    wrapped = base64.b64decode(done(ours("envelope", name, data_key=b""))[0])
    return kms.decrypt(KeyId=key_id, CiphertextBlob=wrapped, EncryptionContext=kms_context)["Plaintext"]


with tempfile.TemporaryDirectory() as folder:
    text, back = os.path.join(folder, "text"), os.path.join(folder, "back")
    read = written = 0
    for length in (0, 1, 16, PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 12345):
        data = random.randbytes(length)
        with open(text, "wb") as file:
            file.write(data)
        name = f"ours-{length}"
        done(ours("seal", text, name, **new_key()))
        got = official.get_object(Bucket="bucket", Key=name, EncryptionContext=CONTEXT)["Body"].read()
        assert got == data, name
        read += 1
        # Theirs: as one object, and in parts in series.
        for name, put in (
            (f"theirs-{length}", lambda n: official.put_object(Bucket="bucket", Key=n, Body=data, EncryptionContext=CONTEXT)),
            (f"series-{length}", lambda n: official.upload_file(text, "bucket", n, EncryptionContext=CONTEXT)),
        ):
            put(name)
            done(ours("open", back, name, data_key=unwrapped(name)))
            with open(back, "rb") as file:
                assert file.read() == data, name
            os.unlink(back)
            written += 1
    print(f"official::opens_ours ok {read}")
    print(f"official::ours_opens_theirs ok {written}")

    # Either refuses what was changed.
    name = "ours-1"
    head = s3.get_object(Bucket="bucket", Key=name)
    body = head["Body"].read()
    refused = 0
    for metadata, changed in ((head["Metadata"], bytes([body[0] ^ 1]) + body[1:]), (head["Metadata"] | {"x-amz-d": "A" * 38 + "=="}, body)):
        s3.put_object(Bucket="bucket", Key="changed", Body=changed, Metadata=metadata)
        try:
            official.get_object(Bucket="bucket", Key="changed", EncryptionContext=CONTEXT)["Body"].read()
            raise SystemExit("the official client opened a changed object")
        except S3EncryptionClientError:
            pass
        process = ours("open", back, "changed", data_key=unwrapped("changed"))
        assert "Unauthentic" in process.communicate()[1] and process.returncode == 1 and not os.path.exists(back)
        refused += 2
    print(f"official::changed_objects_are_refused ok {refused}")

    # Killed in the middle: no object. The whole again, with a new message: it is there.
    length = 40 * PART
    with open(text, "wb") as file:
        for _ in range(40):
            file.write(random.randbytes(PART))
    with open(text, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    key = new_key()
    process = ours("seal", text, "large", **key)
    while not any(
        s3.list_parts(Bucket="bucket", Key="large", UploadId=upload["UploadId"]).get("Parts")
        for upload in s3.list_multipart_uploads(Bucket="bucket").get("Uploads", [])
    ):
        assert process.poll() is None, "it was too fast to be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not [found for found in s3.list_objects_v2(Bucket="bucket")["Contents"] if found["Key"] == "large"]
    _, sealing = done(ours("seal", text, "large", **key))
    body = official.get_object(Bucket="bucket", Key="large", EncryptionContext=CONTEXT)["Body"].read()
    assert hashlib.sha256(body).digest() == digest
    _, opening = done(ours("open", back, "large", data_key=unwrapped("large")))
    with open(back, "rb") as file:
        assert hashlib.file_digest(file, "sha256").digest() == digest
    # Two workers with a part of 5 MiB each, and what the HTTP client and the runtime take. The object has 200 MiB.
    assert sealing < 64 << 10 and opening < 64 << 10, (sealing, opening)
    print(f"a text of 200 MiB, two parts of 5 MiB at a time: at most {sealing >> 10} MiB of memory to seal it, {opening >> 10} MiB to open it")
    print("official::killed_and_begun_anew ok 1")

server.stop()
