# Python's side of the op: what makes one differentiable function of two operators.
import re
import sys
from collections.abc import Callable

import torch

from common.built import built

Op = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def load() -> None:
    """Loads the two libraries, and tells them where the kernels are that run on host memory."""
    try:
        torch.ops.load_library(built(__file__, "op.so"))
    except OSError as error:
        runtime = re.search(r"libcudart\S*(?=: cannot open)", str(error.__cause__ or error))
        if not runtime:
            raise
        print(f"skipped: the toolkit's runtime is {runtime[0]}, PyTorch is for CUDA {torch.version.cuda}, and the loader finds no such file")
        sys.exit(77)
    torch.ops.load_library(built(__file__, "mistakes.so"))
    torch.ops.square.use_image(built(__file__, "kernels.ptx"))


def op_of(forward: Op, backward: Op) -> Op:
    """y = x² + b, with its gradient."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, b):
            ctx.save_for_backward(x)
            return forward(x, b)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return backward(x, g), g

    # PyTorch broadcasts, and what it broadcasts forward it sums backward.
    return lambda x, b: Square.apply(*torch.broadcast_tensors(x, b))


def op() -> Op:
    return op_of(torch.ops.square.forward, torch.ops.square.backward)


def mistaken(name: str) -> Op:
    """One of mistakes.cpp: contiguous, index, check, comma, bound, stream or guard."""
    return op_of(getattr(torch.ops.mistakes, f"{name}_forward"), getattr(torch.ops.mistakes, f"{name}_backward"))
