"""Where the elements of an array are in its allocation, for each layout."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from cudasim.verify.cases import FAR, Case
from cudasim.verify.declare import Array, Kernel, Stride

GAP = 3  # elements between rows
FILL = 0xA5  # bytes that belong to no element
UNWRITTEN = 0xCD  # what the simulator fills new device memory with


@dataclasses.dataclass(frozen=True)
class Layout:
    """`first` and `total` are bytes of the allocation, strides are elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item: int
    first: int

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def total(self) -> int:
        if self.count == 0:
            return 0
        return self.first + self.item * (1 + sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides)))

    def runs(self) -> list[tuple[int, int, int]]:
        """Contiguous elements: (byte in the allocation, number of the first element, how many)."""
        offsets: Any = np.zeros(self.shape, np.int64)
        for axis, (extent, stride) in enumerate(zip(self.shape, self.strides)):
            offsets += (np.arange(extent, dtype=np.int64) * stride).reshape([-1 if each == axis else 1 for each in range(len(self.shape))])
        flat = offsets.ravel()
        if not flat.size:
            return []
        begins = np.concatenate([[0], np.flatnonzero(np.diff(flat) != 1) + 1])
        counts = np.diff(np.concatenate([begins, [flat.size]]))
        return [(self.first + int(flat[begin]) * self.item, int(begin), int(count)) for begin, count in zip(begins, counts)]

    def gaps(self) -> list[tuple[int, int]]:
        """The bytes that belong to no element, as (begin, length). Those of the distant layout are too many to look at."""
        if self.total >= FAR:
            return [(0, self.first)] if self.first else []
        found, at = [], 0
        for begin, _, count in sorted(self.runs()):
            if begin > at:
                found.append((at, begin - at))
            at = begin + count * self.item
        return found


def layout_of(kernel: Kernel, array: Array, case: Case) -> Layout:
    shape = array.shape_for(case.sizes)
    given = {each.dimension for each in kernel.parameters if isinstance(each, Stride) and each.array == array.name}
    order = list(range(len(shape)))[::-1]  # from the innermost dimension
    if case.layout == "transposed" and len(given) == len(shape):
        order.reverse()
    strides, step = [0] * len(shape), 1
    for axis in order:
        if case.layout in ("strided", "transposed") and axis in given:
            step = step * 2 if axis == order[0] else step + GAP
        strides[axis] = step
        step *= max(1, shape[axis])
    if case.layout == "distant" and case.shifted == array.name and shape[0] > 2:
        strides[0] = max(strides[0], FAR // (shape[0] - 1) + 64)
    is_shifted = case.layout == "unaligned" and case.shifted in ("", array.name)
    return Layout(shape, tuple(strides), array.type.size, array.align if is_shifted else 0)
