# Non-maximum suppression as an op that PyTorch can compile and capture: on the CPU, on a GPU, and its kernels alone. With the option --profile,
# prints which kernels run on the GPU and how long each of them takes.
from __future__ import annotations

import logging
import statistics
import sys
import textwrap
import time
from collections.abc import Callable

import torch
from torch import Tensor

from common.built import built

INSTALLED = built(__file__, "installed")
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # its advice is about building, and this program builds nothing
sys.path.insert(0, INSTALLED)
import box_nms

import kernels
import reference

torch.set_num_threads(1)  # the tensors of this program are small: more threads would only wait for each other
PASSED, NONE = "passed", "-"
Boxes = tuple[Tensor, Tensor, float]  # boxes, scores and threshold


def why_not_cuda() -> str:
    if torch.version.cuda is None:
        return "this PyTorch is built without CUDA"
    if not torch._C._dispatch_has_kernel_for_dispatch_key("box_nms::nms", "CUDA"):
        return "the package is built without CUDA"
    return "" if torch.cuda.is_available() else "PyTorch sees no GPU here"


# ---- The boxes -----------------------------------------------------------------------------------------------------------


def around(count: int, objects: int, device: str = "cpu") -> Boxes:
    """What a detector finds: several boxes around each object, and a score for each box."""
    torch.manual_seed(7)
    middle = (torch.rand(objects, 2) * 1000).repeat_interleave(count // objects, 0) + torch.randn(count, 2) * 6
    half = 10 + 40 * torch.rand(objects, 2).repeat_interleave(count // objects, 0) + torch.randn(count, 2)
    return torch.cat([middle - half, middle + half], 1).to(device), torch.rand(count).to(device), 0.5


def in_a_chain(count: int, device: str = "cpu") -> Boxes:
    """Each box overlaps only its two neighbors, and the scores decrease from left to right."""
    left = torch.arange(float(count)) * 4
    boxes = torch.stack([left, torch.zeros(count), left + 10, torch.ones(count)], 1)
    return boxes.to(device), torch.arange(float(count)).flip(0).to(device), 0.4


def on(device: str, given: Boxes) -> Boxes:
    boxes, scores, threshold = given
    return boxes.to(device), scores.to(device), threshold


# ---- Are the results right? ------------------------------------------------------------------------------------------------


def agree(kept: Tensor, expected: Tensor) -> str:
    if len(kept) != len(expected):
        return f"{len(kept)} kept"
    return "same" if kept.cpu().equal(expected) else "others kept"


def compare(devices: list[str]) -> bool:
    """The boxes that are kept, computed in four ways."""
    print(f"{'boxes':28} | {'kept':>4} | {'cpu':8} | {'kernels alone':13} | cuda")
    right = True
    cases = {"600 around 600 objects": around(600, 600), "600 around 30 objects": around(600, 30), "600 in a chain": in_a_chain(600)}
    for name, given in cases.items():
        expected = reference.nms(*given)
        kept, count = kernels.nms_padded(*given)
        cells = [agree(box_nms.nms(*given), expected), agree(kept[: int(count)], expected)]
        cells += [agree(box_nms.nms(*on("cuda", given)), expected) if "cuda" in devices else "skipped"]
        print(f"{name:28} | {len(expected):4} | {cells[0]:8} | {cells[1]:13} | {cells[2]}")
        right &= all(cell in ("same", "skipped") for cell in cells)
    return right


def count_rounds() -> bool:
    """How many rounds the groups of 512 boxes take, in PyTorch. The op must keep the same boxes."""
    print(f"\n{'rounds of the scan':28} | kept | groups | fewest | mean | most")
    right = True
    for name, given in {"10000 around 100 objects": around(10000, 100), "512 in a chain": in_a_chain(512)}.items():
        kept, rounds = reference.nms_in_groups(*given)
        print(f"{name:28} | {len(kept):4} | {len(rounds):6} | {min(rounds):6} | {statistics.mean(rounds):4.0f} | {max(rounds):4}")
        right &= box_nms.nms(*given).equal(kept)
    return right


# The checks, for the device "cpu" or "cuda". Each raises an error if it fails.


def opcheck(device: str) -> None:
    torch.library.opcheck(torch.ops.box_nms.nms.default, on(device, around(60, 6)))


def strides(device: str) -> None:
    boxes, scores, threshold = on(device, around(600, 30))
    apart = boxes.t().contiguous().t(), torch.stack([scores, scores], 1)[:, 1]
    assert box_nms.nms(*apart, threshold).equal(box_nms.nms(boxes, scores, threshold)), "other boxes are kept"


def empty(device: str) -> None:
    kept, count = box_nms.nms_padded(torch.empty(0, 4, device=device), torch.empty(0, device=device), 0.5)
    after = torch.ones(3, device=device) + 1  # an error that was not checked would be reported here
    assert kept.shape == (0,) and count.item() == 0 and after.tolist() == [2, 2, 2], "the result for no boxes is wrong"


def autocast(device: str) -> None:
    boxes, scores, threshold = on(device, around(600, 30))
    with torch.autocast(device, dtype=torch.bfloat16):
        kept = box_nms.nms(boxes, scores.bfloat16(), threshold)
    assert kept.equal(box_nms.nms(boxes, scores.bfloat16().float(), threshold)), "other boxes are kept"


def compiled(device: str) -> None:
    model = lambda boxes, scores: 2 * boxes[box_nms.nms(boxes, scores, 0.5)]  # noqa: E731
    with torch._dynamo.config.patch(capture_scalar_outputs=True):  # the number of kept boxes is a value that only the running op knows
        f = torch.compile(model, fullgraph=True, backend="inductor" if device == "cuda" else "aot_eager")
        for count in 600, 90:  # for the second size, PyTorch compiles f again, with a dynamic shape
            boxes, scores, _ = on(device, around(count, 30))
            torch.testing.assert_close(f(boxes, scores), model(boxes, scores))


def captured(device: str) -> str | None:
    if device == "cpu":
        return NONE
    boxes, scores, threshold = around(600, 30, device)
    box_nms.nms_padded(boxes, scores, threshold)  # loads everything that is loaded at first use, before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept, count = box_nms.nms_padded(boxes, scores, threshold)
    others = around(600, 600, device)
    boxes.copy_(others[0])
    scores.copy_(others[1])
    graph.replay()
    assert kept[: count.item()].equal(box_nms.nms(*others)), "the replay keeps other boxes"
    return None


def captured_with_a_wait(device: str) -> str | None:
    if device == "cpu":
        return NONE
    given = around(600, 30, device)
    box_nms.nms(*given)
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            box_nms.nms(*given)
    except RuntimeError:
        torch.cuda.synchronize()
        return "refused"
    raise AssertionError("nms() was captured, although it waits")


CHECKS = {
    "opcheck": opcheck,
    "not contiguous": strides,
    "no boxes": empty,
    "autocast, bfloat16 scores": autocast,
    "torch.compile, one graph": compiled,
    "CUDA graph of nms_padded": captured,
    "CUDA graph of nms": captured_with_a_wait,
}


def outcome(check: Callable[[str], str | None], device: str) -> str:
    try:
        return check(device) or PASSED
    except Exception as error:
        return textwrap.shorten(f"FAILED: {type(error).__name__}: {error}", 90)


def run_checks(devices: list[str]) -> bool:
    print(f"\n{'check':28} | {'cpu':8} | cuda")
    right = True
    for name, check in CHECKS.items():
        cells = [outcome(check, device) for device in devices] + ["skipped"]
        print(f"{name:28} | {cells[0]:8} | {cells[1]}", flush=True)
        right &= not any(cell.startswith("FAILED") for cell in cells)
    return right


# ---- How fast is it? -------------------------------------------------------------------------------------------------------


def torchvision_nms() -> Callable[..., Tensor] | None:
    """None if torchvision is not installed for this PyTorch."""
    try:
        from torchvision.ops import nms

        nms(torch.zeros(1, 4), torch.zeros(1), 0.5)  # fails if its compiled part does not fit
    except Exception:
        return None
    return nms


def milliseconds(call: Callable[[], object], samples: int = 50) -> str:
    """Median, minimum and maximum of the wall-clock time of a call, until the GPU has finished. The first five samples do not count."""
    times = []
    for sample in range(samples + 5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if sample >= 5:
            times.append(1000 * (time.perf_counter() - start))
    return f"{statistics.median(times):7.3f} ({min(times):.3f} to {max(times):.3f})"


def graph_of(given: Boxes) -> Callable[[], object]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        box_nms.nms_padded(*given)
    return graph.replay


def measure() -> bool:
    theirs = torchvision_nms()
    ways = {"nms": box_nms.nms, "nms_padded": box_nms.nms_padded, "box by box": kernels.box_by_box, "torchvision": theirs}
    right = True
    sets = {"around 10000 objects": around(10000, 10000, "cuda"), "around 100 objects": around(10000, 100, "cuda"), "in a chain": in_a_chain(10000, "cuda")}
    for name, given in sets.items():
        kept = box_nms.nms(*given)
        print(f"\n10000 boxes {name}, {len(kept)} are kept: ms, median (minimum to maximum)")
        for label, way in ways.items():
            if way is None:
                continue
            right &= label == "nms_padded" or way(*given).equal(kept)
            print(f"  {label:26} | {milliseconds(lambda: way(*given))}")  # noqa: B023
        print(f"  {'nms_padded, CUDA graph':26} | {milliseconds(graph_of(given))}")
    if theirs is None:
        print("\ntorchvision: skipped, because it is not installed for this PyTorch")
    return right


def profile() -> None:
    """Prints the kernels of a call and how long they take: the mean of ten calls."""
    kinds = torch.profiler.ProfilerActivity
    for objects in 10000, 100:
        given = around(10000, objects, "cuda")
        for label, call in {"nms": box_nms.nms, "box by box": kernels.box_by_box, "torchvision": torchvision_nms()}.items():
            if call is None:
                continue
            call(*given)
            with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA], acc_events=True) as profiler:
                for _ in range(10):
                    call(*given)
                torch.cuda.synchronize()
            times: dict[str, list[float]] = {}
            for event in profiler.events():
                if event.device_type == torch.autograd.DeviceType.CUDA:
                    times.setdefault(event.name, []).append(event.time_range.elapsed_us() / 1000)
            print(f"{label}, 10000 boxes around {objects} objects: {sum(map(sum, times.values())) / 10:.3f} ms on the GPU")
            for name, durations in sorted(times.items(), key=lambda item: -sum(item[1])):
                print(f"  {sum(durations) / 10:7.3f} ms | {len(durations) / 10:4.1f} times | {name[:90]}")


def main() -> int:
    reason = why_not_cuda()
    if "--profile" in sys.argv:
        print(f"profile: skipped, because {reason}") if reason else profile()
        return 0
    devices = ["cpu"] if reason else ["cpu", "cuda"]
    right = compare(devices)
    right &= count_rounds()
    right &= run_checks(devices)
    if reason:
        print(f"\ncuda is skipped: {reason}")
    else:
        right &= measure()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
