# The same op for PyTorch twice: as custom_op, which hides the kernel from the compiler, and as triton_op, which shows it.
import torch
import triton
from torch import Tensor

import kernels
from launch import launch

BLOCK = 1024
FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def blocks(x: Tensor) -> tuple[int, int]:
    return x.shape[0], triton.cdiv(x.shape[1], BLOCK)


def check(x: Tensor, b: Tensor) -> None:
    """A kernel gets addresses and sizes, so it cannot check anything."""
    torch._check(x.dim() == 2 and b.dim() == 1 and b.shape[0] == x.shape[0], lambda: "square_plus: x must be a matrix, and b needs one value for each row")
    torch._check(x.dtype in FLOATS and b.dtype == x.dtype, lambda: f"square_plus: takes float16, bfloat16 or float32, not {x.dtype} and {b.dtype}")
    torch._check(x.device == b.device, lambda: f"square_plus: x is on {x.device}, but b is on {b.device}")


@torch.library.custom_op("square::opaque", mutates_args=())
def opaque(x: Tensor, b: Tensor) -> Tensor:
    check(x, b)
    y = x.new_empty(x.shape)
    launch(kernels.forward, blocks(x), x.contiguous(), b.contiguous(), y, x.shape[1], BLOCK=BLOCK)
    return y


@opaque.register_fake
def shape_of_opaque(x: Tensor, b: Tensor) -> Tensor:
    check(x, b)
    return x.new_empty(x.shape)


@torch.library.triton_op("square::visible", mutates_args=())
def visible(x: Tensor, b: Tensor) -> Tensor:
    check(x, b)
    y = x.new_empty(x.shape)
    torch.library.wrap_triton(kernels.forward)[blocks(x)](x.contiguous(), b.contiguous(), y, x.shape[1], BLOCK=BLOCK)
    return y


@visible.register_kernel("cpu")
def visible_on_cpu(x: Tensor, b: Tensor) -> Tensor:
    """Triton's launcher takes tensors on a GPU only."""
    return opaque(x, b)


@torch.library.custom_op("square::gradients", mutates_args=())
def gradients(g: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """dx and db. Each program of the first kernel writes one partial sum; the second kernel adds them up."""
    g, x = g.contiguous(), x.contiguous()
    dx, db = x.new_empty(x.shape), x.new_zeros(x.shape[0])
    rows, across = blocks(x)
    partial = x.new_empty((rows, across), dtype=torch.float32)
    launch(kernels.backward, (rows, across), g, x, dx, partial, x.shape[1], BLOCK=BLOCK)
    if across:
        launch(kernels.add_partial, (rows,), partial, db, across, BLOCK=min(BLOCK, triton.next_power_of_2(across)))
    return dx, db


@gradients.register_fake
def shapes_of_gradients(g: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty(x.shape[0])


def keep_x(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def of_both(ctx, g):
    return torch.ops.square.gradients(g, *ctx.saved_tensors)


for op in opaque, visible:
    op.register_autograd(of_both, setup_context=keep_x)
