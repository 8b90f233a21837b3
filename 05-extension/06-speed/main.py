# Matrix products and y = x² + b: Python, C++, CUDA and what PyTorch has; each checked, then timed, then plotted.
import ctypes
import json
import os
import pathlib
import sys
from collections.abc import Callable

import torch

from common.built import built
from timing import Timing, measure

torch.ops.load_library(built(__file__, "op.so"))
torch.ops.speed.use_kernels(built(__file__, "kernels.ptx"))
ours = torch.ops.speed.square_plus.default
ours_backward = torch.ops.speed.square_plus_backward.default
Op = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Tensors = tuple[torch.Tensor, ...]
ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
BYTES = 20  # that an element needs, forward and backward: x in, y out; g and x in, dx out
LAYERS = 8  # in a row, as in a model, which enters autograd once for all of them; the figures are for one
MI = 2**20


def wait() -> None:
    """Until all that was begun has ended; on the CPU it has when a call returns."""
    if ON_GPU:
        torch.cuda.synchronize()


def eager(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return x * x + b


def limit() -> tuple[float, str]:
    """The bytes a second that the memory can carry, and where that is from."""
    if ON_GPU:
        driver, kilohertz, bits = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(kilohertz), 36, 0)  # MEMORY_CLOCK_RATE
        driver.cuDeviceGetAttribute(ctypes.byref(bits), 37, 0)  # GLOBAL_MEMORY_BUS_WIDTH
        return 2e3 * kilohertz.value * bits.value / 8, "by its clock and width"
    source = torch.ones(16 * MI)
    copy = torch.empty_like(source)
    return 2 * source.nbytes / measure(lambda: copy.copy_(source), wait, 7).median, "as fast as it copies"


# ---- is it right? --------------------------------------------------------------------------------------------------------


def close(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Sums of thousands of floats, in another order, differ by what their largest has in its last digits."""
    return torch.allclose(got, wanted, rtol=1e-4, atol=1e-5 * wanted.abs().max().item())


def right_by_driver() -> bool:
    """The kernels, through the driver API alone, against PyTorch on the CPU: shapes for each way of launching them."""
    right = True
    for rows, columns in [(1, 1), (7, 5), (300, 12), (1000, 64), (3, 2100)]:
        x, b, g = torch.randn(rows, columns), torch.randn(columns), torch.randn(rows, columns)
        dx, db = torch.ops.speed.square_plus_backward_by_driver(g, x)
        right &= close(torch.ops.speed.square_plus_by_driver(x, b), eager(x, b))
        right &= close(dx, 2 * x * g) and close(db, g.sum(0))
    a, b = torch.randn(130, 33), torch.randn(33, 150)
    return right and close(torch.ops.speed.multiply_by_driver(a, b), a @ b)


def gradients(op: Op, x: torch.Tensor, bs: Tensors, g: torch.Tensor) -> Tensors:
    """What is measured: y, dx and every db of these layers."""
    y = x
    for b in bs:
        y = op(y, b)
    return y, *torch.autograd.grad(y, (x, *bs), g)


def direct(x: torch.Tensor, bs: Tensors, g: torch.Tensor) -> Tensors:
    """The same without autograd: who knows the formula of a gradient can call its kernel."""
    with torch.no_grad():
        y, read, found = x, [], []
        for b in bs:
            read.append(y)
            y = ours(y, b)
        for x in reversed(read):
            g, db = ours_backward(g, x)
            found.append(db)
    return y, g, *reversed(found)


# ---- y = x² + b ----------------------------------------------------------------------------------------------------------


def inputs(elements: int) -> tuple[torch.Tensor, Tensors, torch.Tensor]:
    """x, a b for each layer, and g: rows of 1024, or a square where that would be more columns than rows. No layer's numbers explode."""
    columns = min(1024, 2 ** (elements.bit_length() // 2))
    x, g = torch.rand(2, elements // columns, columns, device=DEVICE)
    bs = 0.2 + 0.05 * torch.rand(LAYERS, columns, device=DEVICE)
    return (x / 2).requires_grad_(), tuple(b.clone().requires_grad_() for b in bs), g


def sizes() -> list[int]:
    """As far as the memory goes: each layer keeps its input, and the ways to compare need a few more."""
    if not ON_GPU:
        return [2**10, 2**16, 2**20]
    return [2**10, 2**16, 2**22] + ([2**26] if torch.cuda.mem_get_info()[0] > 16 * LAYERS * 2**26 else [])


def compiled() -> tuple[Op | None, str]:
    """torch.compile of the same line, or why it is left out."""
    if not ON_GPU and "--compile" not in sys.argv:
        return None, "it compiles for half a minute without a GPU (python3 main.py --compile does)"
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(pathlib.Path(built(__file__, "inductor"))))
    op = torch.compile(eager, dynamic=False)  # a kernel for each shape: its best case
    try:
        gradients(op, *inputs(1024))
    except Exception as error:  # no Triton, no compiler: whatever it is made of
        return None, f"it does not work here: {str(error).strip().splitlines()[0][:60]}"
    return op, ""


def time_the_op(bytes_a_second: float) -> dict[str, list[tuple[int, Timing]]]:
    """Prints the table of the op; returns {name: [(elements, timing)]}."""
    fused, why_not = compiled()
    ways: dict[str, Callable[..., Tensors]] = {"eager": lambda *data: gradients(eager, *data)}
    if fused:
        ways["torch.compile"] = lambda *data: gradients(fused, *data)
    ways |= {"ours": lambda *data: gradients(ours, *data), "ours, direct": direct}
    print(f"y = x² + b, forward and backward, one of {LAYERS} layers, in microseconds: median ± half of the middle half")
    print("elements | " + " | ".join(f"{name:^16}" for name in ways) + " | eager / ours")
    found: dict[str, list[tuple[int, Timing]]] = {name: [] for name in ways}
    for elements in sizes():
        data = inputs(elements)
        wanted = gradients(eager, *data)
        for name, way in ways.items():
            if not all(close(*pair) for pair in zip(way(*data), wanted, strict=True)):
                raise ValueError(f"{name} is wrong: not timed")
            found[name].append((elements, measure(lambda: way(*data), wait, parts=LAYERS)))
        times = [found[name][-1][1] for name in ways]
        gains = [times[0].median / mine.median for mine in times[-2:]]
        size = f"{elements // MI} Mi" if elements >= MI else f"{elements // 1024} Ki"
        print(f"{size:>8} | " + " | ".join(map(str, times)) + " | " + "  ".join(f"{gain:4.2f}" for gain in gains))
    if ON_GPU:  # by now the tensors are far larger than any cache
        least = BYTES * elements / bytes_a_second
        for name in (name for name in ways if found[name][-1][1].low < least):
            print(f"{name}: quicker than the memory, which needs {least * 1e6:.0f}. Nobody waited for it.")
    x, bs, g = inputs(1024)

    def idle() -> None:
        y = x
        for _ in bs:
            y = y.view_as(y)
        torch.autograd.grad(y, x, g)

    print(f"autograd itself, for an op that does nothing: {measure(idle, wait, parts=LAYERS).median * 1e6:.1f}")
    with torch.autograd.set_multithreading_enabled(False):  # else another thread begins the GPU's backward, and waking it takes what it takes
        theirs, mine = (measure(lambda op=op: gradients(op, x, bs, g), wait, parts=LAYERS).median * 1e6 for op in (eager, ours))
    print(f"1 Ki, all in one thread: eager {theirs:.1f}, ours {mine:.1f}, eager / ours {theirs / mine:.2f}")
    if why_not:
        print(f"torch.compile is skipped: {why_not}")
    return found


# ---- the product of two matrices -----------------------------------------------------------------------------------------


def by_python(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def time_products() -> dict[str, list[tuple[int, Timing]]]:
    """Prints the table of the product; returns {name: [(n, timing)]}."""
    ways: dict[str, tuple[Callable, str, int]] = {  # on which device, up to which n
        "Python": (lambda a, b: by_python(a, b), "lists", 64),
        "C++": (torch.ops.speed.multiply, "cpu", 512),
        "torch, CPU": (torch.matmul, "cpu", 1024),
    }
    if ON_GPU:
        ways |= {"CUDA": (torch.ops.speed.multiply, "cuda", 4096), "torch, GPU": (torch.matmul, "cuda", 4096)}
    print("\nn x n times n x n, in GFLOP/s")
    print("        n | " + " | ".join(f"{name:>10}" for name in ways))
    found: dict[str, list[tuple[int, Timing]]] = {name: [] for name in ways}
    for n in (16, 64, 256, 512, 1024) + ((4096,) if ON_GPU else ()):
        a, b = torch.randn(n, n), torch.randn(n, n)
        wanted, cells = a @ b, []
        for name, (multiply, where, most) in ways.items():
            if n > most:
                cells.append(f"{'':10}")
                continue
            pair = (a.tolist(), b.tolist()) if where == "lists" else (a.to(where), b.to(where))
            if not torch.allclose(torch.as_tensor(multiply(*pair)).cpu(), wanted, rtol=1e-3, atol=1e-2):
                raise ValueError(f"{name} is wrong: not timed")
            found[name].append((n, measure(lambda: multiply(*pair), wait, 7)))
            cells.append(f"{2e-9 * n**3 / found[name][-1][1].median:10.3f}")
        print(f"{n:9} | " + " | ".join(cells))
    return found


def main() -> int:
    torch.set_num_threads(1)  # on the CPU one thread each: our loops have no more
    if not right_by_driver():
        print("the kernels are WRONG: nothing is timed")
        return 1
    print("our kernels, through the driver: right")
    bytes_a_second, whence = limit()
    print(f"{torch.cuda.get_device_name() if ON_GPU else 'this CPU'}: memory of {bytes_a_second / 1e9:.1f} GB/s, {whence}\n")
    figures = {
        "device": torch.cuda.get_device_name() if ON_GPU else "a CPU",
        "pytorch": torch.__version__,
        "bytes a second": bytes_a_second,
        "bytes an element": BYTES,
        "op": {name: [(n, t.low, t.median, t.high) for n, t in rows] for name, rows in time_the_op(bytes_a_second).items()},
        "product": {name: [(n, t.low, t.median, t.high) for n, t in rows] for name, rows in time_products().items()},
    }
    if not ON_GPU:
        print("CUDA and torch.matmul on a GPU are skipped: PyTorch sees no GPU here")
    kept = pathlib.Path(built(__file__, "figures.json"))
    kept.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("the plots are skipped: there is no matplotlib here")
        return 0
    from plot import plot

    print("\nplotted: " + " ".join(plot(kept)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
