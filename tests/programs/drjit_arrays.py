"""Dr.Jit: traces arrays and writes PTX for them. Arithmetic, loops, gather and scatter, random numbers, scans, textures, derivatives, replays."""

import drjit as dr
import numpy as np
from drjit.cuda import Array2f, Array3f, Float, Float64, PCG32, TensorXf, Texture2f, UInt32
from drjit.cuda.ad import Float as Differentiable

i = dr.arange(UInt32, 1000)
values = dr.sin(Float(i)) * 2 + Float(i)
assert np.allclose(values.numpy(), 2 * np.sin(np.arange(1000, dtype=np.float32)) + np.arange(1000), atol=1e-3)
assert dr.gather(Float, values, 999 - i)[0] == values[999]


@dr.syntax
def roots():
    total, at = Float(0), UInt32(0)
    while at < i % 17:
        total += dr.sqrt(Float(at))
        at += 1
    return total


assert np.isclose(dr.sum(roots())[0], sum(sum(np.sqrt(k) for k in range(j % 17)) for j in range(1000)), rtol=1e-4)
random = PCG32(size=100000).next_float32()
assert abs(dr.mean(random)[0] - 0.5) < 0.01
assert 9000 < len(dr.compress(random < 0.1)) < 11000
bins = dr.zeros(UInt32, 10)
dr.scatter_reduce(dr.ReduceOp.Add, bins, 1, dr.arange(UInt32, 100000) % 10)
assert list(bins) == [10000] * 10
assert list(dr.prefix_sum(dr.arange(UInt32, 5))) == [0, 0, 1, 3, 6]
texture = Texture2f(TensorXf(np.arange(64, dtype=np.float32).reshape(8, 8, 1)))
assert texture.eval(Array2f(0.5, 0.5))[0] == 31.5
assert np.allclose(dr.norm(Array3f(1, 2, 2) * dr.arange(Float, 3)).numpy(), [0, 3, 6])
assert np.allclose(dr.log(Float64(1, 2, 3)).numpy(), np.log([1, 2, 3]))
x = Differentiable(0.5, 1, 2)
dr.enable_grad(x)
dr.backward(dr.sum(dr.exp(x) * x))
assert np.allclose(dr.grad(x).numpy(), np.exp([0.5, 1, 2]) * (1 + np.array([0.5, 1, 2])), rtol=1e-5)


@dr.freeze
def twice_the_sine(of):
    return dr.sin(of) * 2


for start in (1.0, 3.0):
    assert np.allclose(twice_the_sine(Float(start, start + 1)).numpy(), 2 * np.sin([start, start + 1]), atol=1e-5)
print("all as expected")
