# y = x² + b as an op that PyTorch can differentiate, compile, autocast and capture: on the CPU, on a GPU, and its kernels alone.
import logging
import os
import sys
import textwrap
from collections.abc import Callable

import torch
from torch import Tensor

from common.built import built

INSTALLED = built(__file__, "installed")
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(os.path.dirname(INSTALLED), "inductor"))  # compiled once, then only loaded
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # its advice is about building, and this program builds nothing
sys.path.insert(0, INSTALLED)
import kernels
import square_plus

OP = square_plus.square_plus
TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
PASSED, NONE = "passed", "-"


def why_not_cuda() -> str:
    if torch.version.cuda is None:
        return "this PyTorch is built without CUDA"
    if not torch._C._dispatch_has_kernel_for_dispatch_key("square_plus::forward", "CUDA"):
        return "the package is built without CUDA"
    return "" if torch.cuda.is_available() else "PyTorch sees no GPU here"


def reference(x: Tensor, b: Tensor) -> Tensor:
    """The op's formula in PyTorch operations. The checks compute it in float64 and compare."""
    return x * x + b


def compare(op: Callable[..., Tensor], formula: Callable[..., Tensor], *tensors: Tensor) -> None:
    """Compares op's result and gradients with the formula's. assert_close chooses a tolerance that suits the dtype."""
    inputs = [tensor.detach().requires_grad_() for tensor in tensors]
    exact = [tensor.double().detach().requires_grad_() for tensor in tensors]
    y, expected = op(*inputs), formula(*exact)
    g = torch.randn_like(y)
    found = [y, *torch.autograd.grad(y, inputs, g)]
    expected = [expected, *torch.autograd.grad(expected, exact, g.double())]
    torch.testing.assert_close(found, [tensor.to(y.dtype) for tensor in expected])


# The checks, for the device "cpu" or "cuda". Each raises an error if it fails.


def gradients(device: str) -> None:
    x = torch.randn(4, 3, device=device, dtype=torch.float64, requires_grad=True)
    b = torch.randn(3, device=device, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(OP, (x, b))
    torch.autograd.gradgradcheck(OP, (x, b))


def opcheck(device: str) -> None:
    first, second = torch.randn(2, 4, 3, device=device, requires_grad=True)
    for op in torch.ops.square_plus.forward.default, torch.ops.square_plus.backward.default:
        torch.library.opcheck(op, (first, second))


def strides(device: str) -> None:
    x, b = torch.randn(40, 30, device=device), torch.randn(30, 1, device=device)
    compare(OP, reference, x.t(), b)


def unaligned(device: str) -> None:
    for dtype in TYPES:
        x, b = torch.randn(2, 1000, device=device, dtype=dtype)
        compare(OP, reference, x, b)
        compare(OP, reference, x[1:], b[1:])


def autocast(device: str) -> str:
    x, b = torch.full((1,), 300.0, device=device).half(), torch.ones(1, device=device).half()
    with torch.autocast(device, dtype=torch.bfloat16):
        return f"{OP(x, b).item():g}"


def not_widened(device: str) -> str:
    """What autocast computes if no rule is registered: the op in the type of its inputs."""
    x, b = torch.full((1,), 300.0, device=device).half(), torch.ones(1, device=device).half()
    return f"{OP(x, b).item():g}"


def compiled(device: str) -> None:
    f = torch.compile(lambda x, b: 2 * OP(x.t(), b), fullgraph=True)
    for size in 30, 50:  # for the second size, PyTorch compiles f again, with a dynamic shape
        x, b = torch.randn(size, 40, device=device), torch.randn(size, device=device)
        compare(f, lambda x, b: 2 * reference(x.t(), b), x, b)


def vectorized(device: str) -> None:
    x, b = torch.randn(5, 30, 40, device=device), torch.randn(40, device=device)
    torch._C._functorch._set_vmap_fallback_enabled(False)  # without a rule, vmap now raises an error instead of calling the op in a loop
    compare(torch.vmap(OP, in_dims=(0, None)), reference, x, b)


def empty(device: str) -> None:
    y = OP(torch.empty(0, 3, device=device), torch.ones(3, device=device))
    after = torch.ones(3, device=device) + 1  # an error that was not checked would be reported here
    assert y.shape == (0, 3) and after.tolist() == [2, 2, 2], "the result of an empty input is wrong"


def captured(device: str) -> str | None:
    """A CUDA graph records what is launched on the capturing stream. A replay uses the values that the tensors have by then."""
    if device == "cpu":
        return NONE
    x, b = torch.zeros(1000, device=device), torch.ones(1000, device=device)
    OP(x, b)  # loads everything that is loaded at first use, before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = OP(x, b)
    x.fill_(3)
    graph.replay()
    torch.testing.assert_close(y, reference(x, b))


def second_device(device: str) -> str | None:
    """The tensors are on the second GPU while the first is current."""
    if device == "cpu":
        return NONE
    if torch.cuda.device_count() < 2:
        return "skipped: one GPU"
    x, b = torch.randn(2, 1000, device="cuda:1")
    compare(OP, reference, x, b)


CHECKS = {
    "gradcheck, gradgradcheck": gradients,
    "opcheck": opcheck,
    "x.t() and a broadcast b": strides,
    "x[1:], not 16-byte aligned": unaligned,
    "no elements": empty,
    "autocast: 300² + 1": autocast,
    "float16: 300² + 1": not_widened,
    "torch.compile, Inductor": compiled,
    "torch.vmap": vectorized,
    "CUDA graph": captured,
    "the second GPU": second_device,
}


def outcome(check: Callable[[str], str | None], device: str) -> str:
    try:
        return check(device) or PASSED
    except Exception as error:
        return textwrap.shorten(f"FAILED: {type(error).__name__}: {error}", 90)


def main() -> int:
    reason = why_not_cuda()
    devices = ["cpu"] if reason else ["cpu", "cuda"]
    failed = False

    print(f"{'y for x = 1 to 6':24} | {'cpu':15} | {'the kernel alone':16} | cuda")
    for dtype in TYPES:
        x, b = torch.arange(1.0, 7, dtype=dtype), torch.ones(6, dtype=dtype)
        results = {device: OP(x.to(device), b.to(device)) for device in devices}
        results["kernel"] = kernels.launch("Forward", x, b)
        cells = {place: " ".join(f"{y:g}" for y in result.tolist()) for place, result in results.items()}
        failed |= any(result.tolist() != [2, 5, 10, 17, 26, 37] for result in results.values())
        print(f"{str(dtype).removeprefix('torch.'):24} | {cells['cpu']:15} | {cells['kernel']:16} | {cells.get('cuda', 'skipped')}")

    print(f"\n{'check':26} | {'cpu':15} | cuda")
    for name, check in CHECKS.items():
        cells = [outcome(check, device) for device in devices] + (["skipped"] if reason else [])
        failed |= any(cell.startswith("FAILED") for cell in cells)
        print(f"{name:26} | {cells[0]:15} | {cells[1]}", flush=True)
    if reason:
        print(f"\ncuda is skipped: {reason}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
