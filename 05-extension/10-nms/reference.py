"""NMS as its definition says, and as the scan of kernels.cu does it, both in PyTorch. Slow, but easy to verify."""

from __future__ import annotations

import torch
from torch import Tensor

GROUP = 512  # boxes that are scanned together


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Keep the best box, remove those that overlap it too much, and repeat."""
    left = scores.sort(descending=True, stable=True).indices
    kept = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        left = left[~overlaps(boxes[best : best + 1], boxes[left], threshold)[0]]
    return torch.stack(kept) if kept else left


def overlaps(boxes: Tensor, others: Tensor, threshold: float) -> Tensor:
    """For each of the boxes, which of the others it overlaps."""
    corner, far_corner = torch.maximum(boxes[:, None, :2], others[:, :2]), torch.minimum(boxes[:, None, 2:], others[:, 2:])
    shared = (far_corner - corner).clamp(min=0).prod(2)
    area, areas = [(some[:, 2:] - some[:, :2]).prod(1) for some in (boxes, others)]
    return shared / (area[:, None] + areas - shared) > threshold


def nms_in_groups(boxes: Tensor, scores: Tensor, threshold: float) -> tuple[Tensor, list[int]]:
    """The boxes that are kept, and how many rounds each group takes."""
    order = scores.sort(descending=True, stable=True).indices
    kept, rounds = order[:0], []
    for group in order.split(GROUP):
        mine = boxes[group]
        alive = ~overlaps(boxes[kept], mine, threshold).any(0)
        better = overlaps(mine, mine, threshold).tril(-1)  # row i: the better boxes that overlap box i
        is_kept, was_kept, count = alive, None, 0
        while was_kept is None or not is_kept.equal(was_kept):
            was_kept, is_kept, count = is_kept, alive & ~(better & is_kept).any(1), count + 1
        kept = torch.cat([kept, group[is_kept]])
        rounds.append(count)
    return kept, rounds
