"""The references of faulty.cu and sound.cu, which have kernels of the same names. faulty.py and sound.py declare them."""

import numpy as np

from cudasim.verify import In, InOut, Kernel, Out, Scalar, Size, Stride, kernel

TILE = 16
REFERENCES = []


def reference(**settings):
    """Remembers a function with the settings of its kernel."""

    def remember(function):
        REFERENCES.append((function, settings))
        return function

    return remember


def declare(source: str) -> list[Kernel]:
    return [kernel(source, **settings)(function) for function, settings in REFERENCES]


@reference(block=128, grid="n")
def scale(x: In("float32", "n"), y: Out("float32", "n"), factor: Scalar("float32"), n: Size):
    return factor * x


@reference(block=64, grid="n", special=())
def reverse_blocks(x: In("int32", "n"), y: Out("int32", "n"), n: Size):
    return np.concatenate([x[:0], *(x[begin : begin + 64][::-1] for begin in range(0, len(x), 64))])


@reference(block=64, grid="n", rtol=1e-5, atol=1e-4)
def sum_blocks(x: In("float32", "n"), sums: Out("float32", lambda n: max(1, -(-n // 64))), n: Size):
    blocks = max(1, -(-len(x) // 64))
    return np.array([x[block * 64 : block * 64 + 64].sum() for block in range(blocks)])


@reference(block=64, grid=1, rtol=1e-4, atol=1e-4)
def dot(a: In("float16", "n"), b: In("float16", "n"), out: Out("float32", 1), n: Size):
    return np.dot(a, b).reshape(1)


@reference(block=(TILE, TILE), grid=("columns", "rows"))
def transpose(x: In("float32", "rows", "columns"), y: Out("float32", "columns", "rows"), rows: Size, columns: Size):
    return x.T


@reference(block=32, grid=lambda rows: max(1, rows), special=())
def copy_rows(
    x: In("int32", "rows", "columns"),
    y: Out("int32", "rows", "columns"),
    rows: Size,
    columns: Size,
    x_stride: Stride("x"),
    y_stride: Stride("y"),
):
    return x


@reference(block=64, grid=lambda rows: max(1, rows))
def row_maximum(x: In("float32", "rows", "columns"), out: Out("float32", "rows"), rows: Size, columns: Size):
    return x.max(axis=1, initial=-np.inf)


@reference(block=64, grid=2, rtol=1e-5, atol=1e-4)
def add_to_total(x: In("float32", "n"), total: InOut("float32", 1), n: Size):
    return total + x.sum()


@reference(block=64, grid=lambda n: max(1, -(-n // 256)))
def relu(x: In("float32", "n"), y: Out("float32", "n"), n: Size):
    return np.maximum(x, 0)


@reference(block=32, grid=lambda rows: max(1, rows), rtol=1e-5)
def softmax(x: In("float32", "rows", "columns"), y: Out("float32", "rows", "columns"), rows: Size, columns: Size):
    weights = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return weights / weights.sum(axis=1, keepdims=True)
