# numba-cuda: a function in Python, compiled by NVVM.
import toolkit  # noqa: F401  # isort: skip

import _numba_cuda_redirector  # noqa: F401  # numba.cuda is then numba-cuda's
from numba import cuda


@cuda.jit
def forward(x, b, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] * x[i] + b[i]


def run(x, b):
    y = cuda.device_array_like(x)
    forward[(x.size + 255) // 256, 256](cuda.to_device(x), cuda.to_device(b), y)
    return y.copy_to_host()
