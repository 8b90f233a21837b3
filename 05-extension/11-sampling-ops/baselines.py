# What the ops are compared with: torchvision's ops, and attention made of PyTorch's grid_sample.
from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from torch.nn.functional import grid_sample

Tensor = torch.Tensor


def torchvision_ops():
    """torchvision.ops, or None if torchvision is not installed for this PyTorch."""
    try:
        from torchvision import ops

        ops.roi_align(torch.zeros(1, 1, 4, 4), torch.zeros(1, 5), 1)  # fails if its compiled part does not fit
    except Exception:
        return None
    return ops


def attention_by_grid_sample(value: Tensor, sizes: list[tuple[int, int]], locations: Tensor, weights: Tensor) -> Tensor:
    """The usual way without a kernel of one's own: a grid_sample for each level, then a weighted sum."""
    images, _, heads, channels = value.shape
    queries = locations.shape[1]
    sampled, start = [], 0
    for level, (height, width) in enumerate(sizes):
        image = value[:, start : start + height * width].permute(0, 2, 3, 1).reshape(images * heads, channels, height, width)
        grid = (2 * locations[:, :, :, level] - 1).transpose(1, 2).flatten(0, 1)
        sampled.append(grid_sample(image, grid, align_corners=False))
        start += height * width
    point_weights = weights.transpose(1, 2).reshape(images * heads, 1, queries, -1)
    total = (torch.stack(sampled, -2).flatten(-2) * point_weights).sum(-1)
    return total.reshape(images, heads, channels, queries).permute(0, 3, 1, 2)


def milliseconds(call: Callable[[], object], calls: int = 1, samples: int = 30) -> tuple[float, float, float]:
    """Median, minimum and maximum of the wall-clock time of a call, until the GPU has finished. The first five samples do not count.

    With several calls in a sample, the CPU prepares one while the GPU computes the one before, as in training.
    """
    times = []
    for sample in range(samples + 5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        if sample >= 5:
            times.append(1000 * (time.perf_counter() - start) / calls)
    return statistics.median(times), min(times), max(times)
