"""AES-GCM at the speed limit of the processor, with the interface of pyca/cryptography."""

from ._fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, CounterNonces, RandomNonces, Sealer, SealingKey, XorNonces, __version__, cpu
from .exceptions import AlreadyFinalized, Exhausted, InvalidTag, OtherText
from .files import open_file, seal_file

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "KCXAES256GCM",
    "XAES256GCM",
    "AlreadyFinalized",
    "CounterNonces",
    "Exhausted",
    "InvalidTag",
    "OtherText",
    "RandomNonces",
    "Sealer",
    "SealingKey",
    "XorNonces",
    "__version__",
    "cpu",
    "open_file",
    "seal_file",
]
