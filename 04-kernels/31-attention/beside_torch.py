"""Compares the lesson's last kernel with PyTorch's attention on a GPU: speed and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/31-attention. All kernels get the same
matrices and alternate. A causal problem counts half of the operations.
"""

import pathlib
import sys

import torch

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


if __name__ == "__main__":
    beside.run_forward(__doc__, ours)
