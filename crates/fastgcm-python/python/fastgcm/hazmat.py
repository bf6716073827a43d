"""What is easily misused: parts of files and messages, for protocols and for work on many machines."""

from ._fastgcm import CobblestoneChunks

__all__ = ["CobblestoneChunks"]
