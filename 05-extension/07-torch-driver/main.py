# y = x² + b for PyTorch, from a string: compiled by NVRTC, and launched by cuLaunchKernel in PyTorch's context and stream.
import ctypes
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from ctypes import byref, c_float, c_size_t, c_uint, c_void_p

import torch

import nvrtc
from common.driver import cu, current, primary
from dlpack import Memory
from kernels import Kernels

SOURCE = """
extern "C" __global__ void forward(const Real* x, const Real* b, Real* y, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] * x[i] + b[i];
}
extern "C" __global__ void backward(const Real* x, const Real* g, Real* dx, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) dx[i] = 2 * x[i] * g[i];
}
"""
IN_C = {torch.float32: "float", torch.float64: "double"}


def real_of(*tensors: torch.Tensor) -> tuple[str]:
    """The option that defines Real. All tensors must have this type, because a kernel gets only addresses."""
    types = {tensor.dtype for tensor in tensors}
    if len(types) > 1 or not types <= IN_C.keys():
        raise TypeError(f"All tensors must be float32, or all float64, not {', '.join(sorted(map(str, types)))}.")
    return (f"-DReal={IN_C[types.pop()]}",)


def op_of(kernels: Kernels) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The op, with its gradient."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, b):
            x, b = x.contiguous(), b.contiguous()
            y = torch.empty_like(x)
            kernels.launch("forward", real_of(x, b, y), x, b, y)
            ctx.save_for_backward(x)
            return y

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            dx, arrived = torch.empty_like(x), g.contiguous()
            kernels.launch("backward", real_of(x, arrived, dx), x, arrived, dx)
            return dx, g

    # PyTorch broadcasts b before our op, so it also sums b's gradient.
    return lambda x, b: Square.apply(*torch.broadcast_tensors(x, b))


def row(what: str, kernels: Kernels, device: str, dtype: torch.dtype) -> bool:
    """Calls the op once. Prints where its kernel came from, how long the call took, and the result."""
    x = torch.arange(1, 7, device=device, dtype=dtype)
    b = torch.ones((), device=device, dtype=dtype)
    start = time.perf_counter()
    y = op_of(kernels)(x, b).tolist()
    taken = 1000 * (time.perf_counter() - start)
    right = y == [2, 5, 10, 17, 26, 37]
    print(f"{what:18} | {kernels.came_from:8} | {taken:7.2f} ms | {'2 5 10 17 26 37' if right else 'WRONG'}")
    return right


def is_captured(op: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> bool:
    """Whether the kernel is in PyTorch's current stream. A graph records only that stream, and a replay reads the new x."""
    x, b = torch.zeros(6, device="cuda"), torch.ones(6, device="cuda")
    op(x, b)  # compiles and loads, which must not happen during a capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = op(x, b)
    x.fill_(3)
    graph.replay()
    return y.tolist() == [10] * 6


def launched_in(context: c_void_p, kernels: Kernels, stream: c_void_p) -> str:
    """Loads the kernel into this context, and launches it there, in a stream of PyTorch's context and on memory of that context."""
    memory, y = c_void_p(), (c_float * 6)()
    with current(primary(0)):
        cu.cuMemAlloc_v2(byref(memory), c_size_t(4 * 6))
        cu.cuMemsetD32_v2(memory, 0x40000000, c_size_t(6))  # 2 as a float
        cu.cuCtxSynchronize()  # no stream of another context waits for this one's
    values = [memory, memory, memory, c_uint(6)]
    arguments = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    try:
        with current(context):
            options = (f"--gpu-architecture={nvrtc.architecture(0)}", "-DReal=float")
            function = kernels.function("forward", options, context)
            cu.cuLaunchKernel(function, 1, 1, 1, 6, 1, 1, 0, stream, arguments, None)
            cu.cuStreamSynchronize(stream)  # nor does cuMemFree wait for a kernel of another context than the memory's
            cu.cuMemcpyDtoH_v2(y, memory, c_size_t(4 * 6))
        return "launched" if list(y) == [6] * 6 else "WRONG"
    except RuntimeError as error:
        return str(error)
    finally:
        with current(primary(0)):
            cu.cuMemFree_v2(memory)


def which_context(kernels: Kernels) -> bool:
    """The stream belongs to the primary context, like every stream of PyTorch's."""
    own, stream = c_void_p(), c_void_p()
    cu.cuCtxCreate_v2(byref(own), 0, 0)
    cu.cuCtxPopCurrent_v2(byref(c_void_p()))
    with current(primary(0)):
        cu.cuStreamCreate(byref(stream), 1)  # CU_STREAM_NON_BLOCKING
    results = {
        "primary context": launched_in(primary(0), kernels, stream),
        "another context": launched_in(own, kernels, stream),
        "its default stream": launched_in(own, kernels, c_void_p()),
    }
    for name, result in results.items():
        print(f"{name:18} | {result}")
    cu.cuCtxDestroy_v2(own)
    return results["primary context"] == "launched"


def memory_of_the_driver(op: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], device: str) -> bool:
    """Allocates with the driver API and computes with the memory as a tensor. Prints whether it was copied, and when it was freed."""
    address, freed = c_void_p(), []
    with current(primary(0)):
        if device == "cuda":
            cu.cuMemAlloc_v2(byref(address), c_size_t(4 * 6))
        else:
            cu.cuMemHostAlloc(byref(address), c_size_t(4 * 6), 0)

    def free() -> None:
        with current(primary(0)):
            (cu.cuMemFree_v2 if device == "cuda" else cu.cuMemFreeHost)(address)
        freed.append(True)

    x = torch.from_dlpack(Memory(address.value, 6, device, free))
    x.copy_(torch.arange(1, 7))
    right = op(x, torch.ones((), device=device)).tolist() == [2, 5, 10, 17, 26, 37]
    right &= x.data_ptr() == address.value and not freed
    part = x[2:]
    del x
    right &= not freed  # `part` still uses the memory
    del part
    right &= bool(freed)
    print(f"DLPack             | {'not copied, and freed with the last tensor' if right else 'WRONG'}")
    return right


def main() -> int:
    if not nvrtc.is_here():
        print("skipped: found no NVRTC that works with this driver")
        return 77
    seen = torch.cuda.is_available()
    device = "cuda" if seen else "cpu"
    print(f"PyTorch's tensors are on: {device}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, second = Kernels(SOURCE, folder), Kernels(SOURCE, folder)
        right = row("float32", first, device, torch.float32)
        right &= row("float32, again", first, device, torch.float32)
        right &= row("float64", first, device, torch.float64)
        right &= row("a new table", second, device, torch.float32)

        x = torch.randn(3, 4, device=device, dtype=torch.float64, requires_grad=True)
        b = torch.randn(4, device=device, dtype=torch.float64, requires_grad=True)
        passed = torch.autograd.gradcheck(op_of(first), (x, b), raise_exception=False)
        print(f"gradcheck          | {'passed' if passed else 'FAILED'}")

        right &= which_context(first)
        right &= memory_of_the_driver(op_of(first), device)
        captured = not seen or is_captured(op_of(first))
        print(f"in a CUDA graph    | {('captured' if captured else 'NOT captured') if seen else 'skipped: PyTorch sees no GPU here'}")
    return 0 if right and passed and captured else 1


if __name__ == "__main__":
    sys.exit(main())
