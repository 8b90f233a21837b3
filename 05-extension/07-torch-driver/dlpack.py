# DLPack, a C struct with which libraries pass each other tensors without copying: address, device, type, shape, and a
# deleter. tensor_of() makes a PyTorch tensor of memory that PyTorch has not allocated.
import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

import torch

DEVICE_TYPES = {"cpu": 1, "cuda": 2}  # DLDeviceType
FLOAT = 2  # DLDataTypeCode


class Tensor(Structure):  # DLTensor, with DLDevice and DLDataType in place
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("dimensions", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),  # null: contiguous
        ("byte_offset", c_uint64),
    ]


class ManagedTensor(Structure):  # DLManagedTensor
    pass


Deleter = ctypes.CFUNCTYPE(None, POINTER(ManagedTensor))
ManagedTensor._fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", Deleter)]

_alive: dict[int, tuple[object, ...]] = {}  # what a tensor refers to, by the address of its struct


@Deleter
def _delete(managed) -> None:
    """PyTorch calls this when the last tensor that uses the memory is gone."""
    *_, free = _alive.pop(ctypes.addressof(managed.contents))
    free()


def tensor_of(address: int, count: int, device: str, free: Callable[[], None]) -> torch.Tensor:
    """A one-dimensional tensor of float32. free() is called when PyTorch no longer uses the memory."""
    kind, _, number = device.partition(":")
    shape = (c_int64 * 1)(count)
    described = Tensor(address, DEVICE_TYPES[kind], int(number or 0), 1, FLOAT, 32, 1, shape, None, 0)
    managed = ManagedTensor(described, None, _delete)
    _alive[ctypes.addressof(managed)] = (managed, shape, free)
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]
    return torch.from_dlpack(capsule(ctypes.addressof(managed), b"dltensor", None))
