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
        """A capsule for a consumer that will use the memory in `stream`. The device's primary context is current.

        stream: the consumer's stream. What the consumer puts into it after this call must wait for the work that is in self.stream now, but this call
        must not wait. None and 1 mean the legacy default stream, 2 the per-thread default stream, and -1 that the consumer wants no waiting. A ValueError
        is raised for 0, which could mean either default stream.
        max_version: the newest version of DLPack that the consumer knows, such as (1, 0). A consumer that passes None, or a version below 1, knows only
        unversioned capsules.
        dl_device, copy: a BufferError is raised for another device, and if the consumer insists on a copy (copy=True).
        """
        # Your code here.
        raise BufferError("__dlpack__ is not written yet")
