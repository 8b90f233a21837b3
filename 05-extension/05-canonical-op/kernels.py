"""The package's kernels without its host code: their PTX, launched with the driver API, on copies of tensors in host memory.

This is how the kernels are tested on a machine without a GPU. Lesson 05-07 explains the calls.
"""

import ctypes
import functools
import pathlib
import re
from ctypes import byref, c_int64, c_void_p

import torch
from torch import Tensor

from common.built import built
from common.driver import Copy, cu, current, primary

# How the C++ types of the elements are spelled in the mangled names of kernels.
SPELLED = {torch.float16: "N3c104HalfE", torch.bfloat16: "N3c108BFloat16E", torch.float32: "f", torch.float64: "d"}
PACK, THREADS = 16, 256  # as in cuda.cu: bytes per thread, threads per block


@functools.cache
def module(path: str) -> tuple[c_void_p, list[str]]:
    """The PTX, loaded into the primary context of device 0, and the names of its kernels."""
    image = pathlib.Path(path).read_bytes()
    handle = c_void_p()
    cu.cuModuleLoadData(byref(handle), image + b"\0")
    return handle, re.findall(r"\.entry (\w+)", image.decode())


def launch(formula: str, first: Tensor, second: Tensor, path: str = built(__file__, "cuda.ptx")) -> Tensor:
    """The kernel elementwise<formula> on two contiguous tensors on the CPU."""
    result = torch.empty_like(first)
    with current(primary(0)):
        handle, names = module(path)
        (name,) = [name for name in names if f"{formula}{SPELLED[first.dtype]}EEv" in name]
        function = c_void_p()
        cu.cuModuleGetFunction(byref(function), handle, name.encode())
        with Copy(first, back=False) as a, Copy(second, back=False) as b, Copy(result) as r:
            values = [a.address, b.address, r.address, c_int64(first.numel())]
            arguments = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
            blocks = -(-first.numel() * first.element_size() // (PACK * THREADS))
            cu.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    return result
