"""Functions that are easily misused: parts of files and messages, for protocols and for work on many machines."""

from ._fastgcm import (
    CobblestoneChunks,
    PartHash,
    Plan,
    UnverifiedOpener,
    combine,
    hash_part,
    open_part,
    open_part_into,
    seal_part,
    seal_part_into,
)

__all__ = [
    "CobblestoneChunks",
    "PartHash",
    "Plan",
    "UnverifiedOpener",
    "combine",
    "hash_part",
    "open_part",
    "open_part_into",
    "seal_part",
    "seal_part_into",
]
