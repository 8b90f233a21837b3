# DLPack, in both versions: C structs with which libraries hand each other tensors without copying, in a Python capsule. Lesson 05-08 explains it.
import ctypes
import math
import sys
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

CPU, CUDA = 1, 2  # DLDeviceType
FLOAT = 2  # DLDataTypeCode
VERSION = (1, 0)  # of the structs below
READ_ONLY = 1  # a flag of a versioned tensor


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
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, c_void_p)


def _immortal(callback):
    """Python may free a capsule when it has freed this module, at the end of the process. The callback must still exist then."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback


class Unversioned(Structure):  # DLManagedTensor
    NAME = b"dltensor"
    _fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", Deleter)]


class Versioned(Structure):  # DLManagedTensorVersioned
    NAME = b"dltensor_versioned"
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", Deleter), ("flags", c_uint64), ("tensor", Tensor)]


exported: dict[int, tuple[object, ...]] = {}  # what a struct refers to, and the owner of its memory, by the address of the struct


@_immortal
@Deleter
def _delete(address, is_at_the_end=sys.is_finalizing):
    """The consumer calls this when it no longer uses the memory."""
    if not is_at_the_end():
        del exported[address]


def _python(name, result, *arguments):
    """A function of Python's C API."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_new = _python("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, Destructor)
_is_valid = _python("PyCapsule_IsValid", ctypes.c_int, c_void_p, c_char_p)
_pointer = _python("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)
_rename = _python("PyCapsule_SetName", ctypes.c_int, c_void_p, c_char_p)


@_immortal
@Destructor
def _destroy(capsule, is_at_the_end=sys.is_finalizing):
    """Python calls this when a capsule is no longer used. If the capsule still has its first name, no consumer has taken the tensor, so it is deleted here."""
    for kind in () if is_at_the_end() else (Unversioned, Versioned):
        if _is_valid(capsule, kind.NAME):
            kind.from_address(_pointer(capsule, kind.NAME)).deleter(_pointer(capsule, kind.NAME))


def make_capsule(address, shape, *, versioned, owner, read_only=False, device=(CUDA, 0)):
    """A capsule for float32 numbers, stored row by row. `owner` stays alive until the consumer has called the deleter."""
    sizes = (c_int64 * len(shape))(*shape)
    strides = (c_int64 * len(shape))(*(math.prod(shape[place + 1 :]) for place in range(len(shape))))
    tensor = Tensor(address, *device, len(shape), FLOAT, 32, 1, sizes, strides, 0)
    made = Versioned(*VERSION, None, _delete, READ_ONLY if read_only else 0, tensor) if versioned else Unversioned(tensor, None, _delete)
    exported[ctypes.addressof(made)] = (made, sizes, strides, owner)
    return _new(ctypes.addressof(made), made.NAME, _destroy)


def look_into(capsule):
    """The struct in a capsule that no consumer has taken yet. It exists as long as the capsule."""
    kind = next(kind for kind in (Unversioned, Versioned) if _is_valid(id(capsule), kind.NAME))
    return kind.from_address(_pointer(id(capsule), kind.NAME))


def take(capsule):
    """As a consumer: marks the capsule as used, and returns its struct. Call its deleter, with the address of the struct, when you no longer need it."""
    taken = look_into(capsule)
    _rename(id(capsule), USED[taken.NAME])
    return taken


USED = {name: b"used_" + name for name in (Unversioned.NAME, Versioned.NAME)}  # a capsule keeps only the address of its name
