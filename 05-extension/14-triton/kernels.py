# y = x² + b in Triton, forward and backward. b has one value for each row of x.
import triton
import triton.language as tl


@triton.jit
def forward(x, b, y, columns, BLOCK: tl.constexpr):
    """One program computes BLOCK adjacent elements of a row."""
    row = tl.program_id(0).to(tl.int64)  # row * columns may exceed 32 bits
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * columns + column, mask=inside).to(tl.float32)
    tl.store(y + row * columns + column, value * value + tl.load(b + row), mask=inside)


@triton.jit
def backward(g, x, dx, partial, columns, BLOCK: tl.constexpr):
    """One program computes BLOCK elements of dx, and the sum of its elements of g."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    at = row * columns + column
    gradient = tl.load(g + at, mask=inside, other=0).to(tl.float32)
    value = tl.load(x + at, mask=inside).to(tl.float32)
    tl.store(dx + at, 2 * gradient * value, mask=inside)
    tl.store(partial + row * tl.num_programs(1) + tl.program_id(1), tl.sum(gradient))


@triton.jit
def add_partial(partial, db, count, BLOCK: tl.constexpr):
    """One program adds up the partial sums of a row."""
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        place = first + tl.arange(0, BLOCK)
        total += tl.load(partial + row * count + place, mask=place < count, other=0)
    tl.store(db + row, tl.sum(total))
