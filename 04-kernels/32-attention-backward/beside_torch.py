"""Compares the lesson's kernels with the backward pass of PyTorch's attention on a GPU: speed and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/32-attention-backward. All get the same
matrices and alternate. The backward pass counts 2.5 times the operations of the forward pass, which are five products
instead of two, and a causal problem counts half of them.
"""

import ctypes
import math
import pathlib
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import beside  # noqa: E402

# As in shape.hpp: rows of a block; lse, delta and sums have a multiple of PADDING rows.
ROWS_OF_PREPARE, ROWS_OF_CONVERT, PADDING = 8, 64, 256


class Gradients(ctypes.Structure):
    """The kernels' second argument, as in shape.hpp."""

    _fields_ = [*((name, ctypes.c_void_p) for name in ("o", "q", "k", "v", "sums", "lse", "delta")), ("pitch", ctypes.c_int)]


def ours(driver, rung, q, k, v, o, lse, of_o, causal):
    """A function that computes the gradients with the kernels of a rung, and returns them."""
    batch, heads, n, d = q.shape
    pitch = -(-n // PADDING) * PADDING
    found = [torch.empty_like(q) for _ in range(3)]
    rows = [torch.empty(batch * heads, pitch, device=q.device) for _ in range(2)]
    has_sums, coalesced = len(rung) == 1, rung[0][0] == "1"
    sums = torch.empty(batch * heads, pitch, d, device=q.device) if has_sums else None
    pointers = (x.data_ptr() if x is not None else None for x in (of_o, *found, sums, *rows))
    arguments = [beside.attention(q, k, v, o, lse, causal), Gradients(*pointers, pitch), ctypes.c_bool(coalesced)]
    launches = [(f"prepare_{d}", (pitch // ROWS_OF_PREPARE, batch * heads, 1), 32 * ROWS_OF_PREPARE, 0)]
    for _, name, *numbers in rung:
        of_block, threads, shared_bytes = map(int, numbers)
        launches.append((f"{name}_{d}", (-(-n // of_block), batch * heads, 1), threads, shared_bytes))
    if has_sums:
        launches.append((f"convert_{d}", (pitch // ROWS_OF_CONVERT, batch * heads, 1), 2 * ROWS_OF_CONVERT, 0))
    functions = [driver.function(name, shared_bytes) for name, _, _, shared_bytes in launches]

    def run():
        for function, (_, grid, threads, shared_bytes) in zip(functions, launches):
            driver.launch(function, grid, threads, shared_bytes, arguments)
        return found, sums, rows  # keeps all memory alive

    return lambda: run()[0]


def theirs(backend, q, k, v, of_o, causal, deterministic=False):
    torch.utils.deterministic.fill_uninitialized_memory = False  # would take time
    with sdpa_kernel(backend):
        o = scaled_dot_product_attention(q, k, v, is_causal=causal)

    def run():
        torch.use_deterministic_algorithms(deterministic)
        gradients = torch.autograd.grad(o, (q, k, v), of_o, retain_graph=True)
        torch.use_deterministic_algorithms(False)
        return gradients

    return run


def exact_gradients(q, k, v, of_o, causal):
    """The gradients of one head in double precision, its o, and its lse."""
    q, k, v = (x[0, :1].detach().double().requires_grad_() for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool, device="cuda").triu(1), -math.inf)
    return torch.autograd.grad(scores.softmax(-1) @ v, (q, k, v), of_o[0, :1].double())


def compare(driver, kernels, d, n, causal):
    """[TFLOP/s of pairs, of flash, of pairs_fixed, of flash in a fixed order, of cuDNN; error of pairs, of flash]"""
    q, k, v = beside.matrices(n, d, 3, requires_grad=True)
    (of_o,) = beside.matrices(n, d, 1)
    o, lse, *_ = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, is_causal=causal)
    o, lse = o.detach().contiguous(), lse.detach().contiguous()
    atomics, fixed = (ours(driver, [kernel[1:] for kernel in kernels if kernel[0] == rung], q, k, v, o, lse, of_o, causal) for rung in ("pairs", "pairs_fixed"))
    flash, in_order = (theirs(SDPBackend.FLASH_ATTENTION, q, k, v, of_o, causal, deterministic) for deterministic in (False, True))
    works = [atomics, flash, fixed, in_order, theirs(SDPBackend.CUDNN_ATTENTION, q, k, v, of_o, causal)]
    exact = exact_gradients(q, k, v, of_o, causal)
    errors = [max(beside.error(x[0, :1], right) for x, right in zip(works[i](), exact)) for i in (0, 1)]
    del exact
    operations = 10.0 * beside.TOKENS * n * beside.WIDTH / (2 if causal else 1)
    return [operations / time / 1e9 for time in beside.alternate(works)] + errors


if __name__ == "__main__":
    beside.run(__doc__, "pairs,flash,pairs_fixed,flash_fixed,cuDNN,error_ours,error_flash", compare)
