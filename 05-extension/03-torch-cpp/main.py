# y = x² + b in C++, through two doors: pybind11 binds a function, TORCH_LIBRARY makes it an operation of PyTorch.
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck

from common.built import built

warnings.filterwarnings("ignore", "Dynamo does not know how to trace")  # its page of advice; the table has a word for it
torch.ops.load_library(built(__file__, "op.so"))
sys.path.insert(0, built(__file__, "module"))
try:
    import bound  # setup.py built it there
except ModuleNotFoundError:
    print("skipped: the module of Python was not built, for want of Python.h: sudo apt-get install python3-dev")
    sys.exit(77)

OP = torch.ops.course.square_plus


# ---- what PyTorch has to know of the operation besides its kernel ----


@torch.library.register_fake("course::square_plus")
def like_x(x: Tensor, other: Tensor) -> Tensor:
    torch._check(x.device == other.device, lambda: f"square_plus: one input is on {x.device}, one on {other.device}")
    other.expand(x.shape)  # refuses what the kernel refuses
    return torch.empty_like(x)


def keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    x, b = inputs
    ctx.save_for_backward(x)
    ctx.shape = b.shape


def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
    (x,) = ctx.saved_tensors
    return torch.ops.course.square_plus_dx(x, g), g.sum_to_size(ctx.shape)


torch.library.register_autograd("course::square_plus", backward, setup_context=keep)


# Backward calls an operation, too. Its own shape and gradient, 2xg by x and by g:
torch.library.register_fake("course::square_plus_dx", like_x)


def keep_both(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def backward_of_dx(ctx: Any, h: Tensor) -> tuple[Tensor, Tensor]:
    x, g = ctx.saved_tensors
    return 2 * g * h, 2 * x * h


torch.library.register_autograd("course::square_plus_dx", backward_of_dx, setup_context=keep_both)


class ByFunction(torch.autograd.Function):
    """The older way to a gradient: for any function, but only for those who call apply."""

    forward = staticmethod(lambda x, b: bound.square_plus(x, b))
    setup_context = staticmethod(keep)
    backward = staticmethod(backward)


class SquarePlus(nn.Module):
    """A layer with one b a column, which every row shares."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.b = nn.Parameter(torch.zeros(columns))

    def forward(self, x: Tensor) -> Tensor:
        return OP(x, self.b)


# ---- the two doors compared ----

Door = Callable[[Tensor, Tensor], Tensor]


def outcome(call: Callable[[], Any]) -> str:
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__


def gradient(f: Door) -> str:
    x, b = torch.ones(2, 3), torch.ones(3, requires_grad=True)
    y = f(x, b)
    return f"db = {torch.autograd.grad(y.sum(), b)[0].tolist()}" if y.requires_grad else "none"


def shape(f: Door) -> str:
    """Tensors of the device "meta" have a shape and a type, and no numbers."""
    return str(list(f(torch.empty(2, 3, device="meta"), torch.empty(3, device="meta")).shape))


def compiled(f: Door) -> str:
    torch.compile(lambda x, b: 2 * f(x, b), backend="aot_eager", fullgraph=True)(torch.ones(2, 3), torch.ones(3))
    return "one graph"


print(f"{'door':26} | {'gradient':20} | {'shape only':12} | compiled")
for name, f in {"pybind11": bound.square_plus, "pybind11 in a Function": ByFunction.apply, "TORCH_LIBRARY": OP}.items():
    cells = [outcome(lambda: column(f)) for column in (gradient, shape, compiled)]
    print(f"{name:26} | {cells[0]:20} | {cells[1]:12} | {cells[2]}")

# ---- is it right? ----


def row(name: str, call: Callable[[], Any]) -> None:
    """Prints what the call returns; of an error, the first line."""
    try:
        print(f"{name:26} | {call()}")
    except Exception as error:
        print(f"{name:26} | {str(error).splitlines()[0]}")


x = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
b = torch.randn(3, dtype=torch.double, requires_grad=True)
every_other = torch.randn(3, 8, dtype=torch.double)[:, ::2].T.requires_grad_()
layer = SquarePlus(3)
layer(torch.ones(4, 3)).sum().backward()

print()
row("gradcheck", lambda: gradcheck(OP, (x, b)))
row("gradcheck, strides 2 and 8", lambda: gradcheck(OP, (every_other, b)))
row("gradgradcheck", lambda: gradgradcheck(OP, (x, b)))
row("opcheck", lambda: " ".join(set(torch.library.opcheck(OP, (x, b)).values())))
row("db of a layer", lambda: layer.b.grad.tolist())
row("no rows", lambda: list(OP(torch.empty(0, 3), torch.ones(3)).shape))
row("no dimension", lambda: OP(torch.tensor(3.0), torch.tensor(1.0)))
row("float16", lambda: OP(torch.tensor(200.0).half(), torch.tensor(32.0).half()))
row("bfloat16", lambda: OP(torch.tensor(200.0).bfloat16(), torch.tensor(32.0).bfloat16()))

print()
row("b of two for three columns", lambda: OP(torch.ones(2, 3), torch.ones(2)))
row("b in double", lambda: OP(torch.ones(2, 3), torch.ones(3).double()))
row("integers", lambda: OP(torch.ones(3).long(), torch.ones(3).long()))
row("b elsewhere", lambda: OP(torch.ones(3), torch.ones(3, device="meta")))
row("b is a number", lambda: OP(torch.ones(3), 1.0))
