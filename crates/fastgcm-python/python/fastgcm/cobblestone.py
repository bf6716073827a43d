"""Streams of any length in the formats Cobblestone-128 and Cobblestone-256, with the interface of `cryptography.cobblestone`."""

from ._fastgcm import Cobblestone128Decryptor, Cobblestone128Encryptor, Cobblestone256Decryptor, Cobblestone256Encryptor

__all__ = [
    "Cobblestone128Decryptor",
    "Cobblestone128Encryptor",
    "Cobblestone256Decryptor",
    "Cobblestone256Encryptor",
]
