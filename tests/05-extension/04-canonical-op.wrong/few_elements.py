# Rejected with: "an op that does not check its launch is rejected"
# A hundred elements fit in one block, whatever one asks for.
from collections.abc import Callable

import torch


def fault_of(op: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], launches: Callable[[], int], device: str) -> str:
    """What is wrong with this op, in a few words; an empty string if nothing was found.

    op(x, b) is y = x² + b for tensors on this device ("cpu", where they are copied to the GPU and back, or "cuda"), differentiable. launches() tells how
    many of our kernels have been launched so far. Seven ops each have one mistake (see mistakes.cpp), and one has none: results that differ
    in the last digits only, because a kernel rounds once where PyTorch rounds twice, are no mistake.
    """
    # Fresh numbers each time: the memory of y may still hold yesterday's, and they would be right.
    x, b = torch.rand(2, 100, device=device)
    before = launches()
    y = op(x, b)
    if launches() == before:
        return "it launches no kernel of ours"
    if not torch.allclose(y, x * x + b):
        return "some of many elements are wrong"

    x, b = torch.rand(2, 20, 30, device=device)
    if not torch.allclose(op(x.t(), b.t()), (x * x + b).t()):
        return "it takes a transposed matrix for one in order"

    x, b, g = torch.rand(3, 100, device=device, dtype=torch.float64)
    x.requires_grad_(), b.requires_grad_()
    op(x, b).backward(g)
    if x.grad is None or not torch.allclose(x.grad, 2 * x * g) or b.grad is None or not torch.allclose(b.grad, g):
        return "a gradient is wrong"

    if device == "cuda":
        busy = torch.rand(4096, 4096, device=device)
        x, b = torch.rand(2, 1000, device=device)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                busy = busy @ busy
            x.fill_(3)
            y = op(x, b)
            if not torch.allclose(y, 9 + b):
                return "it does not wait for its turn in PyTorch's stream"

    if device == "cuda" and torch.cuda.device_count() > 1:
        x, b = torch.rand(2, 1000, device="cuda:1")
        try:
            y = op(x, b)  # the current device is the first
            torch.cuda.synchronize("cuda:0")
            if not torch.allclose(y, x * x + b):
                return "it is wrong on a device that is not the current one"
        except RuntimeError:
            return "it fails on a device that is not the current one"
    return ""
