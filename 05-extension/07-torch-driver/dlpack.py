# Memory that PyTorch has not allocated, as a tensor: torch.from_dlpack(Memory(...)).
import weakref
from collections.abc import Callable
from ctypes import byref, c_void_p

from common.dlpack import CPU, CUDA, make_capsule
from common.driver import cu, current, primary


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
        return make_capsule(self.address, (self.count,), versioned=True, owner=self, read_only=self.read_only, device=self.device)

    def let_wait(self, consumer: int) -> None:
        """Work that the consumer's stream gets from now on waits for everything that is in ours."""
        event = c_void_p()
        with current(primary(self.device[1])):
            cu.cuEventCreate(byref(event), 2)  # CU_EVENT_DISABLE_TIMING
            cu.cuEventRecord(event, c_void_p(self.stream))
            cu.cuStreamWaitEvent(c_void_p(consumer), event, 0)
            cu.cuEventDestroy_v2(event)  # freed when the wait is over
