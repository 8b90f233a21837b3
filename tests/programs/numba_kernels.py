"""numba-cuda: Python functions compiled by LLVM. Grids, shared memory, atomics, mathematics, streams, events, managed and pinned memory, reductions, a grid that synchronises, a fault."""

import math
import sys
import warnings

import cuda.bindings
import cuda.core  # before nvJitLink is hidden from it: the driver links, since nvJitLink would make machine code

sys.modules["cuda.bindings.nvjitlink"] = None
del cuda.bindings.nvjitlink

import numpy as np
from numba import cuda, float32

warnings.simplefilter("ignore")


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def rounds(data, count):
    grid = cuda.cg.this_grid()
    block = cuda.blockIdx.x
    for _ in range(count):
        value = data[(block + 1) % cuda.gridDim.x]
        grid.sync()
        if cuda.threadIdx.x == 0:
            data[block] += value
        grid.sync()


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((8, 8), dtype=float32)
    right = cuda.shared.array((8, 8), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(a.shape[1] // 8):
        left[tx, ty] = a[x, ty + i * 8]
        right[tx, ty] = b[tx + i * 8, y]
        cuda.syncthreads()
        for j in range(8):
            total += left[tx, j] * right[j, ty]
        cuda.syncthreads()
    c[x, y] = total


@cuda.jit
def count(cells, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(cells, x[i] % 10, 1)


@cuda.jit
def functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) * math.exp(x[i]) + math.sqrt(x[i])


@cuda.reduce
def total(a, b):
    return a + b


@cuda.jit
def stray(a):
    a[cuda.grid(1) + 10_000_000] = 1


a = np.arange(1000, dtype=np.float32)
c = np.zeros_like(a)
add[8, 128](a, a, c)
assert (c == 2 * a).all()

left, right = (np.random.rand(32, 32).astype(np.float32) for _ in range(2))
out = np.zeros_like(left)
product[(4, 4), (8, 8)](left, right, out)
assert np.allclose(out, left @ right, rtol=1e-4)

cells = np.zeros(10, np.int32)
count[10, 128](cells, np.arange(1000, dtype=np.int32))
assert (cells == 100).all()

x = np.linspace(0, 1, 100)
values = np.zeros_like(x)
functions[1, 128](x, values)
assert np.allclose(values, np.sin(x) * np.exp(x) + np.sqrt(x))

stream = cuda.stream()
there = cuda.to_device(a, stream=stream)
result = cuda.device_array_like(there, stream=stream)
begin, end = cuda.event(), cuda.event()
begin.record(stream)
add[8, 128, stream](there, there, result)
end.record(stream)
back = result.copy_to_host(stream=stream)
stream.synchronize()
assert (back == 2 * a).all() and cuda.event_elapsed_time(begin, end) > 0

managed = cuda.managed_array(10, dtype=np.float32)
managed[:] = 1
add[1, 32](managed, managed, managed)
cuda.synchronize()
assert (managed == 2).all()
pinned = cuda.pinned_array(1000, dtype=np.float32)
pinned[:] = a
assert total(np.arange(1000, dtype=np.float64)) == 499500

data = cuda.to_device(np.arange(1, 21, dtype=np.int32))
expected = data.copy_to_host()
rounds[20, 64](data, 6)  # a cooperative launch, by names of libcudadevrt
for _ in range(6):
    expected = expected + np.roll(expected, -1)
assert (data.copy_to_host() == expected).all()

try:
    stray[1, 1](there)
    cuda.synchronize()
    sys.exit("a stray access was not noticed")
except cuda.cudadrv.driver.CudaAPIError as fault:
    assert "ILLEGAL_ADDRESS" in str(fault), fault
print("numba-cuda: all as expected")
