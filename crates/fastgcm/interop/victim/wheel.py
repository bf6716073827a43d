"""Loads the wheel and `wheel.c`, which stops for the prover."""

import ctypes
import sys

import fastgcm

library = ctypes.PyDLL(sys.argv[1])
library.prove.argtypes = [ctypes.py_object]
library.prove(fastgcm)
