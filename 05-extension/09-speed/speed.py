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


@torch.library.register_fake("speed::square_plus")
@torch.library.register_fake("speed::square_plus_cpp")
def _(x: Tensor, b: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.register_fake("speed::square_plus_backward")
def _(g: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x, memory_format=torch.contiguous_format), x.new_empty(x.shape[-1])


@torch.library.register_fake("speed::multiply")
def _(a: Tensor, b: Tensor) -> Tensor:
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
