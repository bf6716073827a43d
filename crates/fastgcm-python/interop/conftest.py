"""Servers of S3 and KMS for the tests of this folder, and other people's programs beside ours.

KMS is moto's server. So is S3, unless FASTGCM_S3 is the URL of another one.
"""

import os
import pathlib
import subprocess

import pytest

os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1", AWS_REGION="us-east-1")
HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parents[2] / "target"


@pytest.fixture(scope="session")
def kms_endpoint():
    """moto's server."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def endpoint(kms_endpoint):
    """A server of S3 with a bucket of the name `bucket`."""
    import boto3

    url = os.environ.get("FASTGCM_S3", kms_endpoint)
    boto3.client("s3", endpoint_url=url).create_bucket(Bucket="bucket")
    return url


@pytest.fixture(scope="session")
def s3(endpoint):
    import boto3

    return boto3.client("s3", endpoint_url=endpoint)


@pytest.fixture(scope="session")
def kms(kms_endpoint):
    import boto3

    return boto3.client("kms", endpoint_url=kms_endpoint)


@pytest.fixture(scope="session")
def kms_key(kms):
    return kms.create_key()["KeyMetadata"]["KeyId"]


def _official(*command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(*words):
        process.stdin.write(" ".join(map(str, words)) + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield ask
    process.stdin.close()
    process.wait()


@pytest.fixture(scope="session")
def official(endpoint, kms_endpoint, kms_key):
    """The official client for Python: `official("put|series|get", NAME, FILE)`."""
    python = os.environ.get("FASTGCM_OFFICIAL", TARGET / "official/bin/python")
    yield from _official(python, HERE / "official.py", endpoint, kms_endpoint, kms_key)


@pytest.fixture(scope="session")
def officials(official, endpoint, kms_endpoint, kms_key):
    """Both of them, by their language."""
    java = os.environ.get("FASTGCM_OFFICIAL_JAVA", TARGET / "official-java")
    for of_java in _official("java", "-cp", f"{java}/classes:{java}/lib/*", "Official", endpoint, kms_endpoint, kms_key):
        yield {"python": official, "java": of_java}
