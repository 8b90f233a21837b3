# On a GPU: the time of each way to compute y = x² + b, beside a copy that moves as many bytes in the same run, and the kernels that 2 * op(x, b) becomes.
import ctypes
from collections.abc import Callable
from ctypes import c_int, c_void_p

import torch
import triton
from torch import Tensor

import kernels
import ops
from common.built import built
from common.driver import cu, current, primary
from launch import loaded

ROWS = COLUMNS = 8192
THREADS = 256  # of nvcc's kernel
CONFIGS = [triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048, 4096, 8192) for warps in (4, 8)]


def microseconds(work: Callable[[], object]) -> float:
    return 1000 * triton.testing.do_bench(work, return_mode="median")


def with_nvcc(x: Tensor, b: Tensor, y: Tensor) -> None:
    """Launches the kernel of kernels.cu in PyTorch's stream."""
    with open(built(__file__, "kernels.ptx"), encoding="utf-8") as file, current(primary(0)):
        function, _ = loaded(file.read(), "forward")
        values = [*(c_void_p(each.data_ptr()) for each in (x, b, y)), c_int(x.shape[1])]
        pointers = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = c_void_p(torch.cuda.current_stream().cuda_stream)
        cu.cuLaunchKernel(function, x.shape[0], triton.cdiv(x.shape[1], THREADS), 1, THREADS, 1, 1, 0, stream, pointers, None)


def kernels_of(work: Callable[[], object]) -> int:
    """How many kernels work() runs."""
    work()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        work()
        torch.cuda.synchronize()
    names = [event.name.lower() for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return sum("memcpy" not in name and "memset" not in name for name in names)


@torch.inference_mode()
def show() -> None:
    x, g = torch.randn(2, ROWS, COLUMNS, dtype=torch.float16, device="cuda")
    b, y, odd = x[:, 0].clone(), torch.empty_like(x), x[:, 1:].contiguous()
    tuned = triton.autotune(configs=CONFIGS, key=["columns"])(kernels.forward)
    formula, network = torch.compile(lambda x, b: x * x + b[:, None]), {name: torch.compile(lambda x, b, op=op: 2 * op(x, b)) for name, op in named().items()}
    ways = {
        "eager": (lambda: x * x + b[:, None], 4),
        "torch.compile of the formula": (lambda: formula(x, b), 4),
        "custom_op": (lambda: ops.opaque(x, b), 4),
        "triton_op": (lambda: ops.visible(x, b), 4),
        f"custom_op, {COLUMNS - 1} columns": (lambda: ops.opaque(odd, b), 4),
        "autotuned": (lambda: tuned[lambda chosen: (ROWS, triton.cdiv(COLUMNS, chosen["BLOCK"]))](x, b, y, COLUMNS), 4),
        "nvcc": (lambda: with_nvcc(x, b, y), 4),
        "backward": (lambda: ops.gradients(g, x), 6),
        **{f"2 * {name}, compiled": (lambda compiled=compiled: compiled(x, b), 4) for name, compiled in network.items()},
    }
    copied = microseconds(lambda: y.copy_(x)) / 4  # for each byte of an element
    print(f"\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {ROWS} x {COLUMNS} elements of float16")
    print(f"{'':29}| kernels |      µs | of bound")
    for name, (work, bytes_moved) in ways.items():
        taken = microseconds(work)
        print(f"{name:29}| {kernels_of(work):7} | {taken:7.1f} | {copied * bytes_moved / taken:8.0%}", flush=True)
    print(f"autotune chose {tuned.best_config}")


def named() -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    return {"custom_op": ops.opaque, "triton_op": ops.visible}
