# The three ops as their definitions say them: no grid, no index arithmetic, gradients by PyTorch. Slow, and easy to believe.
from __future__ import annotations

import torch

Tensor = torch.Tensor


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Take the best box, drop all that overlap it too much, and so on."""
    left = scores.sort(descending=True, stable=True).indices
    kept = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        left = left[~(iou(boxes[best], boxes[left]) > threshold)]
    return torch.stack(kept) if kept else left


def iou(box: Tensor, others: Tensor) -> Tensor:
    corner, far_corner = torch.maximum(box[:2], others[:, :2]), torch.minimum(box[2:], others[:, 2:])
    shared = (far_corner - corner).clamp(min=0).prod(1)
    area, areas = (box[2:] - box[:2]).prod(), (others[:, 2:] - others[:, :2]).prod(1)
    return shared / (area + areas - shared)


def read(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """An image (channels x height x width) between its pixels: each counts by its distance to (y, x), from one pixel away not at all."""
    rows = torch.arange(image.shape[1], dtype=image.dtype, device=image.device)
    columns = torch.arange(image.shape[2], dtype=image.dtype, device=image.device)
    of_row, of_column = (1 - (rows - y).abs()).clamp(min=0), (1 - (columns - x).abs()).clamp(min=0)
    return torch.einsum("chw,h,w->c", image, of_row, of_column)


def roi_align(input: Tensor, boxes: Tensor, size: tuple[int, int], scale: float = 1.0, samples: int = -1, aligned: bool = False) -> Tensor:
    output = []
    for box in boxes:
        bins = [[one_bin(input, box, row, column, size, scale, samples, aligned) for column in range(size[1])] for row in range(size[0])]
        output.append(torch.stack([torch.stack(line, -1) for line in bins], -2))
    return torch.stack(output) if output else input.new_empty(0, input.shape[1], *size)


def one_bin(
    input: Tensor, box: Tensor, row: int, column: int, size: tuple[int, int], scale: float, samples: int, aligned: bool
) -> Tensor:  # fmt: skip
    image = input[int(box[0])]
    height, width = image.shape[1:]
    left, top, right, bottom = box[1:] * scale - (0.5 if aligned else 0)
    tall, wide = bottom - top, right - left
    if not aligned:
        tall, wide = tall.clamp(min=1), wide.clamp(min=1)
    tall, wide = tall / size[0], wide / size[1]  # of a bin
    down, across = [samples if samples > 0 else int(side.ceil()) for side in (tall, wide)]
    total = torch.zeros_like(image[:, 0, 0])
    for a in range(down):
        for b in range(across):
            y = top + (row + (a + 0.5) / down) * tall
            x = left + (column + (b + 0.5) / across) * wide
            if -1 <= y <= height and -1 <= x <= width:
                total = total + read(image, y.clamp(0, height - 1), x.clamp(0, width - 1))
    return total / max(down * across, 1)


def deform_conv2d(
    input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None = None, mask: Tensor | None = None,
    stride: tuple[int, int] = (1, 1), padding: tuple[int, int] = (0, 0), dilation: tuple[int, int] = (1, 1),
) -> Tensor:  # fmt: skip
    """A convolution whose taps look beside where they stand."""
    filters, depth, tall, wide = weight.shape
    images, channels = input.shape[:2]
    offsets = offset.shape[1] // (2 * tall * wide)
    served = channels // offsets
    output = []
    for n in range(images):
        for y in range(offset.shape[2]):
            for x in range(offset.shape[3]):
                seen = []  # one for each tap: what it sees of each channel
                for tap in range(tall * wide):
                    parts = []
                    for group in range(offsets):
                        at = group * tall * wide + tap
                        down = y * stride[0] - padding[0] + tap // wide * dilation[0] + offset[n, 2 * at, y, x]
                        right = x * stride[1] - padding[1] + tap % wide * dilation[1] + offset[n, 2 * at + 1, y, x]
                        part = read(input[n, group * served : (group + 1) * served], down, right)
                        parts.append(part if mask is None else part * mask[n, at, y, x])
                    seen.append(torch.cat(parts))
                per_group = torch.stack(seen, 1).reshape(channels // depth, depth, tall, wide)
                filters_of = weight.reshape(channels // depth, -1, depth, tall, wide)
                output.append(torch.einsum("gfdij,gdij->gf", filters_of, per_group).flatten())
    result = torch.stack(output).reshape(images, *offset.shape[2:], filters).permute(0, 3, 1, 2)
    return result if bias is None else result + bias.view(-1, 1, 1)
