"""The faulty programs, each in a process of its own, because a failed kernel ends all GPU work of its process.

python3 faults.py bounds ours|pytorch [caching]
python3 faults.py index ours|pytorch [dsa]
python3 faults.py lifetime ours|pytorch [wait_stream|record_stream]
Each prints one line.
"""

import ctypes
import sys
import time
from ctypes import byref, c_float, c_size_t, c_uint, c_void_p

from allocator import Allocator
from common.built import built
from common.driver import cu, current, primary

COUNT = 128  # floats: 512 bytes, so that no padding follows a tensor
SIZE = 4 * COUNT
FUNCTIONS = {}


def load_kernels() -> None:
    module = c_void_p()
    cu.cuModuleLoad(byref(module), built(__file__, "kernels.ptx").encode())
    for name in ("fill", "gather", "twice"):
        FUNCTIONS[name] = c_void_p()
        cu.cuModuleGetFunction(byref(FUNCTIONS[name]), module, name.encode())


def launch(name: str, stream: c_void_p | None, *arguments: object) -> None:
    """The kernel with two blocks of COUNT threads."""
    addresses = (c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
    cu.cuLaunchKernel(FUNCTIONS[name], 2, 1, 1, COUNT, 1, 1, 0, stream, addresses, None)


def read(address: int, count: int = 1) -> list[float]:
    values = (c_float * count)()
    cu.cuMemcpyDtoH_v2(values, c_void_p(address), c_size_t(4 * count))
    return list(values)


def wait_stream(waiting: c_void_p | None, other: c_void_p | None) -> None:
    """Later work in one stream waits for all work that the other has now. PyTorch's wait_stream makes the same calls. None is the default stream."""
    event = c_void_p()
    cu.cuEventCreate(byref(event), c_uint(2))  # CU_EVENT_DISABLE_TIMING
    cu.cuEventRecord(event, other)
    cu.cuStreamWaitEvent(waiting, event, c_uint(0))
    cu.cuEventDestroy_v2(event)


class Ours(Allocator):
    """The model, with one of the two repairs."""

    def wait_stream(self, side: c_void_p) -> None:
        wait_stream(None, side)


class OfPyTorch:
    """PyTorch's allocator, with the interface of our Allocator. Each piece of memory is a tensor that we keep until it is freed."""

    def __init__(self) -> None:
        import torch

        self.torch, self.tensors = torch, {}

    def allocate(self, size: int) -> int:
        tensor = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")
        self.tensors[tensor.data_ptr()] = tensor
        return tensor.data_ptr()

    def free(self, address: int, size: int) -> None:
        del self.tensors[address]

    def record_stream(self, address: int, side: c_void_p) -> None:
        self.tensors[address].record_stream(self.torch.cuda.ExternalStream(side.value))

    def wait_stream(self, side: c_void_p) -> None:
        self.torch.cuda.current_stream().wait_stream(self.torch.cuda.ExternalStream(side.value))


def memory_of(whose: str, caching: bool = True) -> Ours | OfPyTorch:
    return Ours(caching) if whose == "ours" else OfPyTorch()


def bounds(whose: str, caching: str) -> str:
    """Fills one tensor, and looks at the first element of the next."""
    memory = memory_of(whose, bool(caching))
    first, second = memory.allocate(SIZE), memory.allocate(SIZE)
    cu.cuMemsetD32_v2(c_void_p(second), 0, c_size_t(COUNT))
    cu.cuMemsetD32_v2(c_void_p(first), 0, c_size_t(COUNT))
    launch("fill", None, c_void_p(first), c_uint(COUNT), c_float(7))
    cu.cuCtxSynchronize()
    return "overwritten" if read(second) == [7] else "unchanged"


def index(whose: str, dsa: str) -> str:
    """Gathers with one index outside the table, and says which call reports it."""
    memory = memory_of(whose)
    table, wanted, y = (memory.allocate(SIZE) for _ in range(3))
    for address in table, wanted:
        cu.cuMemsetD32_v2(c_void_p(address), 0, c_size_t(COUNT))
    cu.cuMemsetD32_v2(c_void_p(wanted + 4 * 42), 1000, c_size_t(1))
    cu.cuCtxSynchronize()
    if dsa:
        return with_dsa(c_void_p(table), c_void_p(wanted), c_void_p(y))
    try:
        launch("gather", None, c_void_p(table), c_uint(COUNT), c_void_p(wanted), c_void_p(y), c_uint(COUNT))
        cu.cuCtxSynchronize()
    except RuntimeError as error:
        return str(error)
    return "no call"


def with_dsa(table: c_void_p, wanted: c_void_p, y: c_void_p) -> str:
    """The same with PyTorch's own macro for assertions. Only a PyTorch that was built with TORCH_USE_CUDA_DSA can report the failure."""
    import torch

    try:
        ctypes.CDLL(built(__file__, "dsa.so")).gather_with_dsa(table, c_uint(COUNT), wanted, y, c_uint(COUNT))
        torch.cuda.synchronize()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return "no call"


def double(memory: Ours | OfPyTorch, side: c_void_p, x: int, y: int, repair: str) -> None:
    """An op that computes y = 2 x in the stream `side`, from a copy of x. The copy is a temporary, which is freed when the op returns."""
    temporary = memory.allocate(SIZE)
    cu.cuMemcpyDtoDAsync_v2(c_void_p(temporary), c_void_p(x), c_size_t(SIZE), None)
    wait_stream(side, None)  # side waits for the copy in the default stream
    launch("twice", side, c_void_p(temporary), c_void_p(y), c_uint(COUNT))
    if repair == "record_stream":
        memory.record_stream(temporary, side)
    elif repair == "wait_stream":
        memory.wait_stream(side)  # the default stream waits for the kernel in side
    memory.free(temporary, SIZE)


def lifetime(whose: str, repair: str) -> str:
    """A second stream reads an op's temporary after it has been freed and the next tensor has been given its memory. A flag holds the stream back."""
    memory = memory_of(whose)
    flag, x, y = memory.allocate(4), memory.allocate(SIZE), memory.allocate(SIZE)
    side, third = c_void_p(), c_void_p()
    for stream in side, third:
        cu.cuStreamCreate(byref(stream), 1)  # CU_STREAM_NON_BLOCKING
    cu.cuMemsetD32_v2(c_void_p(x), 0x3F800000, c_size_t(COUNT))  # 1.0f
    double(memory, side, x, y, repair)  # a first launch may wait for the whole GPU, and the next must not
    cu.cuCtxSynchronize()
    for address in flag, y:
        cu.cuMemsetD32_v2(c_void_p(address), 0, c_size_t(1))
    cu.cuCtxSynchronize()

    cu.cuStreamWaitValue32_v2(side, c_void_p(flag), c_uint(1), c_uint(1))  # until the flag is 1
    double(memory, side, x, y, repair)
    z = memory.allocate(SIZE)
    cu.cuMemsetD32Async(c_void_p(z), c_uint(0x42480000), c_size_t(COUNT), None)  # 50.0f
    if repair == "wait_stream":
        time.sleep(0.1)  # long enough to fill z, if the default stream did not wait
    else:
        cu.cuStreamSynchronize(None)  # z is filled
    cu.cuStreamWriteValue32_v2(third, c_void_p(flag), c_uint(1), c_uint(0))
    cu.cuCtxSynchronize()
    return f"{read(y)[0]:g}"


if __name__ == "__main__":
    fault, whose, option = [*sys.argv[1:], ""][:3]
    with current(primary(0)):
        load_kernels()
        print({"bounds": bounds, "index": index, "lifetime": lifetime}[fault](whose, option))
