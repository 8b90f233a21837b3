"""The kernel of kernels.ptx on PyTorch's tensors, by the driver API. Nothing of CUDA's is linked: without a driver, this file is never imported."""

import ctypes
import functools
import pathlib

import torch
from torch import Tensor

PTX = pathlib.Path(__file__).with_name("kernels.ptx")


def check(code: int) -> None:
    if code:
        raise RuntimeError(f"square_plus: the driver answers {code}")


@functools.cache
def kernel(device: int) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    """The driver, and the kernel in this device's context, which PyTorch has made current."""
    driver, module, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    check(driver.cuModuleLoadData(ctypes.byref(module), PTX.read_bytes() + b"\0"))
    check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"forward"))
    return driver, function


def forward(x: Tensor, b: Tensor) -> Tensor:
    if not PTX.exists() or x.dtype != torch.float32 or b.dtype != x.dtype or b.device != x.device or x.numel() == 0:
        return x * x + b
    with torch.cuda.device(x.device):
        x, b = x.contiguous(), b.expand(x.shape).contiguous()
        y = torch.empty_like(x)
        driver, function = kernel(x.device.index)
        values = [ctypes.c_void_p(t.data_ptr()) for t in (x, b, y)] + [ctypes.c_uint(x.numel())]
        arguments = (ctypes.c_void_p * 4)(*[ctypes.addressof(value) for value in values])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(driver.cuLaunchKernel(function, (x.numel() + 255) // 256, 1, 1, 256, 1, 1, 0, stream, arguments, None))
    return y
