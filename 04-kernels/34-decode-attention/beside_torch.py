"""Compares the lesson's last kernels with PyTorch's attention on a GPU: speed and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/34-decode-attention. All kernels run in
graphs, alternate, and get the same queries, keys and values: the lesson's from pages in a mixed order, PyTorch's from
contiguous tensors.
"""

import ctypes
import math
import pathlib
import statistics
import subprocess
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import beside  # noqa: E402

KV_HEADS, GROUP, WIDTH, PAGE = 8, 4, 128, 16
LAUNCHES, ROUNDS, MILLISECONDS = 20, 3, 30.0
K_SCALE, V_SCALE = 1 / 64, 1 / 64


class Decode(ctypes.Structure):
    """The kernel's argument, as in shape.hpp."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("q", "k", "v", "k_scales", "v_scales", "table", "lengths", "o", "lse", "parts", "done")),
        *((name, ctypes.c_int) for name in ("requests", "kv_heads", "group", "pitch", "splits")),
        ("scale", ctypes.c_float),
    ]


def in_pages(cache, order):
    """The pages of a tensor [requests, heads, keys, elements], in the order of their new numbers."""
    requests, heads, keys, width = cache.shape
    pages = torch.empty(requests * keys // PAGE, heads, PAGE, width, device=cache.device, dtype=cache.dtype)
    per_request = keys // PAGE
    for r in range(requests):
        pages[order[r * per_request : (r + 1) * per_request]] = cache[r].view(heads, per_request, PAGE, width).transpose(0, 1)
    return pages


def ours(driver, kernel, q, k, v, table, scales):
    """A function that computes o with one of the lesson's kernels, from pages."""
    name, blocks, threads, shared_bytes, floats = kernel[0], *map(int, kernel[1:])
    requests = q.shape[0]
    pitch = table.numel() // requests
    kept = [
        torch.full((requests,), pitch * PAGE, device="cuda", dtype=torch.int32),
        torch.empty_like(q),
        torch.empty(requests * KV_HEADS * GROUP, device="cuda"),
        torch.empty(floats, device="cuda"),
        torch.zeros(requests * KV_HEADS, device="cuda", dtype=torch.int32),
    ]
    addresses = (x.data_ptr() for x in (q, k, v, *scales, table, *kept))
    argument = Decode(*addresses, requests, KV_HEADS, GROUP, pitch, 1, 1 / math.sqrt(WIDTH))
    function = driver.function(name, shared_bytes)

    def run():
        driver.launch(function, (blocks, 1, 1), threads, shared_bytes, [argument])
        return kept[1]

    return run


def theirs(backend, q, k, v):
    def run():
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, enable_gqa=True)

    return run


def in_graph(work):
    """A function that runs `work` LAUNCHES times in a graph."""
    for _ in range(2):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            work()
    return graph.replay


def exact(q, k, v):
    """The first request's output in double precision."""
    scores = q[0].view(KV_HEADS, GROUP, WIDTH).double() @ k[0].double().transpose(-1, -2) / math.sqrt(WIDTH)
    return (scores.softmax(-1) @ v[0].double()).view(-1, 1, WIDTH)


def compare(driver, kernels, requests, keys):
    """[µs of ours, of ours with e4m3, of flash, of cuDNN; error of each]"""
    q = torch.randn(requests, KV_HEADS * GROUP, 1, WIDTH, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(requests, KV_HEADS, keys, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    order = torch.randperm(requests * keys // PAGE, device="cuda")
    table = order.to(torch.int32)
    scales = [torch.full((KV_HEADS,), scale, device="cuda") for scale in (K_SCALE, V_SCALE)]
    pages = [in_pages(x, order) for x in (k, v)]
    small = [(x.float() / scale if x.numel() < 1 << 28 else x / scale).to(torch.float8_e4m3fn) for x, scale in zip(pages, (K_SCALE, V_SCALE))]
    works = [ours(driver, kernels[0], q, *pages, table, scales), ours(driver, kernels[1], q, *small, table, scales)]
    works += [theirs(backend, q, k, v) for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION)]
    right = exact(q, k, v)
    errors = [beside.error(work()[0], right) for work in works]
    del right
    replays = [in_graph(work) for work in works]
    times = [[beside.milliseconds(replay, MILLISECONDS) * 1e3 / LAUNCHES for replay in replays] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*times)] + errors


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    folder = pathlib.Path(sys.argv[1]).resolve()
    torch.zeros(1, device="cuda")  # makes PyTorch's context current
    driver = beside.Driver(folder / "kernels.ptx")
    listed = subprocess.run([folder / "main", "--list"], stdout=subprocess.PIPE, text=True, check=True)
    kernels = [line.split() for line in listed.stdout.splitlines()]
    lines = [f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}: microseconds in a graph, and errors relative to double precision"]
    lines.append("requests,keys,ours,fp8,flash,cuDNN,error_ours,error_fp8,error_flash,error_cuDNN")
    print("\n".join(lines), flush=True)
    for requests in (1, 4, 16, 64):
        for keys in (4096, 16384, 65536):
            numbers = compare(driver, [kernel[1:] for kernel in kernels if int(kernel[0]) == requests], requests, keys)
            lines.append(f"{requests},{keys}," + ",".join(f"{x:.1f}" for x in numbers[:4]) + "," + ",".join(f"{x:.5f}" for x in numbers[4:]))
            print(lines[-1], flush=True)
            torch.cuda.empty_cache()
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
