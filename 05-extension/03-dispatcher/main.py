# y = x² + b in C++, made available to Python in two ways: pybind11 binds a function, TORCH_LIBRARY registers an operation.
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck

from common.built import built

warnings.filterwarnings("ignore", "Dynamo does not know how to trace")  # a page of advice; the table reports the failure in one word
torch.ops.load_library(built(__file__, "op.so"))
sys.path.insert(0, built(__file__, "module"))
try:
    import bound  # built by setup.py
except ModuleNotFoundError:
    print("skipped: the Python module could not be built without Python.h. Type: sudo apt-get install python3-dev")
    sys.exit(77)

OP = torch.ops.course.square_plus


# ---- what PyTorch must know about an operation besides its kernel ----


@torch.library.register_fake("course::square_plus")
def like_x(x: Tensor, other: Tensor) -> Tensor:
    torch._check(x.device == other.device, lambda: f"square_plus takes inputs on one device, not on {x.device} and {other.device}.")
    other.expand(x.shape)  # rejects the shapes that the kernel rejects
    return torch.empty_like(x)


def keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    x, b = inputs
    ctx.save_for_backward(x)
    ctx.shape = b.shape


def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
    (x,) = ctx.saved_tensors
    return torch.ops.course.square_plus_dx(x, g), g.sum_to_size(ctx.shape)


torch.library.register_autograd("course::square_plus", backward, setup_context=keep)


# Backward calls another operation, which needs a shape and a gradient too: 2xg, differentiated with respect to x and g.
torch.library.register_fake("course::square_plus_dx", like_x)


def keep_both(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def backward_of_dx(ctx: Any, h: Tensor) -> tuple[Tensor, Tensor]:
    x, g = ctx.saved_tensors
    return 2 * g * h, 2 * x * h


torch.library.register_autograd("course::square_plus_dx", backward_of_dx, setup_context=keep_both)


@torch.library.register_fake("course::square_plus_into")
def nothing(x: Tensor, b: Tensor, y: Tensor) -> None:
    """The operation returns nothing. Its schema says that it writes to y."""


# ---- other ways to make the C++ function differentiable ----


class ByFunction(torch.autograd.Function):
    """The older way. It works for any function, but only if the caller uses apply."""

    forward = staticmethod(lambda x, b: bound.square_plus(x, b))
    setup_context = staticmethod(keep)
    backward = staticmethod(backward)


@torch.library.custom_op("course::square_plus_py", mutates_args=())
def by_custom_op(x: Tensor, b: Tensor) -> Tensor:
    """Turns a Python function into an operation. The schema follows from the annotations."""
    return bound.square_plus(x, b)


by_custom_op.register_fake(like_x)
by_custom_op.register_autograd(backward, setup_context=keep)


class SquarePlus(nn.Module):
    """A layer with one b for each column, shared by all rows."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.b = nn.Parameter(torch.zeros(columns))

    def forward(self, x: Tensor) -> Tensor:
        return OP(x, self.b)


# ---- the ways compared ----

Way = Callable[[Tensor, Tensor], Tensor]


def outcome(call: Callable[[], Any]) -> str:
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__


def gradient(f: Way) -> str:
    x, b = torch.ones(2, 3), torch.ones(3, requires_grad=True)
    y = f(x, b)
    return f"db = {torch.autograd.grad(y.sum(), b)[0].tolist()}" if y.requires_grad else "none"


def shape(f: Way) -> str:
    """Tensors on the device "meta" have a shape and a type, but no data."""
    return str(list(f(torch.empty(2, 3, device="meta"), torch.empty(3, device="meta")).shape))


def compiled(f: Way) -> str:
    torch.compile(lambda x, b: 2 * f(x, b), backend="aot_eager", fullgraph=True)(torch.ones(2, 3), torch.ones(3))
    return "one graph"


ways = {"pybind11": bound.square_plus, "pybind11 in a Function": ByFunction.apply, "pybind11 in a custom_op": by_custom_op, "TORCH_LIBRARY": OP}
print(f"{'':27} | {'gradient':20} | {'shape only':12} | compiled")
for name, f in ways.items():
    cells = [outcome(lambda: column(f)) for column in (gradient, shape, compiled)]
    print(f"{name:27} | {cells[0]:20} | {cells[1]:12} | {cells[2]}")

# ---- is it correct? ----


def row(name: str, call: Callable[[], Any]) -> None:
    """Prints what the call returns, or the first line of the error."""
    try:
        print(f"{name:27} | {call()}")
    except Exception as error:
        print(f"{name:27} | {str(error).splitlines()[0]}")


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
row("opcheck of the custom_op", lambda: " ".join(set(torch.library.opcheck(by_custom_op, (x, b)).values())))
row("db of a layer", lambda: layer.b.grad.tolist())
row("an empty tensor", lambda: list(OP(torch.empty(0, 3), torch.ones(3)).shape))
row("scalar tensors", lambda: OP(torch.tensor(3.0), torch.tensor(1.0)))
row("float16", lambda: OP(torch.tensor(200.0).half(), torch.tensor(32.0).half()))
row("bfloat16", lambda: OP(torch.tensor(200.0).bfloat16(), torch.tensor(32.0).bfloat16()))

into = torch.ops.course.square_plus_into


def write_into(x: Tensor, b: Tensor) -> list[float]:
    """Compiled, because the compiler relies on the schema."""

    def model(x: Tensor, b: Tensor) -> Tensor:
        y = torch.zeros_like(x)
        into(x, b, y)
        return y

    return torch.compile(model, backend="aot_eager", fullgraph=True)(x, b).tolist()


print()
row("written into y, compiled", lambda: write_into(torch.tensor([1.0, 2.0, 3.0]), torch.ones(3)))
row("opcheck of square_plus_into", lambda: " ".join(set(torch.library.opcheck(into, (torch.ones(3), torch.ones(3), torch.zeros(3))).values())))

print()
row("b of two for three columns", lambda: OP(torch.ones(2, 3), torch.ones(2)))
row("b in double", lambda: OP(torch.ones(2, 3), torch.ones(3).double()))
row("integers", lambda: OP(torch.ones(3).long(), torch.ones(3).long()))
row("b on another device", lambda: OP(torch.ones(3), torch.ones(3, device="meta")))
row("b is a number", lambda: OP(torch.ones(3), 1.0))
