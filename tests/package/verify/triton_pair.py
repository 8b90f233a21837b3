"""One sound Triton function, and one that forgets its mask."""

import torch
import triton
import triton.language as tl

from cudasim.verify import In, Out, Size, kernel

BLOCK = 64


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def add_unmasked_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at), mask=at < n)


def add(x: In("float32", "n"), y: In("float32", "n"), out: Out("float32", "n"), n: Size):
    return torch.add(x, y)


for name, function in (("add", add_kernel), ("add_unmasked", add_unmasked_kernel)):
    kernel(function, name=name, block=BLOCK, grid="n", constants={"BLOCK": BLOCK}, library="torch")(add)
