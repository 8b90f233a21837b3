# The driver API from Python, for lessons on PyTorch's tensors: the calls of libcuda.so.1 through ctypes, every answer checked. Lesson 05-05 explains it.
#
# A number goes to C as a 32-bit int unless its type is said: so what is an address or a size is wrapped in c_void_p or c_size_t. And ctypes knows
# no cuda.h, which turns cuMemAlloc into cuMemAlloc_v2: the name here is the one in the library.
from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

import torch


class Library:
    """A library of C functions that answer 0 or an error; an error becomes an exception with the words of `explain`. Loaded when first called."""

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


def _initialised() -> ctypes.CDLL:
    """Not before the first call: a process that has called cuInit cannot be forked into ones that use the GPU."""
    handle = ctypes.CDLL("libcuda.so.1")
    error = handle.cuInit(0)
    if error != 0:
        raise RuntimeError(f"cuInit -> {_says(handle, error)}")
    return handle


def _says(handle: ctypes.CDLL, error: int) -> str:
    name, words = c_char_p(), c_char_p()
    handle.cuGetErrorName(error, byref(name))
    handle.cuGetErrorString(error, byref(words))
    return ": ".join((said.value or b"a code that this driver does not know").decode() for said in (name, words))


cu = Library(_initialised, _says)


def version() -> tuple[int, int]:
    """(13, 0): the newest CUDA that the driver knows."""
    number = c_int()
    cu.cuDriverGetVersion(byref(number))
    return number.value // 1000, number.value % 1000 // 10


def attribute(number: int, device: int) -> int:
    value = c_int()
    cu.cuDeviceGetAttribute(byref(value), number, device)
    return value.value


@functools.cache
def primary(device: int) -> c_void_p:
    """The device's primary context, PyTorch's own; kept until the process ends, as PyTorch does."""
    context = c_void_p()
    cu.cuDevicePrimaryCtxRetain(byref(context), device)
    return context


@contextlib.contextmanager
def current(context: c_void_p) -> Iterator[None]:
    """Makes a context current for a while: autograd runs backward in threads of its own, which may have none or another one."""
    cu.cuCtxPushCurrent_v2(context)
    try:
        yield
    finally:
        cu.cuCtxPopCurrent_v2(byref(c_void_p()))


class Copy:
    """A host tensor's copy in the device's memory, for the time of a `with`. It answers data_ptr() as a tensor on the device does."""

    def __init__(self, tensor: torch.Tensor, back: bool = True):
        """The tensor has elements. `back`: at the end, what is in the copy goes back into the tensor."""
        self.tensor, self.address, self.back = tensor, c_void_p(), back
        self.size = c_size_t(tensor.numel() * tensor.element_size())

    def data_ptr(self) -> int:
        return self.address.value or 0

    def __enter__(self) -> Copy:
        cu.cuMemAlloc_v2(byref(self.address), self.size)
        cu.cuMemcpyHtoD_v2(self.address, c_void_p(self.tensor.data_ptr()), self.size)
        return self

    def __exit__(self, *failed: object) -> None:
        """Copies the bytes back, once all work that was launched before is done, and frees the memory."""
        try:
            if self.back:
                cu.cuMemcpyDtoH_v2(c_void_p(self.tensor.data_ptr()), self.address, self.size)
        finally:
            cu.cuMemFree_v2(self.address)
