# Where an op runs: as a loop on the CPU (libsampling_ops.so), or as a kernel, launched with the driver API (kernels.ptx).
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

SUFFIXES = {torch.float16: "half", torch.bfloat16: "bfloat16", torch.float32: "float", torch.float64: "double"}
CHANNELS = 8  # that a thread handles in ROIAlign and in a convolution's columns: kChannels
THREADS = 256  # of a block
KERNELS = built(__file__, "kernels.ptx")


def wide(dtype: torch.dtype) -> torch.dtype:
    """The type in which an op computes and adds up: Wide<T>."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def pieces(channels: int) -> int:
    return (channels + CHANNELS - 1) // CHANNELS


# ---- the structs of ops.hpp ----------------------------------------------------------------------------------------------


def struct(name: str, pointers: str = "", ints: str = "", more: tuple[tuple[str, type], ...] = ()) -> type[ctypes.Structure]:
    """A struct as C++ lays it out: pointers first, then ints, then the rest."""
    fields = [(field, c_void_p) for field in pointers.split()] + [(field, c_int) for field in ints.split()] + list(more)
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def op_struct(name: str, pointers: str, op: type[ctypes.Structure]) -> type[ctypes.Structure]:
    return struct(name, pointers, more=(("op", op),))


RoiAlign = struct("RoiAlign", "boxes", "images channels height width rows columns samples aligned", (("scale", c_double),))
SIZES = "images channels height width groups kernel_height kernel_width out_height out_width"
Taps = struct("Taps", "input offsets mask", SIZES + " stride_y stride_x padding_y padding_x dilation_y dilation_x")
LEVELS = 8  # of an attention, at most: kLevels
IN_ATTENTION = "images pixels queries heads channels levels points"
Attention = struct("Attention", "value locations weights", IN_ATTENTION, (("sizes", c_int * (2 * LEVELS)),))
OPS = {
    "roi_align_forward": op_struct("RoiAlignForward", "input output", RoiAlign),
    "roi_align_backward": op_struct("RoiAlignBackward", "gradient input_gradient", RoiAlign),
    "deform_columns": op_struct("DeformColumns", "columns", Taps),
    "deform_backward": op_struct("DeformBackward", "column_gradient columns input_gradient offset_gradient mask_gradient", Taps),
    "attention_forward": op_struct("AttentionForward", "output", Attention),
    "attention_backward": op_struct("AttentionBackward", "gradient value_gradient location_gradient weight_gradient", Attention),
}
TEAMS = {"attention_backward": 32}  # threads that share an index, where it is not one
ROI_CHANNELS = 64  # that a block handles in ROIAlign: kRoiChannels
PLANES = 40 * 1024  # bytes of dynamic shared memory for deform_input_gradient


def layouts() -> str:
    """The structs as Python defines them, in the words in which host.cpp describes those of C++."""
    lines = []
    for kind in (RoiAlign, Taps, Attention, *OPS.values()):
        places = [f"{name} {getattr(kind, name).offset}" for name, _ in kind._fields_]
        lines.append(f"{kind.__name__}: {', '.join(places)}, end {ctypes.sizeof(kind)}\n")
    return "".join(lines) + f"channels at once: {CHANNELS}\n"


def filled(kind: type[ctypes.Structure], members: dict[str, object], address: Callable[[object], object]) -> ctypes.Structure:
    """A struct with all its members, given by name; a struct inside it is a dict. address(tensor) returns the tensor's address."""
    if members.keys() != {name for name, _ in kind._fields_}:
        raise TypeError(f"{kind.__name__} does not have exactly these members: {', '.join(members)}.")
    inner = {name: type for name, type in kind._fields_ if issubclass(type, ctypes.Structure)}
    values = {name: filled(inner[name], value, address) if name in inner else address(value) for name, value in members.items()}
    return kind(**values)


class Out:
    """Marks a tensor that the op writes, or None for a result that is not wanted."""

    def __init__(self, tensor: torch.Tensor | None):
        self.tensor = tensor


def tensor_in(value: object) -> object:
    return value.tensor if isinstance(value, Out) else value


# ---- the two places ------------------------------------------------------------------------------------------------------


class Host:
    """The loops on the CPU."""

    prefix = ""  # of the functions' names

    def __init__(self) -> None:
        self.library = ctypes.CDLL(built(__file__, "libsampling_ops.so"))
        self.library.layouts.restype = ctypes.c_char_p
        in_cpp = self.library.layouts().decode()
        if in_cpp != layouts():
            raise RuntimeError(f"places.py and ops.hpp define different structs:\n{layouts()}\n{in_cpp}")

    def run(self, op: str, like: torch.Tensor, count: int, /, **members: object) -> None:
        """Calls op(i) for every i below count. `like` has the op's type. The loops have no half types, so these become float first."""
        half = wide(like.dtype) != like.dtype
        copies = []

        def address(value: object) -> object:
            tensor = tensor_in(value)
            if not isinstance(tensor, torch.Tensor):
                return tensor
            widened = tensor.float() if half and tensor.is_floating_point() else tensor
            copies.append((value, tensor, widened))
            return widened.data_ptr()

        function = getattr(self.library, f"{self.prefix}{op}_{SUFFIXES[wide(like.dtype)]}")
        function(byref(filled(OPS[op], members, address)), c_longlong(count))
        for value, tensor, widened in copies:
            if isinstance(value, Out) and widened is not tensor:
                tensor.copy_(widened)

    def roi_align(self, op: str, like: torch.Tensor, boxes: int, channels: int, bins: int, /, **members: object) -> None:
        self.run(op, like, boxes * pieces(channels) * bins, **members)

    def deform_input_gradient(self, like: torch.Tensor, group: int, /, **members: object) -> bool:
        """False: deform_backward computes it too."""
        return False


class Counter(Host):
    """The same loops for doubles, but each addition to a sum that others may be adding to counts as 1."""

    prefix = "count_"


class Addresses:
    """Makes a device's context current for the time of a `with`. Called with a tensor, it returns the tensor's address there."""

    def __init__(self, context: c_void_p):
        self.context, self.copies = context, contextlib.ExitStack()

    def __enter__(self) -> Addresses:
        cu.cuCtxPushCurrent_v2(self.context)
        return self

    def __call__(self, value: object) -> object:
        tensor = tensor_in(value)
        if not isinstance(tensor, torch.Tensor):
            return tensor
        if tensor.is_cuda or tensor.numel() == 0:
            return tensor.data_ptr()
        return self.copies.enter_context(Copy(tensor, back=isinstance(value, Out))).data_ptr()

    def __exit__(self, *failed: object) -> None:
        try:
            self.copies.__exit__(*failed)  # copies the results of host tensors back
        finally:
            cu.cuCtxPopCurrent_v2(byref(c_void_p()))


class Device:
    """The kernels. They use a GPU's tensors in place, in PyTorch's current stream. Host tensors are copied to the device and back."""

    def __init__(self, ordinal: int, image: str = KERNELS) -> None:
        host()  # compares the structs
        self.context, self.module = primary(ordinal), c_void_p()  # the context that PyTorch uses
        with current(self.context):
            cu.cuModuleLoadData(byref(self.module), pathlib.Path(image).read_bytes() + b"\0")
        self.kernels: dict[str, c_void_p] = {}

    def kernel(self, name: str) -> c_void_p:
        if name not in self.kernels:
            self.kernels[name] = c_void_p()
            cu.cuModuleGetFunction(byref(self.kernels[name]), self.module, name.encode())
        return self.kernels[name]

    def addresses(self) -> Addresses:
        return Addresses(self.context)

    def launch(self, name: str, grid: tuple[int, int], block: int, arguments: list[object], shared: int, like: torch.Tensor) -> None:
        """The arguments are ctypes values."""
        stream = torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else 0
        pointers = (c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        cu.cuLaunchKernel(self.kernel(name), *grid, 1, block, 1, 1, shared, c_void_p(stream), pointers, None)

    def run(self, op: str, like: torch.Tensor, count: int, /, **members: object) -> None:
        """Computes op(i) for every i below count. `like` has the op's type."""
        if count == 0:  # a grid without blocks would be an error
            return
        threads = count * TEAMS.get(op, 1)
        blocks = min((threads + THREADS - 1) // THREADS, 1 << 20)
        with self.addresses() as address:
            arguments = [filled(OPS[op], members, address), c_longlong(count)]
            self.launch(f"{op}_{SUFFIXES[like.dtype]}", (blocks, 1), THREADS, arguments, 0, like)

    def run_blocks(self, kernel: str, op: str, like: torch.Tensor, blocks: int, more: list[object], shared: int, /, **members: object) -> None:
        """Launches a kernel whose blocks each compute one part of the op."""
        if blocks == 0:
            return
        with self.addresses() as address:
            arguments = [filled(OPS[op], members, address), c_longlong(blocks), *more]
            self.launch(f"{kernel}_{SUFFIXES[like.dtype]}", (min(blocks, 1 << 20), 1), THREADS, arguments, shared, like)

    def roi_align(self, op: str, like: torch.Tensor, boxes: int, channels: int, bins: int, /, **members: object) -> None:
        chunks = (channels + ROI_CHANNELS - 1) // ROI_CHANNELS
        self.run_blocks(f"{op}_by_block", op, like, boxes * chunks if bins else 0, [], 0, **members)

    def deform_input_gradient(self, like: torch.Tensor, group: int, /, **members: object) -> bool:
        """Computes the gradient of the input if its planes fit into shared memory. `group`: channels that share offsets."""
        images, channels, height, width = like.shape
        bytes_of_a_plane = height * width * wide(like.dtype).itemsize
        together = 2 if group % 2 == 0 and 2 * bytes_of_a_plane <= PLANES else 1
        if bytes_of_a_plane > PLANES:
            return False
        blocks = images * channels // together
        self.run_blocks("deform_input_gradient", "deform_backward", like, blocks, [c_int(together)], together * bytes_of_a_plane, **members)
        return True


@functools.cache
def host() -> Host:
    return Host()


@functools.cache
def device(ordinal: int) -> Device:
    return Device(ordinal)


_for_host_tensors: Callable[[], Host | Device] = host


@contextlib.contextmanager
def _host_tensors_in(place: Callable[[], Host | Device]) -> Iterator[None]:
    global _for_host_tensors
    before, _for_host_tensors = _for_host_tensors, place
    try:
        yield
    finally:
        _for_host_tensors = before


def through_the_driver() -> contextlib.AbstractContextManager[None]:
    """Inside, the first device's kernels also compute with host tensors."""
    return _host_tensors_in(lambda: device(0))


def counting() -> contextlib.AbstractContextManager[None]:
    """Inside, a sum of host tensors in double becomes the number of additions to it."""
    return _host_tensors_in(Counter)


def place_for(tensor: torch.Tensor) -> Host | Device:
    """Where to compute with this tensor."""
    if tensor.is_cuda:
        return device(tensor.device.index)
    return _for_host_tensors()
