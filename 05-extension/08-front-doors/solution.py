# A producer for DLPack: device memory that other libraries use without a copy.
import weakref
from ctypes import byref, c_void_p

from common.dlpack import CUDA, make_capsule
from common.driver import cu

DISABLE_TIMING = 2  # CU_EVENT_DISABLE_TIMING


class Shared:
    """Numbers of type float32 in the memory of device 0. The work that writes them is in `stream`. `free` is called when this object is gone."""

    def __init__(self, address, shape, stream, free):
        self.address, self.shape, self.stream = address, shape, stream
        weakref.finalize(self, free)

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule for a consumer that will use the memory in `stream`. The device's primary context is current."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("Shared: other libraries can use this memory only where it is")
        if stream == 0:
            raise ValueError("Shared: stream 0 is ambiguous. Pass 1 for the legacy default stream, or 2 for the per-thread default stream")
        if stream != -1:
            event = c_void_p()
            cu.cuEventCreate(byref(event), DISABLE_TIMING)
            cu.cuEventRecord(event, self.stream)
            cu.cuStreamWaitEvent(c_void_p(stream or 1), event, 0)
            cu.cuEventDestroy_v2(event)  # the driver keeps it until the wait is over
        return make_capsule(self.address, self.shape, versioned=max_version is not None and max_version[0] >= 1, owner=self)
