"""The package's kernels without its host code: their PTX, launched with the driver API. Lesson 05-07 explains the calls.

Tensors in host memory are copied to the device and back, so this works on the simulated GPU. Tensors on a GPU are used in place.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import pathlib
from ctypes import byref, c_double, c_int, c_void_p

import torch
from torch import Tensor

from common.built import built
from common.driver import Copy, cu, current, primary

SUFFIXES = {torch.float32: "float", torch.float64: "double"}
TILE, ORDERED = 64, 32  # boxes of a word of the mask, and those whose places a block of nms_order finds
KERNELS = built(__file__, "nms.ptx")
BY_BOX = built(__file__, "scan_by_box.ptx")


@functools.cache
def kernel(path: str, name: str) -> c_void_p:
    """A kernel of a PTX file, in the primary context of device 0, which PyTorch uses too."""
    module, function = c_void_p(), c_void_p()
    with current(primary(0)):
        cu.cuModuleLoadData(byref(module), pathlib.Path(path).read_bytes() + b"\0")
        cu.cuModuleGetFunction(byref(function), module, name.encode())
    return function


class Launches:
    """Makes the context current for the time of a `with`. Called with a tensor, it returns the tensor's address on the device."""

    def __init__(self, like: Tensor):
        self.stack = contextlib.ExitStack()
        self.stream = torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else 0

    def __enter__(self) -> Launches:
        self.stack.enter_context(current(primary(0)))
        return self

    def __exit__(self, *failed: object) -> None:
        self.stack.__exit__(*failed)

    def __call__(self, tensor: Tensor, back: bool = False) -> c_void_p:
        return c_void_p(tensor.data_ptr() if tensor.is_cuda else self.stack.enter_context(Copy(tensor, back)).data_ptr())

    def launch(self, function: c_void_p, grid: tuple[int, int], block: int, shared: int, *arguments: object) -> None:
        pointers = (c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        cu.cuLaunchKernel(function, *grid, 1, block, 1, 1, shared, c_void_p(self.stream), pointers, None)


def nms_padded(boxes: Tensor, scores: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """The same results as those of the op, for at least one box in float32 or float64."""
    return run(boxes, scores, threshold, kernel(KERNELS, "nms_scan"), 512)


def box_by_box(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """A block of 64 threads scans the mask and waits at every box that is kept."""
    kept, total = run(boxes, scores, threshold, kernel(BY_BOX, "nms_scan_by_box"), 64)
    return kept[: int(total)]


def run(boxes: Tensor, scores: Tensor, threshold: float, scan: c_void_p, threads: int) -> tuple[Tensor, Tensor]:
    count, suffix = len(boxes), SUFFIXES[boxes.dtype]
    tiles = (count + TILE - 1) // TILE
    boxes, scores = boxes.contiguous(), scores.contiguous()
    order, mask = [boxes.new_empty(size, dtype=torch.int64) for size in (count, TILE * tiles * tiles)]
    kept, total = boxes.new_empty(count, dtype=torch.int64), boxes.new_empty((), dtype=torch.int64)
    with Launches(boxes) as launches:
        b, s, o, m = [launches(tensor) for tensor in (boxes, scores, order, mask)]
        k, t = [launches(tensor, back=True) for tensor in (kept, total)]
        number = c_int(count)
        launches.launch(kernel(KERNELS, f"nms_order_{suffix}"), ((count + ORDERED - 1) // ORDERED, 1), 256, 0, s, number, o)
        launches.launch(kernel(KERNELS, f"nms_mask_{suffix}"), (tiles, tiles), TILE, 0, b, o, number, c_double(threshold), m)
        launches.launch(scan, (1, 1), threads, 8 * tiles, m, o, number, k, t)
    return kept, total
