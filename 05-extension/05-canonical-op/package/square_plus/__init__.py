"""y = x² + b for PyTorch, with gradients, on the CPU and on NVIDIA GPUs.

Importing this package loads the compiled library and registers it. It does not start CUDA, so a process may still fork.
"""

import functools
import pathlib
from typing import Any

import torch
from torch import Tensor

# The library is called _C.abi3.so, or _C.cpython-313t-x86_64-linux-gnu.so in a free-threaded Python.
torch.ops.load_library(next(pathlib.Path(__file__).parent.glob("_C.*so")))
ops = torch.ops.square_plus


def square_plus(x: Tensor, b: Tensor) -> Tensor:
    """y = x² + b. As everywhere in PyTorch, dimensions of size 1 are broadcast."""
    return ops.forward(*torch.broadcast_tensors(x, b))


@torch.library.register_fake("square_plus::forward")
@torch.library.register_fake("square_plus::backward")
def like_first(first: Tensor, second: Tensor) -> Tensor:
    """What torch.compile needs: the result's shape, dtype, device and strides, without computing it."""
    alike = first.shape == second.shape and first.dtype == second.dtype and first.device == second.device
    torch._check(alike, lambda: "square_plus: the two tensors must have the same shape, dtype and device")  # like check_alike
    return torch.empty_like(first, memory_format=torch.contiguous_format)


def save_x(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0])  # without b, which would stay in memory until the backward pass


def gradients(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    (x,) = ctx.saved_tensors
    of_x, of_b = ctx.needs_input_grad  # data, for example, needs no gradient
    return ops.backward(x, g) if of_x else None, g if of_b else None


def save_inputs(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def second_gradients(ctx: Any, h: Tensor) -> tuple[Tensor | None, Tensor | None]:
    x, g = ctx.saved_tensors
    of_x, of_g = ctx.needs_input_grad
    return ops.backward(g, h) if of_x else None, ops.backward(x, h) if of_g else None


def batched(op: Any, info: Any, in_dims: tuple[int | None, int | None], first: Tensor, second: Tensor) -> tuple[Tensor, int]:
    """What torch.vmap needs: one call for a whole batch. in_dims says which dimension of each input is the batch, if it has one."""
    tensors = [tensor if dim is None else tensor.movedim(dim, 0) for tensor, dim in zip((first, second), in_dims)]
    return op(*torch.broadcast_tensors(*tensors)), 0  # the batch is dimension 0 of the result


torch.library.register_autograd("square_plus::forward", gradients, setup_context=save_x)
torch.library.register_autograd("square_plus::backward", second_gradients, setup_context=save_inputs)

for op in ops.forward.default, ops.backward.default:
    torch.library.register_vmap(op, functools.partial(batched, op))

# Inside torch.autocast, compute in float32: squares overflow float16 from 256 on.
for device in "cpu", "cuda":
    torch.library.register_autocast("square_plus::forward", device, torch.float32)
