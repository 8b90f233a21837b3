# The driver calls of a program on a GPU, recorded with CUPTI, on which NVIDIA's profilers are built.
import contextlib
import ctypes
import glob
import os
import sys
from ctypes import byref, c_char_p, c_int, c_uint32, c_void_p

DRIVER_API = 1  # CUPTI_CB_DOMAIN_DRIVER_API
ENTER = 0  # CUPTI_API_ENTER
PLACES = ["nvidia/*/lib", "targets/*/lib", "extras/CUPTI/lib64"]  # in PyTorch's packages, and in the toolkit


class Call(ctypes.Structure):  # the beginning of CUpti_CallbackData
    _fields_ = [("site", c_int), ("function", c_char_p)]


@contextlib.contextmanager
def recorded():
    """A list, to which the name of each driver function is added that is called inside the `with`."""
    roots = [*sys.path, os.environ.get("CUDA_HOME", "/usr/local/cuda")]
    found = [file for root in roots for place in PLACES for file in glob.glob(f"{root}/{place}/libcupti.so.1[0-9]")]
    if not found:
        raise RuntimeError("found no libcupti.so. It is in the package nvidia-cuda-cupti, and in the toolkit")
    cupti, names, subscriber = ctypes.CDLL(found[0]), [], c_void_p()

    @ctypes.CFUNCTYPE(None, c_void_p, c_int, c_uint32, ctypes.POINTER(Call))
    def note(user, domain, number, call):
        if call.contents.site == ENTER:
            names.append(call.contents.function.decode())

    for error in cupti.cuptiSubscribe(byref(subscriber), note, None), cupti.cuptiEnableDomain(1, subscriber, DRIVER_API):
        if error:
            raise RuntimeError(f"CUPTI returns {error}")
    try:
        yield names
    finally:
        cupti.cuptiUnsubscribe(subscriber)
