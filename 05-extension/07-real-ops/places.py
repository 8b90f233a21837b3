# Where an op's loop runs: on the CPU (libreal_ops.so), or as a kernel through the driver API (kernels.ptx).
from __future__ import annotations

import contextlib
import ctypes
import functools
import pathlib
from collections.abc import Iterator

import torch

from common.built import built

SUFFIXES = {torch.float16: "half", torch.float32: "float", torch.float64: "double"}
THREADS = 256
KERNELS = built(__file__, "kernels.ptx")


class Out:
    """Marks a tensor that the op writes."""

    def __init__(self, tensor: torch.Tensor | None):
        self.tensor = tensor


def as_argument(value: object) -> ctypes._SimpleCData:
    """How C++ sees it: a pointer (None is the null pointer), an int, or a double."""
    if value is None or isinstance(value, ctypes.c_void_p):
        return value or ctypes.c_void_p(None)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int(value)


@functools.cache
def struct_of(kinds: tuple[type, ...]) -> type[ctypes.Structure]:
    return type("Op", (ctypes.Structure,), {"_fields_": [(f"member{i}", kind) for i, kind in enumerate(kinds)]})


def as_struct(values: list[object]) -> ctypes.Structure:
    """A struct of C++ with these members, one after the other."""
    members = [as_argument(value) for value in values]
    return struct_of(tuple(map(type, members)))(*[member.value for member in members])


class Host:
    """The CPU's loops."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(built(__file__, "libreal_ops.so"))

    def run(self, op: str, dtype: torch.dtype, count: int, *members: object) -> None:
        """Calls op(i) for every i below count. A CPU computes in float what is stored in half."""
        half = dtype == torch.float16
        pointers, copies = [], []
        for member in members:
            tensor = member.tensor if isinstance(member, Out) else member
            if isinstance(tensor, torch.Tensor):
                wide = tensor.float() if half else tensor
                copies.append((member, tensor, wide))
                tensor = ctypes.c_void_p(wide.data_ptr())
            pointers.append(tensor)
        function = getattr(self.library, f"{op}_{SUFFIXES[torch.float32 if half else dtype]}")
        function(ctypes.byref(as_struct(pointers)), ctypes.c_longlong(count))
        for member, tensor, wide in copies:
            if isinstance(member, Out) and wide is not tensor:
                tensor.copy_(wide)

    def nms(self, boxes: torch.Tensor, order: torch.Tensor, threshold: float) -> torch.Tensor:
        """Which boxes stay. order: the best come first."""
        boxes = (boxes.float() if boxes.dtype == torch.float16 else boxes)[order]
        kept = torch.empty(len(boxes), dtype=torch.int64)
        function = getattr(self.library, f"nms_{SUFFIXES[boxes.dtype]}")
        function.restype = ctypes.c_longlong
        count, limit = ctypes.c_longlong(len(boxes)), ctypes.c_double(threshold)
        total = function(ctypes.c_void_p(boxes.data_ptr()), count, limit, ctypes.c_void_p(kept.data_ptr()))
        return order[kept[:total]]


class Device:
    """The kernels. Tensors of the GPU are used where they are, on PyTorch's current stream; those of the host are copied there and back."""

    TILE = 64  # boxes that one word of NMS's mask is about
    SHARED = 36 * 1024  # bytes of shared memory that nms_scan may ask for, of the 48 KiB that every device grants a block

    def __init__(self, ordinal: int, image: str = KERNELS) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        # The primary context is the one that PyTorch uses.
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), ctypes.c_int(ordinal))
        with self.current():
            self.call("cuModuleLoadData", ctypes.byref(self.module), pathlib.Path(image).read_bytes() + b"\0")
        self.kernels: dict[str, ctypes.c_void_p] = {}

    def call(self, function: str, *arguments: object) -> None:
        code = getattr(self.driver, function)(*arguments)
        if code != 0:
            name = ctypes.c_char_p()
            self.driver.cuGetErrorName(code, ctypes.byref(name))
            raise RuntimeError(f"{function} -> {(name.value or b'an unknown code').decode()}")

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Our device's context, whichever was current before."""
        self.call("cuCtxPushCurrent_v2", self.context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def kernel(self, name: str) -> ctypes.c_void_p:
        if name not in self.kernels:
            self.kernels[name] = ctypes.c_void_p()
            self.call("cuModuleGetFunction", ctypes.byref(self.kernels[name]), self.module, name.encode())
        return self.kernels[name]

    @contextlib.contextmanager
    def there(self, values: list[object]) -> Iterator[list[object]]:
        """The values, with pointers to device memory in the place of tensors."""
        with contextlib.ExitStack() as later:
            yield [self.pointer(value, later) for value in values]

    def pointer(self, value: object, later: contextlib.ExitStack) -> object:
        tensor = value.tensor if isinstance(value, Out) else value
        if not isinstance(tensor, torch.Tensor):
            return tensor
        if tensor.is_cuda or tensor.numel() == 0:
            return ctypes.c_void_p(tensor.data_ptr())
        address = ctypes.c_void_p()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(tensor.nbytes))
        later.callback(lambda: self.call("cuMemFree_v2", address))
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.nbytes))
        if isinstance(value, Out):
            here, size = ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.nbytes)
            later.callback(lambda: self.call("cuMemcpyDtoH_v2", here, address, size))
        return address

    def launch(self, name: str, grid: tuple[int, int], block: int, arguments: list[object], shared: int, like: torch.Tensor) -> None:
        stream = torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else 0
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
        sizes = [*grid, 1, block, 1, 1, shared]
        self.call("cuLaunchKernel", self.kernel(name), *sizes, ctypes.c_void_p(stream), pointers, None)

    def run(self, op: str, dtype: torch.dtype, count: int, *members: object) -> None:
        """op(i) for every i below count. A grid of no blocks would be an error."""
        if count == 0:
            return
        like = next(member for member in members if isinstance(member, torch.Tensor))
        blocks = min((count + THREADS - 1) // THREADS, 1 << 20)
        with self.current(), self.there(list(members)) as values:
            self.launch(f"{op}_{SUFFIXES[dtype]}", (blocks, 1), THREADS, [as_struct(values), ctypes.c_longlong(count)], 0, like)

    def nms(self, boxes: torch.Tensor, order: torch.Tensor, threshold: float, scan: str = "nms_scan", block: int = 1024) -> torch.Tensor:
        """Which boxes stay. order: the best come first."""
        if len(boxes) == 0:
            return order
        mask = self.empty_mask(boxes)
        kept, total = torch.empty_like(order), torch.empty(1, dtype=torch.int32, device=order.device)
        given = [boxes.contiguous(), order, len(boxes), threshold, mask, Out(kept), Out(total)]
        with self.current(), self.there(given) as values:
            *what, mask_there, kept_there, total_there = [as_argument(value) for value in values]
            self.launch_mask(mask, [*what, mask_there], boxes)
            arguments = [mask_there, *what[1:3], kept_there, total_there]
            self.launch(scan, (1, 1), block, arguments, mask.shape[1] * 8, boxes)
        return kept[: int(total)]  # nothing goes to the host but their number, since a tensor's size has to be known there

    def mask(self, boxes: torch.Tensor, order: torch.Tensor, threshold: float) -> torch.Tensor:
        """Who overlaps whom: for each box, in this order, a word for each tile."""
        mask = self.empty_mask(boxes)
        with self.current(), self.there([boxes.contiguous(), order, len(boxes), threshold, Out(mask)]) as values:
            self.launch_mask(mask, [as_argument(value) for value in values], boxes)
        return mask

    def empty_mask(self, boxes: torch.Tensor) -> torch.Tensor:
        """For each box, and some to fill the last tile, a word for each tile."""
        tiles = (len(boxes) + self.TILE - 1) // self.TILE
        if tiles * 8 > self.SHARED:
            raise ValueError(f"nms: {len(boxes)} boxes are too many; {self.SHARED // 8 * self.TILE} are the most.")
        return torch.empty((tiles * self.TILE, tiles), dtype=torch.int64, device=boxes.device)

    def launch_mask(self, mask: torch.Tensor, arguments: list[object], boxes: torch.Tensor) -> None:
        self.launch(f"nms_mask_{SUFFIXES[boxes.dtype]}", (mask.shape[1], mask.shape[1]), self.TILE, arguments, 0, boxes)


@functools.cache
def host() -> Host:
    return Host()


@functools.cache
def device(ordinal: int) -> Device:
    return Device(ordinal)


_host_tensors_on_device = False


@contextlib.contextmanager
def through_the_driver() -> Iterator[None]:
    """Inside, tensors of the host are computed with by the first device's kernels, too."""
    global _host_tensors_on_device
    before, _host_tensors_on_device = _host_tensors_on_device, True
    try:
        yield
    finally:
        _host_tensors_on_device = before


def place_for(tensor: torch.Tensor) -> Host | Device:
    """Who computes with this tensor."""
    if tensor.is_cuda:
        return device(tensor.device.index)
    return device(0) if _host_tensors_on_device else host()
