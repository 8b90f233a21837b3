# Three ops that read an image between its pixels. Compares definition, loop and kernel, and on a GPU measures the kernels against torchvision. With the option
# --profile, prints which kernels run on the GPU and how long each of them takes.
from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import torch

import baselines
import reference
import sampling_ops
from places import counting, through_the_driver

Tensor = torch.Tensor
torch.set_num_threads(1)  # the tensors that are compared are small: more threads would only wait for each other
torch.manual_seed(7)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


# ---- Are the results correct? --------------------------------------------------------------------------------------------


def agree(left: Tensor, right: Tensor) -> str:
    """Sums of doubles differ in their last digits if the order of the additions differs."""
    if left.shape != right.shape:
        return f"{len(left)} instead of {len(right)}"
    furthest = (left - right).abs().max().item()
    return "same" if furthest < 1e-12 else f"up to {furthest:.1g} apart"


def row(what: str, definition: Tensor, loop: Tensor, kernel: Tensor, additions: str = "") -> bool:
    first, second = agree(loop, definition), agree(kernel, loop)
    print(f"{what:<28} | {loop.numel():7} | {first:<18} | {second:<18} | {additions}".rstrip())
    return first == second == "same"


def three_ways(op: Callable[..., Tensor], definition: Callable[..., Tensor]) -> list[Tensor]:
    loop = op()
    with through_the_driver():
        kernel = op()
    return [definition(), loop, kernel]


def gradients(op: Callable[[], Tensor], of: list[Tensor], incoming: Tensor) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: torch.autograd.grad(op(), of, incoming)


def additions(counted: Tensor, gradient: Tensor, team: str) -> str:
    """How many threads or warps add to the same element, at most. Where nothing was counted, one of them computes it alone and writes it."""
    return f"one {team}" if counted.equal(gradient) else f"{int(counted.max())} {team}s"


def gradient_rows(ops: list[Callable[[], Tensor]], inputs: list[Tensor], names: list[str], team: str = "thread", by_pytorch: tuple[str, ...] = ()) -> bool:
    incoming = torch.randn_like(ops[0]())
    found = list(zip(*three_ways(*[gradients(op, inputs, incoming) for op in ops])))
    output = ops[0]()
    with counting():
        counted = torch.autograd.grad(output, inputs, incoming)
    right = True
    for name, ways, counts in zip(names, found, counted, strict=True):
        right &= row(f"  gradient of {name}", *ways, "PyTorch" if name in by_pytorch else additions(counts, ways[1], team))
    return right


def correct() -> bool:
    print(f"{'':<28} | numbers | loop = definition  | kernel = loop      | who adds to an element")

    image, regions = random(2, 3, 12, 15), torch.tensor([[0, 2.2, 3.1, 9.7, 8.8], [1, 4, 1.5, 13, 6.5], [1, 5.5, 2, 14.1, 11]]).double()
    pool = [lambda module=module: module.roi_align(image, regions, (3, 3), 1.0, 2, True) for module in (sampling_ops, reference)]
    right = row("roi_align", *three_ways(*pool))
    right &= gradient_rows(pool, [image], ["the input"])

    inputs = [random(2, 4, 6, 7), random(2, 36, 6, 7), random(6, 2, 3, 3), random(6), random(2, 18, 6, 7)]
    convolve = [lambda module=module: module.deform_conv2d(*inputs, (1, 1), (1, 1), (1, 1)) for module in (sampling_ops, reference)]
    right &= row("deform_conv2d", *three_ways(*convolve))
    names = ["the input", "the offsets", "the weight", "the bias", "the mask"]
    right &= gradient_rows(convolve, inputs, names, by_pytorch=("the weight", "the bias"))

    sizes, value = [(6, 7), (3, 4)], random(2, 54, 2, 5)
    locations, weights = torch.rand(2, 9, 2, 2, 4, 2, dtype=torch.float64, requires_grad=True), random(2, 9, 2, 2, 4)
    attend = [lambda module=module: module.deform_attention(value, sizes, locations, weights) for module in (sampling_ops, reference)]
    right &= row("deform_attention", *three_ways(*attend))
    right &= gradient_rows(attend, [value, locations, weights], ["the value", "the locations", "the weights"], "warp")

    # gradcheck also calls backward twice and expects the same bits. Atomic sums do not promise that, hence nondet_tol.
    print()
    small = [random(1, 2, 3, 3), random(1, 8, 2, 2), random(2, 2, 2, 2), random(2), random(1, 4, 2, 2)]
    few = [random(1, 5, 1, 2), torch.rand(1, 2, 1, 2, 2, 2, dtype=torch.float64, requires_grad=True), random(1, 2, 1, 2, 2)]
    checks = {
        "roi_align": (lambda x: sampling_ops.roi_align(x, regions[:1], 2, 0.3, 2, True), random(1, 2, 5, 5)),
        "deform_conv2d": (sampling_ops.deform_conv2d, small),
        "deform_attention": (lambda value, *rest: sampling_ops.deform_attention(value, [(2, 2), (1, 1)], *rest), few),
    }
    for name, (op, given) in checks.items():
        with through_the_driver():
            passed = torch.autograd.gradcheck(op, given, nondet_tol=1e-12, raise_exception=False)
        print(f"gradcheck of the kernels, {name}: {'passed' if passed else 'FAILED'}")
        right &= passed
    return right


def show_the_order_of_a_sum() -> None:
    """The last digits of a sum depend on its order. Here, the order is reversed on purpose. With atomics, no order is guaranteed."""
    many = torch.cat([torch.zeros(200, 1), torch.rand(200, 2) * 4, 8 + torch.rand(200, 2) * 4], 1)
    feature, incoming = torch.randn(1, 1, 12, 12, requires_grad=True), torch.randn(200, 1, 4, 4)
    one = torch.autograd.grad(sampling_ops.roi_align(feature, many, 4), feature, incoming)[0]
    other = torch.autograd.grad(sampling_ops.roi_align(feature, many.flip(0), 4), feature, incoming.flip(0))[0]
    differ, furthest = (one != other).sum(), (one - other).abs().max()
    print(f"200 boxes in float, and in reverse order: {differ} of {one.numel()} gradients differ, by up to {furthest:.0e}")


# ---- How fast are the kernels? -------------------------------------------------------------------------------------------


Call = Callable[..., Tensor]


def cases(theirs) -> list[tuple[str, str, Call, Call, list[Tensor]]]:
    """Name, what it is compared with, our op and the other, and their inputs: the sizes of a detector."""

    def on_gpu(*shape: int) -> Tensor:
        return torch.randn(*shape, device="cuda")

    corner, size = torch.rand(2000, 2) * torch.tensor([1100.0, 700.0]), 16 + 96 * torch.rand(2000, 2)
    boxes = torch.cat([torch.arange(2000)[:, None] % 2, corner, corner + size], 1).cuda()
    image = on_gpu(2, 256, 200, 304)
    convolved = [on_gpu(4, 256, 50, 76), on_gpu(4, 18, 50, 76), 0.02 * on_gpu(256, 256, 3, 3), on_gpu(256), torch.rand(4, 9, 50, 76).cuda()]
    sizes = [(100, 152), (50, 76), (25, 38), (13, 19)]
    queries = sum(height * width for height, width in sizes)
    # The gradient of a location jumps where its point passes from one cell between four pixels to the next, so no point is near an edge.
    cells = torch.tensor([[width, height] for height, width in sizes], device="cuda")[:, None]
    points = (torch.rand(2, queries, 8, 4, 4, 2, device="cuda") * cells).floor() + 0.1 + 0.8 * torch.rand(2, queries, 8, 4, 4, 2, device="cuda")
    attended = [on_gpu(2, queries, 8, 32), (points + 0.5) / cells, torch.rand(2, queries, 8, 4, 4, device="cuda")]
    found: list[tuple[str, str, Call, Call, list[Tensor]]] = []
    if theirs:
        found += [
            (
                "roi_align", "torchvision", lambda x: sampling_ops.roi_align(x, boxes, 7, 0.25, 2, True),
                lambda x: theirs.roi_align(x, boxes, 7, 0.25, 2, True), [image],
            ),
            (
                "deform_conv2d", "torchvision", lambda x, o, w, b, m: sampling_ops.deform_conv2d(x, o, w, b, m, 1, 1),
                lambda x, o, w, b, m: theirs.deform_conv2d(x, o, w, b, 1, 1, 1, m), convolved,
            ),
        ]  # fmt: skip
    attention = lambda op: lambda value, *rest: op(value, sizes, *rest)  # noqa: E731
    ours, usual = attention(sampling_ops.deform_attention), attention(baselines.attention_by_grid_sample)
    return found + [("deform_attention", "grid_sample", ours, usual, attended)]


def time_ops(theirs) -> bool:
    """Prints two rows for each op, forward and backward, and one for their sum."""
    right = True
    print(f"{'float32, in ms':26} |    ours |   other | speedup | the other")
    for name, other_name, ours, other, inputs in cases(theirs):
        inputs = [tensor.requires_grad_() for tensor in inputs]
        results = [op(*inputs) for op in (ours, other)]
        incoming = torch.randn_like(results[0])
        backward = [lambda result=result: torch.autograd.grad(result, inputs, incoming, retain_graph=True) for result in results]
        pairs = [results, *zip(*[run() for run in backward])]
        right &= all((one - two).abs().max() <= 1e-3 * two.abs().max() for one, two in pairs)
        forward = [lambda op=op: op(*inputs) for op in (ours, other)]
        total = [0.0, 0.0]
        for part, ways in {"forward": forward, "backward": backward}.items():
            times = [baselines.milliseconds(way, 10)[0] for way in ways]
            total = [before + more for before, more in zip(total, times)]
            print(f"{name + ', ' + part:26} | {times[0]:7.3f} | {times[1]:7.3f} | {times[1] / times[0]:7.2f} | {other_name}")
        print(f"{name + ', both':26} | {total[0]:7.3f} | {total[1]:7.3f} | {total[1] / total[0]:7.2f} | {other_name}")
    return right


def profile(theirs) -> None:
    """Prints the kernels and copies of a call, and how long they take: the mean of ten calls."""
    calls: dict[str, Callable[[], object]] = {}
    for name, other_name, ours, other, inputs in cases(theirs):
        calls |= {f"{name}, forward, {who}": partial(op, *inputs) for who, op in {"sampling_ops": ours, other_name: other}.items()}
    kinds = torch.profiler.ProfilerActivity
    for name, call in calls.items():
        call()
        with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA], acc_events=True) as profiler:
            for _ in range(10):
                call()
            torch.cuda.synchronize()
        times: dict[str, list[float]] = {}
        for event in profiler.events():
            if event.device_type == torch.autograd.DeviceType.CUDA:
                times.setdefault(event.name, []).append(event.time_range.elapsed_us() / 1000)
        print(f"{name}: {sum(map(sum, times.values())) / 10:.3f} ms on the GPU")
        for kernel, durations in sorted(times.items(), key=lambda item: -sum(item[1])):
            print(f"  {sum(durations) / 10:7.3f} ms | {len(durations) / 10:4.1f} times | {kernel[:90]}")


def main() -> int:
    if "--profile" in sys.argv:
        if torch.cuda.is_available():
            profile(baselines.torchvision_ops())
        else:
            print("profile: skipped, because PyTorch sees no GPU here")
        return 0
    right = correct()
    show_the_order_of_a_sum()
    print()
    if not torch.cuda.is_available():
        print("timing: skipped, because PyTorch sees no GPU here")
        return 0 if right else 1
    theirs = baselines.torchvision_ops()
    right &= time_ops(theirs)
    if not theirs:
        print("torchvision: skipped, because it is not installed for this PyTorch")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
