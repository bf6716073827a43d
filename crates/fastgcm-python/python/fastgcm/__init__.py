"""AES-GCM at the speed limit of the processor, with the interface of pyca/cryptography."""

from ._fastgcm import AESGCM
from .exceptions import AlreadyFinalized, Exhausted, InvalidTag

__all__ = ["AESGCM", "AlreadyFinalized", "Exhausted", "InvalidTag"]
