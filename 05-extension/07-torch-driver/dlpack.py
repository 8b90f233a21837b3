# DLPack, a C struct with which libraries pass each other tensors without copying: address, device, type, shape, and a deleter.
# A Memory object offers memory that PyTorch has not allocated: torch.from_dlpack(Memory(...)) is a tensor.
import ctypes
import weakref
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

from common.driver import cu, current, primary

CPU, CUDA = 1, 2  # DLDeviceType
FLOAT = 2  # DLDataTypeCode
READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY


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


class Managed(Structure):  # DLManagedTensorVersioned
    pass


Deleter = ctypes.CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", Deleter), ("flags", c_uint64), ("tensor", Tensor)]

_exported: dict[int, tuple[object, ...]] = {}  # what a struct refers to, by its address


@Deleter
def _delete(managed) -> None:
    """The consumer calls this when its last tensor that uses the memory is gone."""
    _exported.pop(ctypes.addressof(managed.contents))


# A capsule is a Python object that holds a C pointer and a name. Its consumer renames it.
NAME = b"dltensor_versioned"
CapsuleDestructor = ctypes.CFUNCTYPE(None, c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, CapsuleDestructor)(("PyCapsule_New", ctypes.pythonapi))
_holds = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@CapsuleDestructor
def _unused(capsule: int) -> None:
    """A capsule that no consumer has taken still owns its struct."""
    if _holds(capsule, NAME):
        _exported.pop(_pointer(capsule, NAME))


class Memory:
    """A one-dimensional array of float32 at an address. free() is called when this object and all tensors made of it are gone.

    stream: the CUstream, as a number, in which the contents are written. A consumer on a GPU waits for it.
    """

    def __init__(self, address: int, count: int, device: str, free: Callable[[], None], stream: int = 0, read_only: bool = False):
        kind, _, number = device.partition(":")
        self.address, self.count, self.stream, self.read_only = address, count, stream, read_only
        self.device = {"cpu": CPU, "cuda": CUDA}[kind], int(number or 0)
        weakref.finalize(self, free).atexit = False

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Python's protocol. The consumer says in which stream it will work, and which version of the struct it knows."""
        if max_version is None or max_version[0] < 1:
            raise BufferError("This memory is offered with DLPack 1.0 or later.")
        if copy or dl_device not in (None, self.device):
            raise BufferError("This memory can only be shared, not copied.")
        if self.device[0] == CUDA and stream != -1:  # -1: the consumer does not want to wait
            self.let_wait(stream or 1)  # None means the default stream, which is 1 (CU_STREAM_LEGACY)
        shape, strides = (c_int64 * 1)(self.count), (c_int64 * 1)(1)
        described = Tensor(self.address, *self.device, 1, FLOAT, 32, 1, shape, strides, 0)
        managed = Managed(1, 0, None, _delete, READ_ONLY if self.read_only else 0, described)
        _exported[ctypes.addressof(managed)] = (managed, shape, strides, self)
        return _new(ctypes.addressof(managed), NAME, _unused)

    def let_wait(self, consumer: int) -> None:
        """Work that the consumer's stream gets from now on waits for everything that is in ours."""
        event = c_void_p()
        with current(primary(self.device[1])):
            cu.cuEventCreate(byref(event), 2)  # CU_EVENT_DISABLE_TIMING
            cu.cuEventRecord(event, c_void_p(self.stream))
            cu.cuStreamWaitEvent(c_void_p(consumer), event, 0)
            cu.cuEventDestroy_v2(event)  # freed when the wait is over
