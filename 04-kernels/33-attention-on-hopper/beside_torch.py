"""Compares the lesson's last kernels with PyTorch's attention on a GPU: speed and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/33-attention-on-hopper. All kernels get
the same matrices and alternate. A causal problem counts half of the operations.
"""

import ctypes
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import beside  # noqa: E402

BFLOAT16, SWIZZLE_128B, PROMOTE_256B = 9, 3, 3  # CU_TENSOR_MAP_…
COLUMNS = 64  # of a box
CACHE_BYTES = 32 << 20  # as in launcher.hpp


class Map(ctypes.Structure):
    """A CUtensorMap. It must be aligned to 64 bytes."""

    _fields_ = [("opaque", ctypes.c_uint64 * 16)]


class Arguments(ctypes.Structure):
    """The kernel's argument, as in shape.hpp."""

    _fields_ = [
        ("maps", Map * 3),
        ("attention", beside.Attention),
        ("heads", ctypes.c_int),
        ("section", ctypes.c_int),
        ("taken", ctypes.c_void_p),
        ("scales", ctypes.c_void_p * 3),  # for e4m3 only
        ("padding", ctypes.c_uint64 * 3),  # up to a multiple of 64 bytes
    ]


def describe(driver, matrices, box_rows):
    """The map of a tensor [batch, heads, n, d]."""
    batch, heads, n, d = matrices.shape
    map_, sizes, pitches = Map(), (ctypes.c_uint64 * 3)(d, n, batch * heads), (ctypes.c_uint64 * 2)(2 * d, 2 * d * n)
    box, strides = (ctypes.c_uint32 * 3)(COLUMNS, box_rows, 1), (ctypes.c_uint32 * 3)(1, 1, 1)
    buffer = ctypes.create_string_buffer(ctypes.sizeof(Map) + 64)
    aligned = (ctypes.addressof(buffer) + 63) // 64 * 64
    driver.check(
        driver.library.cuTensorMapEncodeTiled(
            ctypes.c_void_p(aligned), BFLOAT16, 3, ctypes.c_void_p(matrices.data_ptr()), sizes, pitches, box, strides, 0, SWIZZLE_128B, PROMOTE_256B, 0
        )
    )
    ctypes.memmove(ctypes.byref(map_), aligned, ctypes.sizeof(Map))
    return map_


def ours(driver, kernel, q, k, v, causal):
    """A function that computes o and lse with the lesson's kernel, and returns o."""
    name, rows, keys, threads, shared_bytes = kernel[0], *map(int, kernel[1:])
    batch, heads, n, d = q.shape
    o, lse = torch.empty_like(q), torch.empty(batch, heads, n, device=q.device)
    taken = torch.zeros(2, dtype=torch.int32, device=q.device)
    function = driver.function(name, shared_bytes)
    maps = (Map * 3)(*(describe(driver, x, height) for x, height in ((q, rows), (k, keys), (v, keys))))
    section = min(batch * heads, max(1, CACHE_BYTES // (4 * n * d)))
    argument = Arguments(maps, beside.attention(q, k, v, o, lse, causal), batch * heads, section, taken.data_ptr())
    blocks = min(-(-n // rows) * batch * heads, torch.cuda.get_device_properties(0).multi_processor_count)

    def run():
        driver.launch(function, (blocks, 1, 1), threads, shared_bytes, [argument])
        return o, lse, taken  # keeps them alive

    return lambda: run()[0]


if __name__ == "__main__":
    beside.run_forward(__doc__, ours)
