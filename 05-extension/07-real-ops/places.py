# Where an op's loop runs: on the CPU (libreal_ops.so), or as a kernel through the driver API (kernels.ptx).
from __future__ import annotations

import contextlib
import ctypes
import functools
import pathlib
from collections.abc import Callable, Iterator
from ctypes import byref, c_double, c_int, c_longlong, c_void_p

import torch

from common.built import built
from common.driver import Copy, cu, current, primary

SUFFIXES = {torch.float16: "half", torch.float32: "float", torch.float64: "double"}
THREADS = 256
KERNELS = built(__file__, "kernels.ptx")


# ---- the structs of ops.hpp ----------------------------------------------------------------------------------------------


def struct(name: str, pointers: str = "", ints: str = "", more: tuple[tuple[str, type], ...] = ()) -> type[ctypes.Structure]:
    """A struct of C++: pointers first, then ints, then the rest."""
    fields = [(field, c_void_p) for field in pointers.split()] + [(field, c_int) for field in ints.split()] + list(more)
    return type(name, (ctypes.Structure,), {"_fields_": fields})


RoiAlign = struct("RoiAlign", "boxes", "channels height width rows columns samples aligned", (("scale", c_double),))
SIZES = "images channels height width groups kernel_height kernel_width out_height out_width"
Taps = struct("Taps", "input offsets mask", SIZES + " stride_y stride_x padding_y padding_x dilation_y dilation_x")
OPS = {
    "roi_align_forward": struct("RoiAlignForward", "input output", more=(("op", RoiAlign),)),
    "roi_align_backward": struct("RoiAlignBackward", "gradient input_gradient", more=(("op", RoiAlign),)),
    "deform_columns": struct("DeformColumns", "columns", more=(("op", Taps),)),
    "deform_input_gradient": struct("DeformInputGradient", "column_gradient input_gradient", more=(("op", Taps),)),
    "deform_offset_gradient": struct("DeformOffsetGradient", "column_gradient offset_gradient mask_gradient", more=(("op", Taps),)),
}


def layouts() -> str:
    """The structs as Python sees them, in the words in which host.cpp tells how C++ does."""
    lines = []
    for kind in (RoiAlign, Taps, *OPS.values()):
        places = [f"{name} {getattr(kind, name).offset}" for name, _ in kind._fields_]
        lines.append(f"{kind.__name__}: {', '.join(places)}, end {ctypes.sizeof(kind)}\n")
    return "".join(lines)


def filled(kind: type[ctypes.Structure], members: dict[str, object], address: Callable[[object], object]) -> ctypes.Structure:
    """A struct with all its members, by their names; a struct within it is a dict. `address` says where a tensor is."""
    if members.keys() != {name for name, _ in kind._fields_}:
        raise TypeError(f"{kind.__name__} has other members than {', '.join(members)}")
    inner = {name: type for name, type in kind._fields_ if issubclass(type, ctypes.Structure)}
    values = {name: filled(inner[name], value, address) if name in inner else address(value) for name, value in members.items()}
    return kind(**values)


class Out:
    """Marks a tensor that the op writes."""

    def __init__(self, tensor: torch.Tensor | None):
        self.tensor = tensor


def tensor_in(value: object) -> object:
    return value.tensor if isinstance(value, Out) else value


# ---- the two places ------------------------------------------------------------------------------------------------------


class Host:
    """The CPU's loops."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(built(__file__, "libreal_ops.so"))
        self.library.layouts.restype = ctypes.c_char_p
        cpps = self.library.layouts().decode()
        if cpps != layouts():
            raise RuntimeError(f"places.py and ops.hpp do not mean the same structs:\n{layouts()}\n{cpps}")

    def run(self, op: str, like: torch.Tensor, count: int, /, **members: object) -> None:
        """Calls op(i) for every i below count, in the type of `like`. A CPU computes in float what is stored in half."""
        half = like.dtype == torch.float16
        copies = []

        def address(value: object) -> object:
            tensor = tensor_in(value)
            if not isinstance(tensor, torch.Tensor):
                return tensor
            wide = tensor.float() if half else tensor
            copies.append((value, tensor, wide))
            return wide.data_ptr()

        function = getattr(self.library, f"{op}_{SUFFIXES[torch.float32 if half else like.dtype]}")
        function(byref(filled(OPS[op], members, address)), c_longlong(count))
        for value, tensor, wide in copies:
            if isinstance(value, Out) and wide is not tensor:
                tensor.copy_(wide)

    def nms(self, boxes: torch.Tensor, order: torch.Tensor, threshold: float) -> torch.Tensor:
        """Which boxes stay. order: the best come first."""
        boxes = (boxes.float() if boxes.dtype == torch.float16 else boxes)[order]
        kept = torch.empty(len(boxes), dtype=torch.int64)
        function = getattr(self.library, f"nms_{SUFFIXES[boxes.dtype]}")
        function.restype = c_longlong
        total = function(c_void_p(boxes.data_ptr()), c_longlong(len(boxes)), c_double(threshold), c_void_p(kept.data_ptr()))
        return order[kept[:total]]


class Device:
    """The kernels. Tensors of the GPU are used where they are, on PyTorch's current stream; those of the host are copied there and back."""

    TILE = 64  # boxes that one word of NMS's mask is about
    SHARED = 36 * 1024  # bytes of shared memory that nms_scan may ask for, of the 48 KiB that every device grants a block

    def __init__(self, ordinal: int, image: str = KERNELS) -> None:
        host()  # which compares the structs
        self.context, self.module = primary(ordinal), c_void_p()  # the context that PyTorch uses
        with current(self.context):
            cu.cuModuleLoadData(byref(self.module), pathlib.Path(image).read_bytes() + b"\0")
        self.kernels: dict[str, c_void_p] = {}

    def kernel(self, name: str) -> c_void_p:
        if name not in self.kernels:
            self.kernels[name] = c_void_p()
            cu.cuModuleGetFunction(byref(self.kernels[name]), self.module, name.encode())
        return self.kernels[name]

    @contextlib.contextmanager
    def addresses(self) -> Iterator[Callable[[object], object]]:
        """Inside, our device's context is current, and the function that is given says where a tensor is on the device."""
        with contextlib.ExitStack() as until_done:
            until_done.enter_context(current(self.context))

            def address(value: object) -> object:
                tensor = tensor_in(value)
                if not isinstance(tensor, torch.Tensor):
                    return tensor
                here = tensor.is_cuda or tensor.numel() == 0
                return (tensor if here else until_done.enter_context(Copy(tensor, back=isinstance(value, Out)))).data_ptr()

            yield address

    def launch(self, name: str, grid: tuple[int, int], block: int, arguments: list[object], shared: int, like: torch.Tensor) -> None:
        """arguments: values of C, that is of ctypes."""
        stream = torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else 0
        pointers = (c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
        cu.cuLaunchKernel(self.kernel(name), *grid, 1, block, 1, 1, shared, c_void_p(stream), pointers, None)

    def run(self, op: str, like: torch.Tensor, count: int, /, **members: object) -> None:
        """op(i) for every i below count, in the type of `like`. A grid of no blocks would be an error."""
        if count == 0:
            return
        blocks = min((count + THREADS - 1) // THREADS, 1 << 20)
        with self.addresses() as address:
            arguments = [filled(OPS[op], members, address), c_longlong(count)]
            self.launch(f"{op}_{SUFFIXES[like.dtype]}", (blocks, 1), THREADS, arguments, 0, like)

    def nms(self, boxes: torch.Tensor, order: torch.Tensor, threshold: float, scan: str = "nms_scan", block: int = 1024) -> torch.Tensor:
        """Which boxes stay. order: the best come first."""
        if len(boxes) == 0:
            return order
        mask = self.mask(boxes, order, threshold)
        kept, total = torch.empty_like(order), torch.empty(1, dtype=torch.int32, device=order.device)
        with self.addresses() as address:
            given, written = map(c_void_p, map(address, (mask, order))), map(c_void_p, map(address, (Out(kept), Out(total))))
            self.launch(scan, (1, 1), block, [*given, c_int(len(boxes)), *written], mask.shape[1] * 8, boxes)
        return kept[: int(total)]  # nothing goes to the host but their number, since a tensor's size has to be known there

    def mask(self, boxes: torch.Tensor, order: torch.Tensor, threshold: float) -> torch.Tensor:
        """Who overlaps whom: for each box, in this order, and for some that fill the last tile, a word for each tile."""
        tiles = (len(boxes) + self.TILE - 1) // self.TILE
        if tiles * 8 > self.SHARED:
            raise ValueError(f"nms: {len(boxes)} boxes are too many; {self.SHARED // 8 * self.TILE} are the most.")
        mask = torch.empty((tiles * self.TILE, tiles), dtype=torch.int64, device=boxes.device)
        boxes = boxes.contiguous()
        with self.addresses() as address:
            given, written = map(c_void_p, map(address, (boxes, order))), c_void_p(address(Out(mask)))
            arguments = [*given, c_int(len(boxes)), c_double(threshold), written]
            self.launch(f"nms_mask_{SUFFIXES[boxes.dtype]}", (tiles, tiles), self.TILE, arguments, 0, boxes)
        return mask


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
