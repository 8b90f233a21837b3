"""NVIDIA's libraries that cannot work on the simulator."""

from __future__ import annotations

# They contain machine code alone, and need the driver's private tables.
CLOSED = ("cublas", "cublasLt", "cudnn", "cufft", "curand", "cusolver", "cusparse", "npp", "nvjpeg", "nccl", "cutensor")


def why_not(program: str, library: str) -> str:
    """Why a program cannot use this library, "cublas" or "libcublas.so.13"; nothing if it can."""
    name = library.removeprefix("lib").split(".so")[0]
    if name not in CLOSED and not name.startswith("npp"):
        return ""
    return f"{program} uses lib{name}, whose kernels are machine code without PTX. It needs a GPU, or a program that does without that library"
