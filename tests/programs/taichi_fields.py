"""Taichi: kernels in Python, compiled by LLVM. Fields, a sparse tree, random numbers, atomics, arrays of NumPy's, doubles, a sort."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False, random_seed=1)
assert ti.cfg.arch == ti.cuda, "Taichi found no CUDA"  # it would go on with the CPU

n = 1000
positions = ti.Vector.field(2, float, n)
keys = ti.field(ti.i32, 1024)
sparse = ti.field(ti.i32)
ti.root.pointer(ti.i, 64).dense(ti.i, 16).place(sparse)


@ti.kernel
def scatter():
    for i in positions:
        positions[i] = [ti.random() * 0.5 + 0.25, ti.sin(i * 0.1)]
    for i in keys:
        keys[i] = (i * 7919) % 1024
    for i in range(100):
        sparse[i * 7] = i


@ti.kernel
def active() -> ti.i32:
    count = 0
    for _ in sparse:
        count += 1
    return count


@ti.kernel
def histogram(values: ti.types.ndarray(), bins: ti.types.ndarray()):
    for i in range(values.shape[0]):
        ti.atomic_add(bins[values[i] % 10], 1)


@ti.kernel
def series() -> ti.f64:
    total = ti.cast(0.0, ti.f64)
    for i in range(1000):
        total += ti.sqrt(ti.cast(i, ti.f64)) * ti.exp(-ti.cast(i, ti.f64) / 100)
    return total


scatter()
where = positions.to_numpy()
assert ((where[:, 0] >= 0.25) & (where[:, 0] < 0.75)).all() and abs(where[:, 0].mean() - 0.5) < 0.05
assert np.allclose(where[:, 1], np.sin(np.arange(n) * 0.1), atol=1e-5)
assert active() == 44 * 16
bins = np.zeros(10, np.int32)
histogram(np.arange(1234, dtype=np.int32), bins)
assert list(bins) == [124] * 4 + [123] * 6
assert np.isclose(series(), sum(np.sqrt(i) * np.exp(-i / 100) for i in range(1000)))
ti.algorithms.parallel_sort(keys)
assert (keys.to_numpy() == np.arange(1024)).all()
print("all as expected")
