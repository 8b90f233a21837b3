# The driver API from Python, for lessons that use PyTorch's tensors: the functions of libcuda.so.1 through ctypes, with every return value checked.
# Lesson 05-07 explains it.
#
# ctypes passes a Python number as a 32-bit int, so addresses and sizes must be wrapped in c_void_p or c_size_t. And ctypes does not read cuda.h,
# which replaces cuMemAlloc by cuMemAlloc_v2, so the names here are those of the library.
from __future__ import annotations

import contextlib
import ctypes
import functools
import re
from collections.abc import Callable, Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # programs without tensors start much sooner without PyTorch
    import torch


class Library:
    """A library of C functions that return 0 or an error code, which becomes an exception with the text of `explain`. It is loaded at the first call."""

    def __init__(self, load: Callable[[], ctypes.CDLL], explain: Callable[[ctypes.CDLL, int], str]):
        self.load, self.explain = load, explain

    @functools.cached_property
    def handle(self) -> ctypes.CDLL:
        return self.load()

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(self.handle, name)

        def checked(*arguments: object) -> None:
            error = function(*arguments)
            if error != 0:
                raise RuntimeError(f"{name} -> {self.explain(self.handle, error)}")

        self.__dict__[name] = checked  # found without __getattr__ from now on
        return checked


def _initialized() -> ctypes.CDLL:
    """Called at first use, because the children of a process that has called cuInit cannot use the GPU after a fork."""
    handle = ctypes.CDLL("libcuda.so.1")
    error = handle.cuInit(0)
    if error != 0:
        raise RuntimeError(f"cuInit -> {_explain(handle, error)}")
    return handle


def _explain(handle: ctypes.CDLL, error: int) -> str:
    name, words = c_char_p(), c_char_p()
    handle.cuGetErrorName(error, byref(name))
    handle.cuGetErrorString(error, byref(words))
    return ": ".join((said.value or b"a code that this driver does not know").decode() for said in (name, words))


cu = Library(_initialized, _explain)


def version() -> tuple[int, int]:
    """(13, 0) for a driver that supports CUDA up to 13.0."""
    number = c_int()
    cu.cuDriverGetVersion(byref(number))
    return number.value // 1000, number.value % 1000 // 10


def ptx_version() -> int:
    """90 for a driver that loads PTX up to version 9.0, as CUDA 13.0 writes it."""
    major, minor = version()
    return 10 * (major - 4) + minor - (1 if major == 12 and minor > 5 else 0)  # CUDA 12.5 and 12.6 both write PTX 8.5


def is_too_new(ptx: str) -> bool:
    """Was this PTX written for a newer driver?"""
    number = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.MULTILINE)
    return number is not None and int(number[1] + number[2]) > ptx_version()


def attribute(number: int, device: int) -> int:
    value = c_int()
    cu.cuDeviceGetAttribute(byref(value), number, device)
    return value.value


@functools.cache
def primary(device: int) -> c_void_p:
    """The device's primary context, which PyTorch uses too. It is retained until the process ends."""
    context = c_void_p()
    cu.cuDevicePrimaryCtxRetain(byref(context), device)
    return context


@contextlib.contextmanager
def current(context: c_void_p) -> Iterator[None]:
    """Makes a context current inside a `with`. Autograd runs backward in its own threads, which may have no context or another one."""
    cu.cuCtxPushCurrent_v2(context)
    try:
        yield
    finally:
        cu.cuCtxPopCurrent_v2(byref(c_void_p()))


class Copy:
    """A copy of a host tensor in device memory, for the time of a `with`. Like a tensor on the device, it has data_ptr()."""

    def __init__(self, tensor: torch.Tensor, back: bool = True):
        """The tensor is not empty. `back`: at the end, the copy is written back into the tensor."""
        self.tensor, self.address, self.back = tensor, c_void_p(), back
        self.size = c_size_t(tensor.numel() * tensor.element_size())

    def data_ptr(self) -> int:
        return self.address.value or 0

    def __enter__(self) -> Copy:
        cu.cuMemAlloc_v2(byref(self.address), self.size)
        cu.cuMemcpyHtoD_v2(self.address, c_void_p(self.tensor.data_ptr()), self.size)
        return self

    def __exit__(self, *failed: object) -> None:
        """Copies back after all work in the default stream has finished, and frees the memory."""
        try:
            if self.back:
                cu.cuMemcpyDtoH_v2(c_void_p(self.tensor.data_ptr()), self.address, self.size)
        finally:
            cu.cuMemFree_v2(self.address)
