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
    """The same kernels in the same order. The caller writes down the chain rule instead of autograd."""
    x, bs, g = data
    with torch.no_grad():
        y, inputs, found = x, [], []
        for b in bs:
            inputs.append(y)
            y = speed.square_plus(y, b)
        for x in reversed(inputs):
            g, db = speed.square_plus_backward(g, x)
            found.append(db)
    return y, g, *reversed(found)


def graphed(work: Callable[[], Tensors]) -> Callable[[], Tensors]:
    """Captures work() into a CUDA graph. A replay launches the same kernels on the same addresses, with one call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):  # outside of the graph: whatever the first runs load and allocate
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    return lambda: (graph.replay(), found)[1]


def compiled(model: Callable[..., torch.Tensor], mode: str | None = None) -> Callable[..., torch.Tensor]:
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(pathlib.Path(built(__file__, "inductor"))))
    return torch.compile(model, dynamic=False, mode=mode)  # dynamic=False: a kernel for each shape, its best case


def reducing_overhead(data: Data) -> Callable[[], Tensors]:
    """mode="reduce-overhead" captures CUDA graphs. Each step may overwrite the outputs of the step before."""
    model = compiled(network(eager), "reduce-overhead")

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
    ours = network(speed.square_plus)
    return [
        Way("eager", lambda data: lambda: step(network(eager), data)),
        Way("eager, CUDA graph", lambda data: graphed(lambda: step(network(eager), data)), needs_gpu=True),
        Way("compiled layer by layer", each_layer_compiled, compiles=True),
        Way("compiled network", whole_network_compiled, compiles=True, fused=LAYERS),
        Way("  with reduce-overhead", reducing_overhead, compiles=True, needs_gpu=True, fused=LAYERS),
        Way("ours", lambda data: lambda: step(ours, data)),
        Way("  in a compiled network", ours_compiled, compiles=True),
        Way("  gradient formula in C++", lambda data: lambda: step(network(speed.square_plus_cpp), data)),
        Way("  without autograd", lambda data: lambda: without_autograd(data)),
        Way("  only the launches", launches, needs_gpu=True, largest=2**12, is_network=False),
        Way("  CUDA graph", lambda data: graphed(lambda: step(ours, data)), needs_gpu=True),
    ]


def each_layer_compiled(data: Data) -> Callable[[], Tensors]:
    model = network(compiled(eager))
    return lambda: step(model, data)


def whole_network_compiled(data: Data) -> Callable[[], Tensors]:
    model = compiled(network(eager))
    return lambda: step(model, data)


def ours_compiled(data: Data) -> Callable[[], Tensors]:
    model = compiled(network(speed.square_plus))
    return lambda: step(model, data)
