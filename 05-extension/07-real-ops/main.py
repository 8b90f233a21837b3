# Three ops of real networks, each in three ways: as its definition says, as a loop on the CPU, as a kernel.
from __future__ import annotations

from collections.abc import Callable

import torch

import real_ops
import reference
import yardsticks
from places import through_the_driver

Tensor = torch.Tensor
torch.manual_seed(7)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def boxes_around(count: int, objects: int, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """What a detector says: many boxes around each object, and how sure it is of each."""
    middle = (torch.rand(objects, 2) * 1000).repeat_interleave(count // objects, 0) + torch.randn(count, 2) * 6
    half = 10 + 40 * torch.rand(objects, 2).repeat_interleave(count // objects, 0) + torch.randn(count, 2)
    return torch.cat([middle - half, middle + half], 1).to(device), torch.rand(count).to(device)


def agree(left: Tensor, right: Tensor) -> str:
    """Sums in doubles, formed in another order, differ in their last digits."""
    if left.shape != right.shape:
        return f"{len(left)} against {len(right)}"
    furthest = (left - right).abs().max().item()
    return "same" if furthest < 1e-12 else f"up to {furthest:.1g} apart"


def row(what: str, definition: Tensor, loop: Tensor, kernel: Tensor, who: str) -> bool:
    first, second = agree(loop, definition), agree(kernel, loop)
    print(f"{what:<28} | {loop.numel():7} | {first:<18} | {second:<18} | {who}")
    return first == second == "same"


def three_ways(op: Callable[..., Tensor], definition: Callable[..., Tensor]) -> list[Tensor]:
    loop = op()
    with through_the_driver():
        kernel = op()
    return [definition(), loop, kernel]


def gradients(op: Callable[[], Tensor], of: list[Tensor], arriving: Tensor) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: torch.autograd.grad(op(), of, arriving)


print(f"{'':<28} | numbers | loop = definition  | kernel = loop      | who adds to one number")

# NMS: of the boxes around an object, the best one stays.
boxes, scores = boxes_around(600, 30)
kept = three_ways(lambda: real_ops.nms(boxes, scores, 0.5), lambda: reference.nms(boxes, scores, 0.5))
right = row("nms, who stays", *kept, "no sums")

# ROIAlign: a box of any size becomes 3 x 3 numbers a channel.
image, regions = random(2, 3, 12, 15), torch.tensor([[0, 2.2, 3.1, 9.7, 8.8], [1, 4, 1.5, 13, 6.5], [1, 5.5, 2, 14.1, 11]]).double()
pool = [lambda module=module: module.roi_align(image, regions, (3, 3), 1.0, 2, True) for module in (real_ops, reference)]
right &= row("roi_align", *three_ways(*pool), "one thread")
arriving = random(3, 3, 3, 3)
of_image = three_ways(*[gradients(op, [image], arriving) for op in pool])
right &= row("  gradient of the input", *[found[0] for found in of_image], "bins of all boxes")

# Modulated deformable convolution: offsets and a mask, themselves computed by a network, for every tap of every output.
inputs = [random(2, 4, 6, 7), random(2, 36, 6, 7), random(6, 2, 3, 3), random(6), random(2, 18, 6, 7)]
convolve = [lambda module=module: module.deform_conv2d(*inputs, (1, 1), (1, 1), (1, 1)) for module in (real_ops, reference)]
right &= row("deform_conv2d", *three_ways(*convolve), "PyTorch's matrix product")
arriving = random(2, 6, 6, 7)
found = zip(*three_ways(*[gradients(op, inputs, arriving) for op in convolve]))
who = ["taps that look there", "one thread", "PyTorch's matrix product", "PyTorch's sum", "one thread"]
for name, ways, adds in zip(("the input", "the offsets", "the weight", "the bias", "the mask"), found, who):
    right &= row(f"  gradient of {name}", *ways, adds)

# And by finite differences. gradcheck calls backward twice and wants the same bits, which sums by atomics do not promise: hence nondet_tol.
print()
small = [random(1, 2, 3, 3), random(1, 8, 2, 2), random(2, 2, 2, 2), random(2), random(1, 4, 2, 2)]
checks = {
    "roi_align": (lambda x: real_ops.roi_align(x, regions[:1], 2, 0.3, 2, True), random(1, 2, 5, 5)),
    "deform_conv2d": (real_ops.deform_conv2d, small),
}
for name, (op, given) in checks.items():
    with through_the_driver():
        passed = torch.autograd.gradcheck(op, given, nondet_tol=1e-12, raise_exception=False)
    print(f"gradcheck of the kernels, {name}: {'passed' if passed else 'FAILED'}")
    right &= passed

# The order of a sum shows. Here it is turned round on purpose; with atomics it is whatever it is.
many = torch.cat([torch.zeros(200, 1), torch.rand(200, 2) * 4, 8 + torch.rand(200, 2) * 4], 1)
feature, arriving = torch.randn(1, 1, 12, 12, requires_grad=True), torch.randn(200, 1, 4, 4)
one = torch.autograd.grad(real_ops.roi_align(feature, many, 4), feature, arriving)[0]
other = torch.autograd.grad(real_ops.roi_align(feature, many.flip(0), 4), feature, arriving.flip(0))[0]
differ, furthest = (one != other).sum(), (one - other).abs().max()
print(f"200 boxes in float, and in reverse order: {differ} of {one.numel()} gradients differ, by up to {furthest:.0e}")

# What NMS costs.
print()
if not torch.cuda.is_available():
    print("NMS of 10000 boxes by the clock: skipped, PyTorch sees no GPU here.")
else:
    theirs = yardsticks.torchvision_nms()
    scans = {"tile by tile, real_ops": real_ops.nms, "box by box": yardsticks.box_by_box, "on the host": yardsticks.on_the_host}
    scans |= {"torchvision": theirs} if theirs else {}
    for objects in (10000, 100):
        boxes, scores = boxes_around(10000, objects, "cuda")
        stay = real_ops.nms(boxes, scores, 0.5)
        print(f"NMS of 10000 boxes around {objects} objects, of which {len(stay)} stay")
        for name, way in scans.items():
            median, least, most = yardsticks.milliseconds(lambda: way(boxes, scores, 0.5))
            right &= way(boxes, scores, 0.5).equal(stay)
            print(f"  {name:<24} | {median:7.3f} ms ({least:.3f} to {most:.3f})")
    if not theirs:
        print("  torchvision              | skipped: not installed for this PyTorch")

raise SystemExit(0 if right else 1)
