# NVRTC, a library that compiles CUDA C++ to PTX.
import contextlib
import ctypes
import functools
import os
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

import torch  # loads NVRTC from PyTorch's packages, so it is then found by its name  # noqa: F401

from common import driver


def _version_of(library: ctypes.CDLL) -> tuple[int, int]:
    """(13, 0) for the NVRTC of CUDA 13.0."""
    major, minor = c_int(), c_int()
    library.nvrtcVersion(byref(major), byref(minor))
    return major.value, minor.value


@functools.cache
def _found() -> ctypes.CDLL | None:
    """The first NVRTC that is not newer than the driver, which would reject its PTX."""
    for name in ["libnvrtc.so.13", "libnvrtc.so.12", os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/lib64/libnvrtc.so"]:
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            if _version_of(library) <= driver.version():
                return library
    return None


def is_here() -> bool:
    return _found() is not None


def _loaded() -> ctypes.CDLL:
    library = _found()
    if library is None:
        raise RuntimeError("Found no NVRTC that works with this driver.")
    return library


def _explain(handle: ctypes.CDLL, error: int) -> str:
    handle.nvrtcGetErrorString.restype = c_char_p
    return handle.nvrtcGetErrorString(error).decode()


nvrtc = driver.Library(_loaded, _explain)


@functools.cache
def architecture(device: int) -> str:
    """The newest architecture that the device supports and NVRTC knows, such as compute_90."""
    count = c_int()
    nvrtc.nvrtcGetNumSupportedArchs(byref(count))
    known = (c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(known)
    own = 10 * driver.attribute(75, device) + driver.attribute(76, device)  # COMPUTE_CAPABILITY_MAJOR, _MINOR
    return f"compute_{max(number for number in known if number <= own)}"


@functools.cache
def compiler_version() -> str:
    return "{}.{}".format(*_version_of(nvrtc.handle))


def compiled(source: str, options: tuple[str, ...]) -> bytes:
    """The PTX of this source. A compiler error becomes an exception."""
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
