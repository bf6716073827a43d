"""AES-GCM at the speed limit of the processor, with the interface of pyca/cryptography."""

from ._fastgcm import AESGCM, AESGCMSIV, XAES256GCM, CounterNonces, RandomNonces, Sealer, cpu
from .exceptions import AlreadyFinalized, Exhausted, InvalidTag, OtherText

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "XAES256GCM",
    "AlreadyFinalized",
    "CounterNonces",
    "Exhausted",
    "InvalidTag",
    "OtherText",
    "RandomNonces",
    "Sealer",
    "cpu",
]
