"""The simulator's driver through ctypes, in a worker process."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import numpy as np

from cudasim import places
from cudasim.problem import Problem

POINTER = 8  # bytes


class Failed(Exception):
    """A call that returned an error: its text."""


class Driver:
    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(places.libraries()[-1] / "libcuda.so.1"))
        self("cuInit", 0)
        context = c_void_p()
        self("cuDevicePrimaryCtxRetain", byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name: str, *arguments: object) -> None:
        if error := getattr(self.library, name)(*arguments):
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(error, byref(text))
            raise Failed(f"{name.removesuffix('_v2')} returned {(text.value or b'an unknown error').decode()}")

    def load(self, ptx: bytes, name: str) -> Function:
        module, function = c_void_p(), c_void_p()
        self("cuModuleLoadData", byref(module), ptx + b"\0")
        self("cuModuleGetFunction", byref(function), module, name.encode())
        return Function(self, function)

    def allocate(self, size: int) -> int:
        """An address; an empty array has none, as in PyTorch."""
        if size == 0:
            return 0
        address = c_uint64()
        self("cuMemAlloc_v2", byref(address), c_size_t(size))
        return address.value

    def free(self, address: int) -> None:
        if address:
            self("cuMemFree_v2", c_uint64(address))

    def write(self, address: int, data: np.ndarray) -> None:
        self("cuMemcpyHtoD_v2", c_uint64(address), data.ctypes.data_as(c_void_p), c_size_t(data.nbytes))

    def read(self, address: int, into: np.ndarray) -> None:
        self("cuMemcpyDtoH_v2", into.ctypes.data_as(c_void_p), c_uint64(address), c_size_t(into.nbytes))

    def synchronize(self) -> None:
        self("cuCtxSynchronize")


class Function:
    def __init__(self, driver: Driver, handle: c_void_p):
        self.driver, self.handle = driver, handle

    def parameter_sizes(self) -> list[int]:
        """The bytes of each of the kernel's parameters."""
        sizes: list[int] = []
        offset, size = c_size_t(), c_size_t()
        while self.driver.library.cuFuncGetParamInfo(self.handle, c_size_t(len(sizes)), byref(offset), byref(size)) == 0:
            sizes.append(size.value)
        return sizes

    def launch(self, grid: tuple[int, ...], block: tuple[int, ...], shared: int, values: list[bytes]) -> None:
        most_by_default = 48 * 1024
        if shared > most_by_default:
            max_dynamic_shared = 8
            self.driver("cuFuncSetAttribute", self.handle, c_int(max_dynamic_shared), c_int(shared))
        buffers = [ctypes.create_string_buffer(value, len(value)) for value in values]
        pointers = (c_void_p * max(1, len(buffers)))(*(ctypes.addressof(buffer) for buffer in buffers))
        self.driver("cuLaunchKernel", self.handle, *grid, *block, shared, None, pointers, None)


def packed(name: str, value: int, size: int) -> bytes:
    """A size or a stride as the kernel's parameter has it."""
    if size not in (1, 2, 4, 8):
        raise Problem(f"the parameter {name} is declared as a number, but the kernel's has {size} bytes")
    if value >= 2 ** (8 * size - 1):
        raise Problem(f"{name} = {value} does not fit into the kernel's parameter of {size} bytes")
    return value.to_bytes(size, "little", signed=True)
