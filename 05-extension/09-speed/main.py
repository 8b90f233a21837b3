# Measures y = x² + b and a matrix product: eager, compiled, in CUDA graphs, with our kernels. Checks first, then times.
import ctypes
import re
import sys
from collections.abc import Callable

import torch

import speed
from timing import Timing, measure
from ways import LAYERS, Data, Way, eager, ways

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
BYTES = 20  # that a layer moves per element: x in, y out; then g and x in, dx out
MI = 2**20


def wait() -> None:
    """Waits until the GPU has finished. On the CPU, work has finished when its call returns."""
    if ON_GPU:
        torch.cuda.synchronize()


def peak() -> float:
    """The memory's peak bandwidth in bytes per second: clock x 2 x bus width. 0 without a GPU."""
    if not ON_GPU:
        return 0
    driver, kilohertz, bits = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(kilohertz), 36, 0)  # CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
    driver.cuDeviceGetAttribute(ctypes.byref(bits), 37, 0)  # CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH
    return 2e3 * kilohertz.value * bits.value / 8


def speed_of_a_copy() -> float:
    """Bytes per second that a copy reads and writes: what a memory-bound kernel can reach."""
    source = torch.ones(sizes()[-1], device=DEVICE)
    copy = torch.empty_like(source)
    return 2 * source.nbytes / measure(lambda: copy.copy_(source), wait).median


# ---- Are the results correct? --------------------------------------------------------------------------------------------


def close(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Compares sums of thousands of floats, whose rounding errors depend on the order of the additions."""
    return torch.allclose(got, wanted, rtol=1e-4, atol=1e-5 * wanted.abs().max().item())


def correct_by_driver() -> bool:
    """Compares the kernels, launched with the driver API alone, with PyTorch on the CPU. Each shape takes another path."""
    correct = True
    for rows, columns in [(1, 1), (7, 5), (300, 12), (1000, 64), (3, 2100)]:
        x, b, g = torch.randn(rows, columns), torch.randn(columns), torch.randn(rows, columns)
        dx, db = torch.ops.speed.square_plus_backward_by_driver(g, x)
        correct &= close(torch.ops.speed.square_plus_by_driver(x, b), eager(x, b))
        correct &= close(dx, 2 * x * g) and close(db, g.sum(0))
    a, b = torch.randn(130, 33), torch.randn(33, 150)
    return correct and close(torch.ops.speed.multiply_by_driver(a, b), a @ b)


# ---- y = x² + b ----------------------------------------------------------------------------------------------------------


def inputs(elements: int) -> Data:
    """Rows of 1024 elements, or a square matrix if there are fewer. The values stay bounded from layer to layer."""
    columns = min(1024, 2 ** (elements.bit_length() // 2))
    x, g = torch.rand(2, elements // columns, columns, device=DEVICE)
    bs = 0.2 + 0.05 * torch.rand(LAYERS, columns, device=DEVICE)
    return (x / 2).requires_grad_(), tuple(b.clone().requires_grad_() for b in bs), g


def sizes() -> list[int]:
    """Each layer keeps its input until backward, so the largest size needs memory for about 16 such tensors."""
    if not ON_GPU:
        return [2**10, 2**16, 2**20]
    return [2**10, 2**16, 2**22] + ([2**26] if torch.cuda.mem_get_info()[0] > 16 * LAYERS * 2**26 else [])


def as_size(elements: int) -> str:
    return f"{elements // MI} Mi" if elements >= MI else f"{elements // 1024} Ki"


def why_not(way: Way) -> str:
    if way.needs_gpu and not ON_GPU:
        return "it needs a GPU"
    if way.compiles and not ON_GPU and "--compile" not in sys.argv:
        return "compiling takes half a minute on a CPU; ARGS=--compile does it"
    return ""


def profiled(work: Callable[[], object]) -> list[tuple[str, float]]:
    """The kernels, copies and memsets that work() runs on the GPU, from PyTorch's profiler: name and time in µs."""
    work()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        work()
        wait()
    events = [event for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return [(event.name, event.time_range.elapsed_us()) for event in events]


def kernels_of(work: Callable[[], object]) -> str:
    """How many kernels work() runs on the GPU."""
    if not ON_GPU:
        return ""
    return str(sum("memcpy" not in name.lower() and "memset" not in name.lower() for name, _ in profiled(work)))


def time_way(way: Way) -> tuple[dict[int, Timing], str]:
    """{elements: time of a layer}, and the number of kernels at the largest size."""
    found: dict[int, Timing] = {}
    kernels = ""
    for elements in sizes():
        if elements > way.largest:
            continue
        data = inputs(elements)
        work = way.prepare(data)
        wanted = tuple(result.clone() for result in ways()[0].prepare(data)())
        if way.is_network and not all(close(*pair) for pair in zip(work(), wanted, strict=True)):
            raise ValueError(f"{way.name} computes wrong results, so it is not timed")
        found[elements] = measure(work, wait, parts=LAYERS)
        kernels = kernels_of(work)
    torch.compiler.reset()
    return found, kernels


def time_the_op(bytes_per_second: float) -> None:
    """Prints a row for each way."""
    print(f"y = x² + b, forward and backward, µs per layer ({LAYERS} layers): median ± half of the interquartile range")
    columns = " | ".join(f"{as_size(size):^15}" for size in sizes())
    print(f"{'elements':25} | {columns}" + (" | kernels | of bound" if ON_GPU else ""))
    skipped: dict[str, list[str]] = {}
    too_fast = []
    for way in ways():
        if reason := why_not(way):
            skipped.setdefault(reason, []).append(way.name)
            continue
        times, kernels = time_way(way)
        largest = sizes()[-1]
        bound = BYTES * largest / way.fused / bytes_per_second
        share = f"{bound / times[largest].median:.0%}" if largest in times else ""
        cells = " | ".join(f"{times[size]!s:15}" if size in times else " " * 15 for size in sizes())
        print((f"{way.name:25} | {cells}" + (f" | {kernels:>7} | {share:>4}" if ON_GPU else "")).rstrip(), flush=True)
        if peak() and largest in times and times[largest].low < BYTES * largest / way.fused / peak():
            too_fast.append(way.name)
    for name in too_fast:  # not an effect of caches: the tensors are far larger
        print(f"{name}: faster than the memory allows. Was the clock stopped before the GPU had finished?")
    for reason, names in skipped.items():
        print(f"skipped ({reason}): {'; '.join(names)}")


def list_kernels() -> None:
    """Prints what each way runs on the GPU at the smallest and at the largest size, and how long that takes. Times nothing else."""
    if not ON_GPU:
        print("skipped: the profiler lists the kernels of a GPU, and PyTorch sees no GPU here")
        return
    for way in ways():
        for elements in (size for size in (sizes()[0], sizes()[-1]) if size <= way.largest):
            ran: dict[str, list[float]] = {}
            for name, taken in profiled(way.prepare(inputs(elements))):
                ran.setdefault(re.sub(r"^void |at::native::|\(anonymous namespace\)::|std::", "", name), []).append(taken)
            total = sum(map(sum, ran.values()))
            print(f"{way.name}, {as_size(elements)} elements: the GPU works for {total / LAYERS:.1f} µs per layer")
            for name, times in ran.items():
                print(f"{len(times):6} x {sum(times) / len(times):7.1f} µs  {name[:90]}", flush=True)
        torch.compiler.reset()


# ---- the product of two matrices -----------------------------------------------------------------------------------------


def python_product(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def time_products() -> None:
    """Prints a row for each size."""
    ways: dict[str, tuple[Callable, str, int]] = {  # the function, where its matrices are, and the largest n
        "Python": (python_product, "lists", 64),
        "C++": (speed.multiply, "cpu", 512),
        "torch, CPU": (torch.matmul, "cpu", 1024),
    }
    if ON_GPU:
        ways |= {"our kernel": (speed.multiply, "cuda", 4096), "torch, GPU": (torch.matmul, "cuda", 4096)}
    print("\nproduct of two n x n matrices, in GFLOP/s; on the CPU, in one thread")
    print("        n | " + " | ".join(f"{name:>10}" for name in ways))
    for n in (16, 64, 256, 512, 1024) + ((4096,) if ON_GPU else ()):
        a, b = torch.randn(n, n), torch.randn(n, n)
        wanted, cells = a @ b, []
        for name, (multiply, where, most) in ways.items():
            if n > most:
                cells.append(f"{'':10}")
                continue
            pair = (a.tolist(), b.tolist()) if where == "lists" else (a.to(where), b.to(where))
            if not torch.allclose(torch.as_tensor(multiply(*pair)).cpu(), wanted, rtol=1e-3, atol=1e-2):
                raise ValueError(f"{name} computes a wrong product, so it is not timed")
            cells.append(f"{2e-9 * n**3 / measure(lambda: multiply(*pair), wait).median:10.3f}")
        print(f"{n:9} | " + " | ".join(cells))
    if not ON_GPU:
        print("skipped: our kernel and torch on a GPU: PyTorch sees no GPU here")


def main() -> int:
    torch.set_num_threads(1)  # on the CPU, everything runs in one thread, as our loops do
    if not correct_by_driver():
        print("the kernels compute wrong results: nothing is timed")
        return 1
    print("our kernels, launched with the driver API: correct")
    bytes_per_second = speed_of_a_copy()
    of_peak = f", {bytes_per_second / peak():.0%} of peak" if peak() else ""
    device = torch.cuda.get_device_name() if ON_GPU else "this CPU"
    print(f"PyTorch {torch.__version__}, {device}: a copy moves {bytes_per_second / 1e9:.1f} GB/s{of_peak}\n")
    if "--kernels" in sys.argv:
        list_kernels()
        return 0
    time_the_op(bytes_per_second)
    time_products()
    return 0


if __name__ == "__main__":
    sys.exit(main())
