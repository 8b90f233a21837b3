"""Compares the lesson's last kernel with PyTorch's attention on a GPU: speed and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/31-attention. All kernels get the same
matrices and alternate. A causal problem counts half of the operations.
"""

import math
import pathlib
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import beside  # noqa: E402


def ours(driver, kernel, q, k, v, causal):
    """A function that computes o and lse with the lesson's kernel, and returns o."""
    name, rows, threads, shared_bytes = kernel[0], *map(int, kernel[1:])
    batch, heads, n, _ = q.shape
    o, lse = torch.empty_like(q), torch.empty(batch, heads, n, device=q.device)
    function = driver.function(name, shared_bytes)
    argument = beside.attention(q, k, v, o, lse, causal)

    def run():
        driver.launch(function, (-(-n // rows), batch * heads, 1), threads, shared_bytes, [argument])
        return o, lse  # keeps lse alive, too

    return lambda: run()[0]


def theirs(backend, q, k, v, causal):
    def run():
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    return run


def compare(driver, kernels, d, n, causal):
    """[TFLOP/s of ours, of flash, of cuDNN, error of ours, of flash]"""
    q, k, v = beside.matrices(n, d, 3)
    works = [ours(driver, kernels[0], q, k, v, causal)]
    works += [theirs(backend, q, k, v, causal) for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION)]
    first = [x[0, :1].double() for x in (q, k, v)]  # one head is enough for the errors
    scores = first[0] @ first[1].transpose(-1, -2) / math.sqrt(d)
    if causal:
        scores.masked_fill_(torch.ones(n, n, dtype=torch.bool, device="cuda").triu(1), -math.inf)
    exact = scores.softmax(-1) @ first[2]
    del scores
    errors = [beside.error(work()[0, :1], exact) for work in works[:2]]
    operations = 4.0 * beside.TOKENS * n * beside.WIDTH / (2 if causal else 1)
    return [operations / time / 1e9 for time in beside.alternate(works)] + errors


if __name__ == "__main__":
    beside.run(__doc__, "ours,flash,cuDNN,error_ours,error_flash", compare)
