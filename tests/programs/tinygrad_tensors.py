"""tinygrad: traces tensors and writes PTX for them, or CUDA C++ for NVRTC. A matrix product, reductions, random numbers, a sort, a convolution, a gradient."""

import os
import sys

os.environ["DEV"] = "CUDA:PTX" if "--nvrtc" not in sys.argv else "CUDA"
import numpy as np
from tinygrad import Device, Tensor

assert Device.DEFAULT == "CUDA", Device.DEFAULT
a, b = Tensor.rand(64, 64), Tensor.rand(64, 64)
assert np.allclose((a @ b).relu().sum(axis=1).numpy(), (a.numpy() @ b.numpy()).clip(0).sum(1), rtol=1e-4)
x = Tensor.arange(1000).float()
assert np.isclose(x.sin().sum().item(), np.sin(np.arange(1000)).sum(), atol=1e-2)
assert np.isclose(x.softmax().max().item(), 1 - np.exp(-1), rtol=1e-5)
assert Tensor([3, 1, 2]).sort()[0].tolist() == [1, 2, 3]
assert Tensor.arange(10).cumsum().tolist() == list(np.cumsum(np.arange(10)))
assert Tensor.conv2d(Tensor.ones(1, 1, 8, 8), Tensor.ones(2, 1, 3, 3)).sum().item() == 648
w = Tensor.randn(3, 3)
w.requires_grad = True
(w * w).exp().mean().backward()
assert np.allclose(w.grad.numpy(), (2 * w * (w * w).exp() / 9).numpy(), rtol=1e-4)
print("all as expected")
