"""What the Triton programs share: Triton without PyTorch, arrays on the device, formats of 8 and 16 bits, comparisons.

Triton has machine code made of its PTX before it calls the driver; here ptx_as_it_is hands the PTX on instead.
"""

import ctypes
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = os.path.join(here, "ptx_as_it_is")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
cache = tempfile.TemporaryDirectory()
os.environ["TRITON_CACHE_DIR"] = cache.name


class WithoutTorch:
    """Triton would ask PyTorch, where it is installed, whether there is a GPU."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, WithoutTorch)

import numpy as np
import triton

driver = ctypes.CDLL("libcuda.so.1")
triton.runtime.driver.active.get_current_device()  # makes the primary context current
random = np.random.default_rng(1)


class Kind(str):
    """The name of a type of element, as Triton asks it."""

    itemsize = property(lambda self: int("".join(filter(str.isdigit, self.split("_")[0].replace("bfloat", "")))) // 8)


class OnDevice:
    """An array on the device, as Triton's launcher wants it: dtype, data_ptr()."""

    def __init__(self, values, dtype=None):
        self.values = np.ascontiguousarray(values)
        self.dtype = Kind(dtype or self.values.dtype)
        self.shape, self.ndim = self.values.shape, self.values.ndim
        address, size = ctypes.c_uint64(), ctypes.c_size_t(self.values.nbytes)
        assert driver.cuMemAlloc_v2(ctypes.byref(address), size) == 0
        self.address = address.value
        assert driver.cuMemcpyHtoD_v2(address, self.values.ctypes.data_as(ctypes.c_void_p), size) == 0

    def __del__(self):
        driver.cuMemFree_v2(ctypes.c_uint64(self.address))

    def data_ptr(self):
        return self.address

    def stride(self, dimension=None):
        strides = [bytes // self.values.itemsize for bytes in self.values.strides]
        return strides if dimension is None else strides[dimension]

    def element_size(self):
        return self.values.itemsize

    def back(self):
        result = np.empty_like(self.values)
        error = driver.cuMemcpyDtoH_v2(result.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self.address), ctypes.c_size_t(result.nbytes))
        assert error == 0, f"CUDA error {error}"
        return result


def zeros(shape, dtype=np.float32):
    return OnDevice(np.zeros(shape, dtype))


def bfloat16(x):
    """float32 to the bits of the nearest bfloat16."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_e4m3(bits):
    sign = np.where(bits & 0x80, -1.0, 1.0)
    exponent, mantissa = (bits >> 3) & 15, (bits & 7) / 8.0
    value = np.where(exponent == 0, mantissa * 2.0**-6, (1 + mantissa) * 2.0 ** (exponent.astype(float) - 7))
    return (sign * np.where((bits & 0x7F) == 0x7F, np.nan, value)).astype(np.float32)


def from_e5m2(bits):
    return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def same(what, got, want):
    assert got.shape == want.shape, f"{what}: {got.shape}, not {want.shape}"
    off = got != want
    assert not off.any(), f"{what}: {np.count_nonzero(off)} of {want.size} are wrong: {got[off][:4]}, not {want[off][:4]}"


def near(what, got, want, error):
    off = np.abs(got.astype(np.float64) - want.astype(np.float64)) / (1 + np.abs(want.astype(np.float64)))
    assert got.shape == want.shape and not np.isnan(off).any() and off.max() <= error, f"{what}: off by {off.max()}"


cases = []


def case(function):
    cases.append(function)
    return function
