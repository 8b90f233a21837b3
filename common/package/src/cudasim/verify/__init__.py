"""Compares a kernel with a reference in NumPy or PyTorch, on the simulated GPU with all checks."""

from cudasim.verify.declare import In, InOut, Kernel, Out, Scalar, Size, Stride, kernel, load
from cudasim.verify.report import Report, verify

__all__ = ["In", "InOut", "Kernel", "Out", "Report", "Scalar", "Size", "Stride", "kernel", "load", "verify"]
