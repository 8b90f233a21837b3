"""The faulty programs, each in a process of its own, because a failed kernel ends all GPU work of its process.

python3 faults.py bounds ours|pytorch [caching]
python3 faults.py index ours|pytorch [dsa]
python3 faults.py lifetime ours|pytorch [repaired]
Each prints one line.
"""

import ctypes
import sys
from ctypes import byref, c_float, c_size_t, c_uint, c_void_p

from allocator import Allocator

from common.built import built
from common.driver import cu, current, primary

COUNT = 128  # floats: 512 bytes, so that no padding follows a tensor
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

    def record_stream(self, address: int, stream: c_void_p) -> None:
        self.tensors[address].record_stream(self.torch.cuda.ExternalStream(stream.value))


def memory_of(whose: str, caching: bool) -> Allocator | OfPyTorch:
    return Allocator(caching) if whose == "ours" else OfPyTorch()


def bounds(whose: str, caching: bool) -> str:
    """Fills one tensor, and looks at the first element of the next."""
    memory = memory_of(whose, caching)
    first, second = memory.allocate(4 * COUNT), memory.allocate(4 * COUNT)
    cu.cuMemsetD32_v2(c_void_p(second), 0, c_size_t(COUNT))
    cu.cuMemsetD32_v2(c_void_p(first), 0, c_size_t(COUNT))
    launch("fill", None, c_void_p(first), c_uint(COUNT), c_float(7))
    cu.cuCtxSynchronize()
    return "overwritten" if read(second) == [7] else "unchanged"


def index(whose: str, dsa: bool) -> str:
    """Gathers with one index outside the table, and says which call reports it."""
    memory = memory_of(whose, True)
    table, wanted, y = (memory.allocate(4 * COUNT) for _ in range(3))
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
    """The same with PyTorch's own macro for assertions. A PyTorch that is built with it reports the failure when it synchronizes."""
    import torch

    try:
        ctypes.CDLL(built(__file__, "dsa.so")).gather_with_dsa(table, c_uint(COUNT), wanted, y, c_uint(COUNT))
        torch.cuda.synchronize()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return "no call"


def lifetime(whose: str, repaired: bool) -> str:
    """A second stream reads x after it has been freed, and after the next tensor has been given its memory. A flag holds the second stream back."""
    memory = memory_of(whose, True)
    size = 4 * COUNT
    flag, x, y = memory.allocate(4), memory.allocate(size), memory.allocate(size)
    cu.cuMemsetD32_v2(c_void_p(flag), 0, c_size_t(1))
    cu.cuMemsetD32_v2(c_void_p(x), 0x3F800000, c_size_t(COUNT))  # 1.0f
    main, side = c_void_p(), c_void_p()
    cu.cuStreamCreate(byref(main), 1)
    cu.cuStreamCreate(byref(side), 1)
    launch("twice", side, c_void_p(x), c_void_p(y), c_uint(0))  # a first launch may wait for the whole GPU, and the next must not
    cu.cuCtxSynchronize()

    cu.cuStreamWaitValue32_v2(side, c_void_p(flag), c_uint(1), c_uint(1))  # until the flag is 1
    launch("twice", side, c_void_p(x), c_void_p(y), c_uint(COUNT))
    if repaired and whose == "pytorch":
        memory.record_stream(x, side)
    elif repaired:
        cu.cuStreamWriteValue32_v2(main, c_void_p(flag), c_uint(1), c_uint(0))
        cu.cuStreamSynchronize(side)
    memory.free(x, size)
    z = memory.allocate(size)
    cu.cuMemsetD32Async(c_void_p(z), c_uint(0x42480000), c_size_t(COUNT), main)  # 50.0f
    cu.cuStreamSynchronize(main)
    cu.cuStreamWriteValue32_v2(main, c_void_p(flag), c_uint(1), c_uint(0))
    cu.cuCtxSynchronize()
    return f"{read(y)[0]:g}"


if __name__ == "__main__":
    fault, whose, *repaired = sys.argv[1:]
    with current(primary(0)):
        load_kernels()
        print({"bounds": bounds, "index": index, "lifetime": lifetime}[fault](whose, bool(repaired)))
