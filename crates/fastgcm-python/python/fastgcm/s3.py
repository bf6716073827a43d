"""Objects of the Amazon S3 Encryption Client, version 4, sealed and opened in parallel parts over boto3.

That client makes one AES-GCM message of an object (suite 115, `ALG_AES_256_GCM_HKDF_SHA512_COMMIT_KEY`) and uploads its parts in series. Here threads
(`upload`, `download`), or workers of Dask or Spark (`Sealing` and `Opening`, as in `fastgcm.jobs`), take parts in any order. The official clients open
objects that this module writes, and this module opens theirs.

    from fastgcm import s3
    s3.upload("text", "bucket", "key", "alias/of-kms", context={"name": "key"})
    s3.download("bucket", "key", "text.opened", context={"name": "key"})

    s3.jobs.on_dask(client, s3.Sealing.begin("text", "bucket", "key", "alias/of-kms", context={"name": "key"}))

The data key comes from KMS. Each process of a worker asks KMS by itself, with its own rights. A job holds only the wrapped data key. A worker holds
one part. A part whose worker is lost is sealed again. If its text has changed, the part is refused before any of its bytes leave the worker.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import operator
import os
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, TypeAlias, TypeVar

from boto3.session import Session  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError  # type: ignore[import-untyped]
from botocore.exceptions import ConnectionError as NoConnection

from . import AESGCM, jobs
from .exceptions import InvalidTag, OtherText
from .files import StrPath
from .hazmat import PartHash, Plan, open_part_into, seal_part_into
from .jobs import Receipts

__all__ = ["MIN_PART", "Envelope", "Opening", "Sealing", "download", "jobs", "upload"]

MIN_PART = 5 << 20  # S3's limits
MAX_PART = 5 << 30
MAX_PARTS = 10_000
TAG = 16
SUITE = b"\x00\x73"
NONCE = b"\x01" * 12  # the key is derived for one message
RESERVED = "aws:x-amz-cek-alg"
ATTEMPTS = 3  # of what `begin` and `finish` ask for. (boto3 makes attempts of its own, but none when a body ends early.)

Options: TypeAlias = Mapping[str, str | bool | int]
# Options of a client, as they travel.
_Frozen: TypeAlias = tuple[tuple[str, str | bool | int], ...]


def _frozen(options: Options | None) -> _Frozen:
    frozen = tuple(sorted((options or {}).items()))
    for name, value in frozen:
        if name.startswith("aws_"):
            raise ValueError(f"{name} would stand in task graphs: workers get their rights from their environment or role")
        if not isinstance(value, (str, bool, int)):
            raise ValueError(f"{name}: an option of a client is a text, a number or a bool here, because it travels to workers")
    return frozen


_making = threading.Lock()


@lru_cache(maxsize=16)
def _made(process: int, service: str, options: _Frozen) -> Any:
    arguments: dict[str, Any] = dict(options)
    return Session().client(service, **arguments)


def _client(service: str, options: _Frozen) -> Any:
    """Returns the client of this process. Several threads may call it."""
    with _making:
        return _made(os.getpid(), service, options)


def _derived(extracted: bytes, name: bytes, length: int) -> bytes:
    """Returns HKDF-Expand of up to 64 bytes."""
    return hmac.digest(extracted, SUITE + name + b"\x01", "sha512")[:length]


class _Content:
    """The keys of one object. It is not pickled."""

    def __init__(self, data_key: bytes, message_id: bytes) -> None:
        extracted = hmac.digest(message_id, data_key, "sha512")
        self.aesgcm = AESGCM(_derived(extracted, b"DERIVEKEY", 32))
        self.commitment = _derived(extracted, b"COMMITKEY", 28)
        # Hashes of parts are as secret as the key: they travel encrypted, and are compared by their MACs under this key.
        self._hashes = AESGCM(_derived(extracted, b"fastgcm hashes of parts", 32))
        self._claims = _derived(extracted, b"fastgcm claims of parts", 64)

    def __reduce__(self) -> Any:
        raise TypeError("keys are not pickled")

    def sealed_hash(self, part: PartHash) -> str:
        nonce = secrets.token_bytes(12)
        return (nonce + self._hashes.encrypt(nonce, part.to_bytes(), None)).hex()

    def opened_hash(self, sealed: str) -> PartHash:
        data = bytes.fromhex(sealed)
        return PartHash.from_bytes(self._hashes.decrypt(data[:12], data[12:], None))

    def claim(self, part: PartHash | None) -> str:
        return hmac.new(self._claims, part.to_bytes() if part else b"", hashlib.sha512).hexdigest()


@dataclass(frozen=True)
class Envelope:
    """The contents of an object's metadata. None of them is secret."""

    wrapped: bytes
    context: tuple[tuple[str, str], ...]
    message_id: bytes
    commitment: bytes

    def metadata(self) -> dict[str, str]:
        encoded = {"x-amz-3": self.wrapped, "x-amz-i": self.message_id, "x-amz-d": self.commitment}
        texts = {name: base64.b64encode(value).decode() for name, value in encoded.items()}
        return {"x-amz-c": "115", "x-amz-w": "12", "x-amz-t": json.dumps(dict(self.context)), **texts}

    @classmethod
    def of(cls, metadata: Mapping[str, str], context: Mapping[str, str]) -> "Envelope":
        """Returns the envelope of an object with these metadata. Raises `ValueError` if the object has another format or another context."""
        if {"x-amz-key", "x-amz-key-v2"} & set(metadata):
            raise ValueError("the object has a data key of an older version of the S3 Encryption Client")
        if metadata.get("x-amz-c") != "115" or metadata.get("x-amz-w") != "12":
            raise ValueError("the object is none of the S3 Encryption Client, version 4, with a data key that KMS has wrapped")
        try:
            stored = json.loads(metadata.get("x-amz-t", "{}"))
            if not isinstance(stored, dict) or not all(isinstance(value, str) for value in stored.values()):
                raise ValueError
            wrapped, message_id, commitment = (base64.b64decode(metadata[name], validate=True) for name in ("x-amz-3", "x-amz-i", "x-amz-d"))
            if len(message_id) != 28 or len(commitment) != 28:
                raise ValueError
        except (KeyError, ValueError):
            raise ValueError("the metadata of the object are damaged") from None
        if {name: value for name, value in stored.items() if name != RESERVED} != dict(context):
            raise ValueError("the object has another encryption context than the expected one")
        return cls(wrapped, tuple(sorted(stored.items())), message_id, commitment)


def _context(user: Mapping[str, str] | None) -> dict[str, str]:
    context = dict(user or {})
    if RESERVED in context or not all(name.isascii() and value.isascii() for name, value in context.items()):
        raise ValueError(f"an encryption context is ASCII, and does not name {RESERVED}")
    return context


@lru_cache(maxsize=4)
def _unwrapped(process: int, kms: _Frozen, envelope: Envelope) -> _Content:
    answer = _client("kms", kms).decrypt(CiphertextBlob=envelope.wrapped, EncryptionContext=dict(envelope.context))
    content = _Content(answer["Plaintext"], envelope.message_id)
    if not hmac.compare_digest(content.commitment, envelope.commitment):
        raise InvalidTag
    return content


def _content(kms: _Frozen, envelope: Envelope) -> _Content:
    """Asks KMS once for each process and object, and keeps the last four answers."""
    return _unwrapped(os.getpid(), kms, envelope)


def _part_of(length: int, part: int | None) -> int:
    if part is None:
        part = max(8 << 20, -(-length // (MAX_PARTS - 1)) + 15 & ~15)
    part = operator.index(part)
    if part % 16 or not MIN_PART <= part <= MAX_PART - TAG:
        raise ValueError("part is no multiple of 16 bytes, or not within S3's 5 MiB to 5 GiB")
    if length // part >= MAX_PARTS:
        raise ValueError("more than 10,000 parts: make them longer")
    Plan(NONCE, length, part)  # a message of GCM is not longer than that
    return part


def _says(error: Exception) -> str:
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def _passes(error: Exception) -> bool:
    """Returns whether another attempt may succeed: nothing has said no."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return status >= 500 or status in (408, 429) or _says(error) == "RequestTimeout"
    is_said = isinstance(error, (FileExistsError, FileNotFoundError, PermissionError))
    return isinstance(error, (HTTPClientError, IncompleteReadError, NoConnection, OSError)) and not is_said


_T = TypeVar("_T")


def _attempted(call: Callable[[], _T], attempts: int = ATTEMPTS) -> _T:
    for _ in range(attempts - 1):
        try:
            return call()
        except Exception as error:
            if not _passes(error):
                raise
    return call()


# The object exists, or somebody is writing it just now.
THERE = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")


@dataclass(frozen=True)
class Sealing:
    """Seals the file `source` as one object, in parts that workers upload. Engines pickle it; it is not secret.

    `source` is a path that all workers reach. While the job runs, a small object `KEY.ID.claims/N` holds a MAC of the text of part N. So the server must
    support conditional writes (`If-None-Match`), which `begin` tries.
    """

    source: str
    bucket: str
    key: str
    envelope: Envelope
    length: int
    part: int
    upload_id: str
    claims: str
    s3: _Frozen
    kms: _Frozen

    @classmethod
    def begin(
        cls,
        source: StrPath,
        bucket: str,
        key: str,
        kms_key_id: str,
        *,
        context: Mapping[str, str] | None = None,
        part: int | None = None,
        s3: Options | None = None,
        kms: Options | None = None,
    ) -> "Sealing":
        """Begins a new attempt, with a new data key from KMS. `s3` and `kms` are options of `boto3.client`, without credentials.

        Parts have `part` bytes, a multiple of 16, 8 MiB by default. `finish` seals the rest behind the last whole part.
        """
        source, length = os.path.abspath(source), os.stat(source).st_size
        part, of_s3, of_kms = _part_of(length, part), _frozen(s3), _frozen(kms)
        whole = _context(context) | {RESERVED: "115"}
        asked = {"KeyId": kms_key_id, "KeySpec": "AES_256", "EncryptionContext": whole}
        made = _attempted(lambda: _client("kms", of_kms).generate_data_key(**asked))
        message_id = secrets.token_bytes(28)
        commitment = _Content(made["Plaintext"], message_id).commitment
        envelope = Envelope(made["CiphertextBlob"], tuple(sorted(whole.items())), message_id, commitment)
        client = _client("s3", of_s3)
        started = _attempted(lambda: client.create_multipart_upload(Bucket=bucket, Key=key, Metadata=envelope.metadata()))
        claims = f"{key}.{message_id[:8].hex()}.claims/"
        job = cls(source, bucket, key, envelope, length, part, started["UploadId"], claims, of_s3, of_kms)
        try:
            if not _attempted(job._is_conditional):
                raise ValueError("the server of S3 knows no conditional writes (If-None-Match)")
        except BaseException:
            job.abandon()
            raise
        return job

    @property
    def parts(self) -> int:
        """The number of parts for `run`, which takes each number below it. The rest of the text is for `finish`."""
        return self.length // self.part

    def _is_conditional(self) -> bool:
        """Returns whether the server knows conditional writes. A claim whose answer was lost is there, so each attempt has a name of its own."""
        name = f"probe-{secrets.token_hex(4)}"
        return self._put_claim(name, "1") and not self._put_claim(name, "2")

    def _put_claim(self, name: str, claim: str) -> bool:
        """Returns whether the claim is the first one."""
        try:
            _client("s3", self.s3).put_object(Bucket=self.bucket, Key=self.claims + name, Body=claim.encode(), IfNoneMatch="*")
        except ClientError as error:
            if _says(error) not in THERE:
                raise
            return False
        return True

    def _sealed(self, index: int) -> tuple[bytearray, PartHash | None]:
        """Returns a part that may leave the worker: nothing else was ever sealed in its place."""
        start = index * self.part
        text = bytearray(min(self.part, self.length - start))
        with open(self.source, "rb", buffering=0) as source:
            source.seek(start)
            if _filled(source.readinto, text) != len(text) or os.fstat(source.fileno()).st_size != self.length:
                raise OtherText(f"{self.source} had {self.length} bytes when the job began, and has not now")
        content = _content(self.kms, self.envelope)
        # An empty rest has no hash.
        part = seal_part_into(content.aesgcm, NONCE, start, text, text) if text else None
        claim = content.claim(part)
        if not self._put_claim(str(index), claim):
            before = _client("s3", self.s3).get_object(Bucket=self.bucket, Key=f"{self.claims}{index}")["Body"].read()
            if not hmac.compare_digest(before, claim.encode()):
                text[:] = bytes(len(text))
                raise OtherText(f"part {index} of {self.source} has another text than before")
        return text, part

    def run(self, index: int) -> tuple[int, str]:
        """Seals and uploads a part, on any worker, as often as the engine likes. Returns the part's receipt. It holds one part in memory."""
        index = jobs._number_of(index, self.parts)
        sealed, part = self._sealed(index)
        self._put_part(index, sealed)
        assert part is not None
        return index, _content(self.kms, self.envelope).sealed_hash(part)

    def _put_part(self, index: int, sealed: bytearray) -> None:
        client = _client("s3", self.s3)
        try:
            client.upload_part(Bucket=self.bucket, Key=self.key, PartNumber=index + 1, UploadId=self.upload_id, Body=sealed)
        except ClientError as error:
            # The job and its upload have ended meanwhile: nobody else removes a claim that comes so late.
            if _says(error) == "NoSuchUpload":
                with contextlib.suppress(ClientError, BotoCoreError):
                    client.delete_object(Bucket=self.bucket, Key=f"{self.claims}{index}")
            raise

    def finish(self, receipts: Receipts, *, overwrite: bool = False) -> None:
        """Uploads the rest and the tag, and completes the object, when each part has its receipt. Raises `FileExistsError` if the object exists."""
        of_parts = dict(receipts)
        if set(of_parts) != set(range(self.parts)):
            raise ValueError("parts are missing: the job has not run to its end")
        content, plan = _content(self.kms, self.envelope), Plan(NONCE, self.length, self.part)
        for index, receipt in of_parts.items():
            part = content.opened_hash(receipt)
            if part.offset != index * self.part:
                raise ValueError("a receipt of another part")
            plan.accept(part)
        rest, last = _attempted(lambda: self._sealed(self.parts))
        if last is not None:
            plan.accept(last)
        end = rest + plan.tag(content.aesgcm, SUITE)
        _attempted(lambda: self._put_part(self.parts, end))
        self._complete(len(rest) + TAG, overwrite)
        _attempted(self._remove_claims)

    def _complete(self, last: int, overwrite: bool) -> None:
        client, where = _client("s3", self.s3), {"Bucket": self.bucket, "Key": self.key}
        if not overwrite and _attempted(lambda: self._there(client)):  # some servers, like Ceph's, overlook the condition below
            raise FileExistsError(f"s3://{self.bucket}/{self.key}")
        for attempt in range(ATTEMPTS):
            try:
                # The parts as they are there: a worker that was given up may have uploaded its part, with the same bytes, once more.
                pages = client.get_paginator("list_parts").paginate(**where, UploadId=self.upload_id)
                found = [part for page in pages for part in page.get("Parts", [])]
                if [part["Size"] for part in found] != [self.part] * self.parts + [last]:
                    raise ValueError("the parts that were uploaded are not those of the job")
                etags = [{"PartNumber": part["PartNumber"], "ETag": part["ETag"]} for part in found]
                condition = {} if overwrite else {"IfNoneMatch": "*"}
                client.complete_multipart_upload(**where, UploadId=self.upload_id, MultipartUpload={"Parts": etags}, **condition)
                return
            except (ClientError, BotoCoreError) as error:
                # The answer was lost: the object is complete, and it is ours.
                with contextlib.suppress(ClientError, BotoCoreError):
                    if _attempted(lambda: client.head_object(**where))["Metadata"].get("x-amz-i") == self.envelope.metadata()["x-amz-i"]:
                        return
                if attempt + 1 < ATTEMPTS and (_says(error) == "InvalidPart" or _passes(error)):
                    continue
                if _says(error) in THERE:
                    raise FileExistsError(f"s3://{self.bucket}/{self.key}") from None
                raise

    def _there(self, client: Any) -> bool:
        try:
            client.head_object(Bucket=self.bucket, Key=self.key)
        except ClientError as error:
            if _says(error) not in ("404", "NoSuchKey", "NotFound"):
                raise
            return False
        return True

    def _remove_claims(self) -> None:
        client = _client("s3", self.s3)
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.claims):
            if names := [{"Key": found["Key"]} for found in page.get("Contents", [])]:
                client.delete_objects(Bucket=self.bucket, Delete={"Objects": names, "Quiet": True})

    def abandon(self) -> None:
        """Aborts the upload. The object does not appear."""
        with contextlib.suppress(ClientError, BotoCoreError):
            _client("s3", self.s3).abort_multipart_upload(Bucket=self.bucket, Key=self.key, UploadId=self.upload_id)
        with contextlib.suppress(ClientError, BotoCoreError):
            self._remove_claims()


@dataclass(frozen=True)
class Opening(jobs._Staged):
    """Opens an object as the file `target`, which appears when all of it was verified. Engines pickle it; it is not secret.

    `target` is a path that all workers reach. Workers write text into a folder beside it, which only its owner may read.
    """

    bucket: str
    key: str
    etag: str
    envelope: Envelope
    target: str
    length: int
    part: int
    stage: str
    s3: _Frozen
    kms: _Frozen

    @classmethod
    def begin(
        cls,
        bucket: str,
        key: str,
        target: StrPath,
        *,
        context: Mapping[str, str] | None = None,
        part: int | None = None,
        s3: Options | None = None,
        kms: Options | None = None,
    ) -> "Opening":
        """Reads the metadata, on a driver that may also ask KMS. Raises `InvalidTag` if the data key does not belong to them."""
        of_s3, of_kms = _frozen(s3), _frozen(kms)
        found = _attempted(lambda: _client("s3", of_s3).head_object(Bucket=bucket, Key=key))
        envelope = Envelope.of(found["Metadata"], _context(context))
        _attempted(lambda: _content(of_kms, envelope))
        length = found["ContentLength"] - TAG
        if length < 0:
            raise InvalidTag
        part, target = _part_of(length, part), os.path.abspath(target)
        return cls(bucket, key, found["ETag"], envelope, target, length, part, jobs._stage(target), of_s3, of_kms)

    @property
    def parts(self) -> int:
        """The number of parts: `run` takes each number below it."""
        return -(-self.length // self.part)

    def _got(self, start: int, end: int) -> bytearray:
        data = bytearray(end - start)
        got = _client("s3", self.s3).get_object(Bucket=self.bucket, Key=self.key, Range=f"bytes={start}-{end - 1}", IfMatch=self.etag)
        with contextlib.closing(got["Body"]) as body:
            if (came := _filled(body.readinto, data)) != len(data):
                raise ConnectionError(f"s3://{self.bucket}/{self.key} was asked for {len(data)} bytes, and {came} came")
        return data

    def run(self, index: int) -> tuple[int, str]:
        """Opens a part, on any worker, as often as the engine likes. Returns the part's receipt. It holds one part in memory.

        The text that is written for a part never changes, even if the server sends other bytes. So `finish` verifies exactly what is there.
        """
        index = jobs._number_of(index, self.parts)
        start = index * self.part
        data = self._got(start, min(start + self.part, self.length))
        content = _content(self.kms, self.envelope)
        part = open_part_into(content.aesgcm, NONCE, start, data, data)
        self._claim(index, content.claim(part))
        self._write(start, data)
        return index, content.sealed_hash(part)

    def finish(self, receipts: Receipts, *, overwrite: bool = False) -> None:
        """Verifies the whole, and puts the text into its place. Raises `InvalidTag` if it is not what was sealed, or `FileExistsError` if the target exists."""
        of_parts = dict(receipts)
        if set(of_parts) != set(range(self.parts)):
            raise ValueError("parts are missing: the job has not run to its end")
        content, plan = _content(self.kms, self.envelope), Plan(NONCE, self.length, self.part)
        for index, receipt in of_parts.items():
            part = content.opened_hash(receipt)
            if part.offset != index * self.part or not hmac.compare_digest(self._claimed(index), content.claim(part)):
                raise ValueError("a receipt of another part")
            plan.accept(part)
        tag = _attempted(lambda: self._got(self.length, self.length + TAG))
        if not hmac.compare_digest(bytes(tag), plan.tag(content.aesgcm, SUITE)):
            raise InvalidTag
        self._publish(overwrite)


def _filled(readinto: Callable[[memoryview], int | None], buffer: bytearray) -> int:
    """Returns how many bytes arrived, at most as many as there is room for. It reads by the megabyte, because urllib3 copies each read."""
    view, at = memoryview(buffer), 0
    while at < len(view) and (count := readinto(view[at : at + (1 << 20)])):
        at += count
    return at


def _by_threads(job: Sealing | Opening, workers: int, attempts: int) -> list[tuple[int, str]]:
    if workers < 1 or attempts < 1:
        raise ValueError("no worker, or no attempt")

    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(lambda index: _attempted(lambda: job.run(index), attempts), range(job.parts)))
    finally:
        pool.shutdown(cancel_futures=True)


def upload(
    source: StrPath,
    bucket: str,
    key: str,
    kms_key_id: str,
    *,
    context: Mapping[str, str] | None = None,
    part: int | None = None,
    workers: int = 4,
    attempts: int = 3,
    overwrite: bool = False,
    s3: Options | None = None,
    kms: Options | None = None,
) -> None:
    """Seals a file as an object, with so many threads, each of which holds one part. If it fails, nothing remains."""
    job = Sealing.begin(source, bucket, key, kms_key_id, context=context, part=part, s3=s3, kms=kms)
    jobs._to_its_end(job, lambda: _by_threads(job, workers, attempts), overwrite)


def download(
    bucket: str,
    key: str,
    target: StrPath,
    *,
    context: Mapping[str, str] | None = None,
    part: int | None = None,
    workers: int = 4,
    attempts: int = 3,
    overwrite: bool = False,
    s3: Options | None = None,
    kms: Options | None = None,
) -> None:
    """Opens an object as a file, with so many threads, each of which holds one part. The file appears when all of it was verified."""
    job = Opening.begin(bucket, key, target, context=context, part=part, s3=s3, kms=kms)
    jobs._to_its_end(job, lambda: _by_threads(job, workers, attempts), overwrite)
