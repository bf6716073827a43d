"""fsspec's own tests of file systems, on sealed files behind which a disk, memory and S3 stand."""

import secrets

import pytest
from fastgcm.fsspec import SealedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.tests import abstract


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("FASTGCM_TEST_KEY", "00" * 32)


class OnDisk(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, key):
        return SealedFileSystem(key="environment:FASTGCM_TEST_KEY", fs=LocalFileSystem(auto_mkdir=True))

    @pytest.fixture
    def fs_path(self, tmpdir):
        return str(tmpdir)


class InMemory(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, key):
        fs = SealedFileSystem(key="environment:FASTGCM_TEST_KEY", target_protocol="memory")
        yield fs
        fs.fs.store.clear()
        fs.fs.pseudo_dirs[:] = [""]

    @pytest.fixture
    def fs_path(self):
        return "/m"


class InS3(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, key, endpoint):
        options = {"endpoint_url": endpoint, "skip_instance_cache": True}
        return SealedFileSystem(key="environment:FASTGCM_TEST_KEY", target_protocol="s3", target_options=options, skip_instance_cache=True)

    @pytest.fixture
    def fs_path(self, fs):
        bucket = f"b{secrets.token_hex(8)}"
        fs.mkdir(bucket)
        yield bucket
        fs.rm(bucket, recursive=True)

    @pytest.fixture
    def supports_empty_directories(self):
        return False


for where in (OnDisk, InMemory, InS3):
    for tests in ("Copy", "Get", "Put", "Open", "Pipe"):
        name = f"Test{where.__name__}{tests}"
        globals()[name] = type(name, (getattr(abstract, f"Abstract{tests}Tests"), where), {})
