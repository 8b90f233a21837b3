# The driver API and NVRTC from Python, through ctypes: the few functions that the lesson calls, and every answer checked.
#
# A number goes to C as a 32-bit int unless its type is said: so what is an address or a size is wrapped in c_void_p or c_size_t. And ctypes knows
# no cuda.h, which turns cuMemAlloc into cuMemAlloc_v2: the name here is the one in the library.
import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

import torch  # its CUDA build brings NVRTC along, which is found by its name from then on


class Library:
    """A library of C functions that answer 0 or an error; an error becomes an exception with the words of `explain`."""

    def __init__(self, handle: ctypes.CDLL, explain: Callable[[ctypes.CDLL, int], str]):
        self.handle, self.explain = handle, explain

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(self.handle, name)

        def checked(*arguments: object) -> None:
            error = function(*arguments)
            if error != 0:
                raise RuntimeError(f"{name} -> {self.explain(self.handle, error)}")

        return checked


def driver_says(handle: ctypes.CDLL, error: int) -> str:
    words = c_char_p()
    handle.cuGetErrorString(error, byref(words))
    return (words.value or b"an error that the driver does not know").decode()


def nvrtc_says(handle: ctypes.CDLL, error: int) -> str:
    handle.nvrtcGetErrorString.restype = c_char_p
    return handle.nvrtcGetErrorString(error).decode()


cu = Library(ctypes.CDLL("libcuda.so.1"), driver_says)
cu.cuInit(0)


def version_of(nvrtc: ctypes.CDLL) -> tuple[int, int]:
    """(13, 0): it came with CUDA 13.0."""
    major, minor = c_int(), c_int()
    nvrtc.nvrtcVersion(byref(major), byref(minor))
    return major.value, minor.value


def nvrtc_for(driver: tuple[int, int]) -> ctypes.CDLL | None:
    """The first NVRTC here that is no newer than the driver: the driver would refuse its PTX."""
    for name in ["libnvrtc.so.13", "libnvrtc.so.12", os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/lib64/libnvrtc.so"]:
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            if version_of(library) <= driver:
                return library
    return None


def driver_version() -> tuple[int, int]:
    number = c_int()
    cu.cuDriverGetVersion(byref(number))
    return number.value // 1000, number.value % 1000 // 10


_found = nvrtc_for(driver_version())
HAS_NVRTC = _found is not None
nvrtc = Library(_found or cu.handle, nvrtc_says)


def attribute(number: int, device: int) -> int:
    value = c_int()
    cu.cuDeviceGetAttribute(byref(value), number, device)
    return value.value


@functools.cache
def architecture(device: int) -> str:
    """The newest architecture that this device runs and NVRTC knows: compute_90."""
    count = c_int()
    nvrtc.nvrtcGetNumSupportedArchs(byref(count))
    known = (c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(known)
    own = 10 * attribute(75, device) + attribute(76, device)  # COMPUTE_CAPABILITY_MAJOR, _MINOR
    return f"compute_{max(number for number in known if number <= own)}"


@functools.cache
def compiler_version() -> str:
    return "%d.%d" % version_of(nvrtc.handle)


def compiled(source: str, options: tuple[str, ...]) -> bytes:
    """The PTX of this source; a compiler's complaint becomes an exception."""
    program, size = c_void_p(), c_size_t()
    nvrtc.nvrtcCreateProgram(byref(program), source.encode(), b"kernels.cu", 0, None, None)
    try:
        given = (c_char_p * len(options))(*(option.encode() for option in options))
        try:
            nvrtc.nvrtcCompileProgram(program, len(options), given)
        except RuntimeError as error:
            nvrtc.nvrtcGetProgramLogSize(program, byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"{error}\n{log.value.decode()}") from None
        nvrtc.nvrtcGetPTXSize(program, byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetPTX(program, ptx)
        return ptx.value
    finally:
        nvrtc.nvrtcDestroyProgram(byref(program))


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

    def __init__(self, tensor: torch.Tensor):
        self.tensor, self.address = tensor, c_void_p()
        self.size = c_size_t(tensor.numel() * tensor.element_size())

    def data_ptr(self) -> int:
        return self.address.value or 0

    def __enter__(self) -> "Copy":
        cu.cuMemAlloc_v2(byref(self.address), self.size)
        cu.cuMemcpyHtoD_v2(self.address, c_void_p(self.tensor.data_ptr()), self.size)
        return self

    def __exit__(self, *failed: object) -> None:
        """Copies the bytes back into the tensor, once all work that was launched before is done, and frees the memory."""
        try:
            cu.cuMemcpyDtoH_v2(c_void_p(self.tensor.data_ptr()), self.address, self.size)
        finally:
            cu.cuMemFree_v2(self.address)
