# Loads op.so and registers what PyTorch needs besides the kernels: fake implementations, and gradients.
#
# A fake implementation computes shapes only. torch.compile calls it while it traces a model. A gradient formula calls
# ops again, never a kernel directly, so that autograd and torch.compile can follow it.
from __future__ import annotations

import torch
from torch import Tensor

from common.built import built

torch.ops.load_library(built(__file__, "op.so"))
torch.ops.speed.use_kernels(built(__file__, "kernels.ptx"))

square_plus = torch.ops.speed.square_plus.default
square_plus_backward = torch.ops.speed.square_plus_backward.default
square_plus_cpp = torch.ops.speed.square_plus_cpp.default  # the same op, with a gradient formula in C++
multiply = torch.ops.speed.multiply.default


# The compiler does not run the kernels while it traces, so these repeat the checks in op.cpp.
@torch.library.register_fake("speed::square_plus")
@torch.library.register_fake("speed::square_plus_cpp")
def _(x: Tensor, b: Tensor) -> Tensor:
    torch._check(x.dtype == b.dtype == torch.float32, lambda: f"square_plus takes float32, not {x.dtype} and {b.dtype}.")
    fits = "square_plus takes one b for each column of x"
    torch._check(x.dim() > 0 and b.dim() == 1, lambda: f"{fits}.")
    torch._check(b.shape[0] == x.shape[-1], lambda: f"{fits}, not x {list(x.shape)} and b {list(b.shape)}.")
    torch._check(x.device == b.device, lambda: f"square_plus takes x and b on one device, not {x.device} and {b.device}.")
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.register_fake("speed::square_plus_backward")
def _(g: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    alike = g.dtype == x.dtype == torch.float32 and x.dim() > 0 and g.device == x.device and g.dim() == x.dim()
    torch._check(alike, lambda: "square_plus_backward takes g and x as float32, of the same shape and on the same device.")
    for of_g, of_x in zip(g.shape, x.shape):
        torch._check(of_g == of_x, lambda: "square_plus_backward takes g and x of the same shape.")
    return torch.empty_like(x, memory_format=torch.contiguous_format), x.new_empty(x.shape[-1])


@torch.library.register_fake("speed::multiply")
def _(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.dtype == b.dtype == torch.float32 and a.device == b.device, lambda: "multiply takes float32 on one device.")
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: "multiply takes two matrices.")
    torch._check(a.shape[1] == b.shape[0], lambda: f"multiply cannot multiply {list(a.shape)} and {list(b.shape)}.")
    return a.new_empty(a.shape[0], b.shape[1])


def keep_x(ctx, inputs, output) -> None:
    ctx.save_for_backward(inputs[0])


def gradients(ctx, g: Tensor) -> tuple[Tensor, Tensor]:
    (x,) = ctx.saved_tensors
    return square_plus_backward(g, x)


torch.library.register_autograd("speed::square_plus", gradients, setup_context=keep_x)


def keep_both(ctx, inputs, output) -> None:
    ctx.save_for_backward(*inputs)


def gradients_of_gradients(ctx, by_dx: Tensor, by_db: Tensor) -> tuple[Tensor, Tensor]:
    """dx is 2 g x, and db is the sum of g over the rows."""
    g, x = ctx.saved_tensors
    return 2 * x * by_dx + by_db, 2 * g * by_dx


torch.library.register_autograd("speed::square_plus_backward", gradients_of_gradients, setup_context=keep_both)


def gradients_of_product(ctx, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    a, b = ctx.saved_tensors
    return multiply(g, b.t()) if ctx.needs_input_grad[0] else None, multiply(a.t(), g) if ctx.needs_input_grad[1] else None


torch.library.register_autograd("speed::multiply", gradients_of_product, setup_context=keep_both)
