# y = x² + b as a PyTorch operation, with more and with less of what PyTorch must know about it.
import logging
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck

from common.built import built

torch.ops.load_library(built(__file__, "op.so"))

OP, BARE, COMPOSITE = torch.ops.course.square_plus, torch.ops.course.square_plus_bare, torch.ops.course.square_plus_composite


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


# ---- other ways to say what PyTorch must know ----


class ByFunction(torch.autograd.Function):
    """The older way to supply a gradient formula. It works for any function, but only if the caller uses apply."""

    forward = staticmethod(lambda x, b: BARE(x, b))
    setup_context = staticmethod(keep)
    backward = staticmethod(backward)


@torch.library.custom_op("course::square_plus_py", mutates_args=())
def by_custom_op(x: Tensor, b: Tensor) -> Tensor:
    """Any Python function becomes an operation. The schema follows from the annotations."""
    pairs = zip(x.flatten().tolist(), b.expand(x.shape).flatten().tolist())
    return torch.tensor([x * x + b for x, b in pairs], dtype=x.dtype).view(x.shape)


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
logging.getLogger("torch.export").setLevel(logging.CRITICAL)  # the table reports the failure
warnings.filterwarnings("ignore", "`isinstance", FutureWarning)  # from PyTorch's own code, in torch.export


def outcome(call: Callable[[], str]) -> str:
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def gradient(f: Way) -> str:
    x, b = torch.ones(2, 3), torch.ones(3, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(x, b).sum().backward()
    return f"{b.grad.tolist() if b.grad is not None else None}{' and a warning' if caught else ''}"


def shape(f: Way) -> str:
    """Tensors on the device "meta" have a shape and a type, but no data."""
    return str(list(f(torch.empty(2, 3, device="meta"), torch.empty(3, device="meta")).shape))


def compiled(f: Way) -> str:
    torch.compile(lambda x, b: 2 * f(x, b), backend="aot_eager", fullgraph=True)(torch.ones(2, 3), torch.ones(3))
    return "one graph"


def exported(f: Way) -> str:
    """The operations in the exported program of 2 * f(x, b)."""

    class Doubled(nn.Module):
        def forward(self, x: Tensor, b: Tensor) -> Tensor:
            return 2 * f(x, b)

    program = torch.export.export(Doubled(), (torch.ones(2, 3), torch.ones(3))).run_decompositions()
    return ", ".join(node.target.name().split("::")[1].split(".")[0] for node in program.graph.nodes if node.op == "call_function")


ways = {"bare": BARE, "bare, in a Function": ByFunction.apply, "custom_op": by_custom_op, "complete": OP, "composite": COMPOSITE}
print(f"{'':19} | {'b.grad':18} | {'shape only':19} | {'compiled':11} | exported")
for name, f in ways.items():
    cells = [outcome(lambda: column(f)) for column in (gradient, shape, compiled, exported)]
    print(f"{name:19} | {cells[0]:18} | {cells[1]:19} | {cells[2]:11} | {cells[3]}")

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
