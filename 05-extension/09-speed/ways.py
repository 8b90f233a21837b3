# The ways to compute the network that main.py measures: eight layers y = x² + b, forward and backward.
#
# A way is a function of (x, bs, g) that returns y, dx and every db. torch.compile and CUDA graphs specialize on shapes
# and addresses, so `prepare` makes a way for given data.
from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from dataclasses import dataclass

import torch

import speed
from common.built import built

Tensors = tuple[torch.Tensor, ...]
Data = tuple[torch.Tensor, Tensors, torch.Tensor]  # x, a b for each layer, and the gradient that arrives
Op = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
LAYERS = 8


def eager(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return x * x + b


def network(op: Op) -> Callable[..., torch.Tensor]:
    def layers(x: torch.Tensor, *bs: torch.Tensor) -> torch.Tensor:
        for b in bs:
            x = op(x, b)
        return x

    return layers


def step(model: Callable[..., torch.Tensor], data: Data) -> Tensors:
    """Forward and backward through autograd."""
    x, bs, g = data
    y = model(x, *bs)
    return y, *torch.autograd.grad(y, (x, *bs), g)


def without_autograd(data: Data) -> Tensors:
    """The same kernels in the same order. The caller applies the chain rule instead of autograd.

    In inference mode, a call skips the Python code that register_autograd has added to the op. Under no_grad, it would still run.
    """
    x, bs, g = data
    with torch.inference_mode():
        y, inputs, found = x, [], []
        for b in bs:
            inputs.append(y)
            y = speed.square_plus(y, b)
        for x in reversed(inputs):
            g, db = speed.square_plus_backward(g, x)
            found.append(db)
    return y, g, *reversed(found)


def graphed(model: Callable[..., torch.Tensor], data: Data) -> Callable[[], Tensors]:
    """Captures forward and backward into a CUDA graph. A replay launches all kernels with one call, on the same addresses."""
    x, bs, g = data
    data = x.detach().requires_grad_(), tuple(b.detach().requires_grad_() for b in bs), g  # not yet known to autograd in another stream
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):  # the first runs load and allocate, which must not be captured
            step(model, data)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        found = step(model, data)
    return lambda: (graph.replay(), found)[1]


def compiled(model: Callable[..., torch.Tensor], mode: str | None = None) -> Callable[..., torch.Tensor]:
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(pathlib.Path(built(__file__, "inductor"))))
    return torch.compile(model, dynamic=False, mode=mode)  # dynamic=False: a kernel for each shape, its best case


def reducing_overhead(op: Op, data: Data) -> Callable[[], Tensors]:
    """mode="reduce-overhead" captures CUDA graphs. Each step may overwrite the outputs of the step before."""
    model = compiled(network(op), "reduce-overhead")

    def work() -> Tensors:
        torch.compiler.cudagraph_mark_step_begin()
        return step(model, data)

    return work


def launches(data: Data) -> Callable[[], Tensors]:
    """Only the two launches of each layer, from a loop in C++. The result is not the network's: every layer gets the same input."""
    x, bs, g = (data[0].detach(), [b.detach() for b in data[1]], data[2])
    y, dx, db = torch.empty_like(x), torch.empty_like(x), torch.empty_like(bs[0])
    return lambda: (torch.ops.speed.launches(x, bs[0], g, y, dx, db, LAYERS), (y, dx, db))[1]


@dataclass(frozen=True)
class Way:
    name: str
    prepare: Callable[[Data], Callable[[], Tensors]]
    compiles: bool = False
    needs_gpu: bool = False
    fused: int = 1  # how many layers it may fuse
    largest: int = 2**40  # elements
    is_network: bool = True  # whether the results are those of the network


def ways() -> list[Way]:
    ours, cpp = network(speed.square_plus), network(speed.square_plus_cpp)

    def stepping(model: Callable[..., torch.Tensor]) -> Callable[[Data], Callable[[], Tensors]]:
        return lambda data: lambda: step(model, data)

    return [
        Way("eager", stepping(network(eager))),
        Way("eager, CUDA graph", lambda data: graphed(network(eager), data), needs_gpu=True),
        Way("compiled layers", lambda data: stepping(network(compiled(eager)))(data), compiles=True),
        Way("compiled network", lambda data: stepping(compiled(network(eager)))(data), compiles=True, fused=LAYERS),
        Way("compiled, reduce-overhead", lambda data: reducing_overhead(eager, data), compiles=True, needs_gpu=True, fused=LAYERS),
        Way("ours", stepping(ours)),
        Way("ours, formula in C++", stepping(cpp)),
        Way("ours, without autograd", lambda data: lambda: without_autograd(data)),
        Way("ours, only the launches", launches, needs_gpu=True, largest=2**12, is_network=False),
        Way("ours, CUDA graph", lambda data: graphed(ours, data), needs_gpu=True),
        Way("ours, compiled network", lambda data: stepping(compiled(ours))(data), compiles=True),
        Way("ours, reduce-overhead", lambda data: reducing_overhead(speed.square_plus, data), compiles=True, needs_gpu=True),
    ]
