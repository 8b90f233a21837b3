"""Halide: a pipeline scheduled for a GPU, compiled by LLVM as it runs. Two stages in tiles, a reduction."""

import halide as hl
import numpy as np

x, y, xo, yo, xi, yi = (hl.Var(name) for name in ("x", "y", "xo", "yo", "xi", "yi"))
waves, pairs, sums = hl.Func("waves"), hl.Func("pairs"), hl.Func("sums")
waves[x, y] = hl.sin(hl.f32(x)) + y
pairs[x, y] = waves[x, y] + waves[x + 1, y]
row = hl.RDom([(0, 64)])
sums[x] = hl.f32(0)
sums[x] += pairs[row, x]
waves.compute_root().gpu_tile(x, y, xo, yo, xi, yi, 16, 8)
pairs.compute_root().gpu_tile(x, y, xo, yo, xi, yi, 16, 8)
sums.gpu_tile(x, xo, xi, 16)
sums.update().gpu_tile(x, xo, xi, 16)
result = sums.realize([64], hl.get_host_target().with_feature(hl.TargetFeature.CUDA))
result.copy_to_host()
at = np.arange(65, dtype=np.float32)
expected = [(np.sin(at[:64]) + np.sin(at[1:]) + 2 * k).sum() for k in range(64)]
assert np.allclose(np.array(result), expected, atol=1e-2)
print("all as expected")
