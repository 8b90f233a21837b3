"""Asks the driver in a process of its own, which may crash. Run as a script, with the standard library only.

probe.py        prints what the libcuda.so.1 that the loader finds says: result count version name
probe.py hold   keeps the devices' primary contexts until its input ends
"""

import ctypes
import sys


def ask() -> None:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        print("none")
        return
    result = cuda.cuInit(0)
    count, version, name = ctypes.c_int(0), ctypes.c_int(0), ctypes.create_string_buffer(256)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if result == 0:
        result = cuda.cuDeviceGetCount(ctypes.byref(count))
        if count.value:
            cuda.cuDeviceGetName(name, 256, 0)
    print(result, count.value, version.value, name.value.decode(errors="replace"))


def hold() -> None:
    """Keeps the primary context of each device that more than one process may use, until the input ends, even if the parent was killed."""
    cuda, count, mode = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0), ctypes.c_int(0)
    cuda.cuInit(0)
    cuda.cuDeviceGetCount(ctypes.byref(count))
    for device in range(count.value):
        cuda.cuDeviceGetAttribute(ctypes.byref(mode), 20, device)  # COMPUTE_MODE
        if mode.value == 0:  # DEFAULT
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), device)
    sys.stdin.read()


if __name__ == "__main__":
    hold() if sys.argv[1:] == ["hold"] else ask()
