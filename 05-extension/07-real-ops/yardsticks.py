# NMS in other ways, to compare with: all share the first kernel, and differ in how they find out who stays.
from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable

import torch

import places

Tensor = torch.Tensor


def box_by_box(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """On the GPU, by a block of 64 threads that waits for every box that stays: torchvision's way since version 0.21."""
    order = scores.sort(descending=True, stable=True).indices
    return places.device(boxes.device.index).nms(boxes, order, threshold, "nms_scan_by_box", 64)


def on_the_host(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """The mask goes to the host and the answer back: torchvision's way before."""
    order = scores.sort(descending=True, stable=True).indices
    mask = places.device(boxes.device.index).mask(boxes, order, threshold).cpu()
    kept = torch.empty(len(order), dtype=torch.int64)
    scan = places.host().library.nms_scan
    scan.restype = ctypes.c_longlong
    total = scan(ctypes.c_void_p(mask.data_ptr()), ctypes.c_longlong(len(order)), ctypes.c_void_p(kept.data_ptr()))
    return order[kept[:total].to(order.device)]


def torchvision_nms() -> Callable[[Tensor, Tensor, float], Tensor] | None:
    """None where it is not installed, or not for this PyTorch."""
    try:
        from torchvision.ops import nms
    except Exception:
        return None
    return nms


def milliseconds(call: Callable[[], object], times: int = 30) -> tuple[float, float, float]:
    """Median, least and most of the wall clock, the GPU's work included, after five calls to warm up."""
    taken = []
    for round in range(times + 5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if round >= 5:
            taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken), min(taken), max(taken)
