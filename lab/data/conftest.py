"""A server of S3 and KMS for the tests of this folder, and what `.ci/suites` reads."""

import os
from collections import Counter

import pytest

os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1")


@pytest.fixture(scope="session")
def endpoint():
    """moto's server, with a bucket of the name `bucket`."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    boto3.client("s3", endpoint_url=url).create_bucket(Bucket="bucket")
    yield url
    server.stop()


@pytest.fixture(scope="session")
def s3(endpoint):
    import boto3

    return boto3.client("s3", endpoint_url=endpoint)


def pytest_terminal_summary(terminalreporter):
    passed = Counter(report.nodeid.split("::")[0].rsplit("/")[-1].removesuffix(".py") for report in terminalreporter.stats.get("passed", []))
    for name, count in sorted(passed.items()):
        terminalreporter.line(f"data::{name} ok {count}")
