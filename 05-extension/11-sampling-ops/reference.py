# The ops as their definitions say, without grids and index arithmetic. PyTorch computes the gradients. Slow, but easy to verify.
from __future__ import annotations

import torch

Tensor = torch.Tensor


def read(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """The value of an image (channels x height x width) at (y, x). Pixels less than one pixel away count, nearer ones more."""
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
    """A convolution whose taps are moved by offsets."""
    filters, depth, tall, wide = weight.shape
    images, channels = input.shape[:2]
    offsets = offset.shape[1] // (2 * tall * wide)
    served = channels // offsets
    output = []
    for n in range(images):
        for y in range(offset.shape[2]):
            for x in range(offset.shape[3]):
                sampled = []  # for each tap, what it reads in each channel
                for tap in range(tall * wide):
                    parts = []
                    for group in range(offsets):
                        at = group * tall * wide + tap
                        down = y * stride[0] - padding[0] + tap // wide * dilation[0] + offset[n, 2 * at, y, x]
                        right = x * stride[1] - padding[1] + tap % wide * dilation[1] + offset[n, 2 * at + 1, y, x]
                        part = read(input[n, group * served : (group + 1) * served], down, right)
                        parts.append(part if mask is None else part * mask[n, at, y, x])
                    sampled.append(torch.cat(parts))
                per_group = torch.stack(sampled, 1).reshape(channels // depth, depth, tall, wide)
                filters_of = weight.reshape(channels // depth, -1, depth, tall, wide)
                output.append(torch.einsum("gfdij,gdij->gf", filters_of, per_group).flatten())
    result = torch.stack(output).reshape(images, *offset.shape[2:], filters).permute(0, 3, 1, 2)
    return result if bias is None else result + bias.view(-1, 1, 1)


def deform_attention(value: Tensor, sizes: list[tuple[int, int]], locations: Tensor, weights: Tensor) -> Tensor:
    """Each query and head reads every level at a few points, and adds up what it reads, weighted."""
    images, _, heads, _ = value.shape
    levels = [
        level.reshape(images, *size, heads, -1).permute(0, 3, 4, 1, 2)  # image, head, channel, row, column
        for level, size in zip(value.split([height * width for height, width in sizes], 1), sizes)
    ]
    output = []
    for n in range(images):
        for query in range(locations.shape[1]):
            for head in range(heads):
                total = torch.zeros_like(value[0, 0, 0])
                for level, (height, width) in enumerate(sizes):
                    for point in range(locations.shape[4]):
                        x, y = locations[n, query, head, level, point]
                        sampled = read(levels[level][n, head], y * height - 0.5, x * width - 0.5)
                        total = total + weights[n, query, head, level, point] * sampled
                output.append(total)
    return torch.stack(output).reshape(images, locations.shape[1], heads, -1)
