# The lesson's package: the loop on the CPU, the kernels alone, and tensors on a GPU where PyTorch sees one.
import math
import pathlib
import re
import shutil
import subprocess
import warnings

import box_nms
import pytest
import torch

import kernels
import reference
from common.built import built

Tensor = torch.Tensor
SEES_A_GPU = torch.cuda.is_available()
on_a_gpu = pytest.mark.skipif(not SEES_A_GPU, reason="PyTorch sees no GPU here")
DEVICES = ["cpu", "cuda"] if SEES_A_GPU else ["cpu"]
WAYS = ["loop", "kernels", *DEVICES[1:]]
HALF_TYPES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float64, torch.float32, *HALF_TYPES]


def wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in HALF_TYPES else dtype


class Way:
    """Computes in one of the ways. Arguments and results are host tensors."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
        kept, count = self.padded(boxes, scores, threshold)
        assert kept[int(count) :].eq(-1).all(), "behind the kept boxes, there is something else than -1"
        return kept[: int(count)]

    def padded(self, boxes: Tensor, scores: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
        if self.name == "kernels":
            return kernels.nms_padded(boxes.to(wide(boxes.dtype)), scores.to(wide(scores.dtype)), threshold)
        device = "cuda" if self.name == "cuda" else "cpu"
        kept, count = box_nms.nms_padded(boxes.to(device), scores.to(device), threshold)
        return kept.cpu(), count.cpu()


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    torch.manual_seed(3)
    return Way(request.param)


def boxes_of(count: int, dtype: torch.dtype = torch.float32, room: int = 60) -> tuple[Tensor, Tensor]:
    """Whole numbers below 128, which are exact in every type, and many equal scores."""
    corner, size = torch.randint(0, room, (count, 2)), torch.randint(1, 30, (count, 2))
    return torch.cat([corner, corner + size], 1).to(dtype), torch.randint(0, 9, (count,)).to(dtype)


def many_boxes(count: int, device: str) -> tuple[Tensor, Tensor]:
    torch.manual_seed(4)
    corner = torch.rand(count, 2) * 900
    return torch.cat([corner, corner + 10 + torch.rand(count, 2) * 90], 1).to(device), torch.rand(count).to(device)


# ---- which boxes are kept ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_same_boxes_are_kept_as_the_definition_keeps(way: Way, dtype: torch.dtype) -> None:
    for count in (1, 2, 63, 64, 65, 128, 300, 512, 513, 1100):
        boxes, scores = boxes_of(count, dtype)
        expected = reference.nms(boxes.to(wide(dtype)), scores.to(wide(dtype)), 0.3)
        assert way(boxes, scores, 0.3).tolist() == expected.tolist(), f"{count} boxes"


def test_the_scan_in_groups_keeps_the_same_boxes_as_the_definition() -> None:
    torch.manual_seed(3)
    boxes, scores = boxes_of(1100)
    kept, rounds = reference.nms_in_groups(boxes, scores, 0.3)
    assert kept.equal(reference.nms(boxes, scores, 0.3)) and len(rounds) == 3


def test_boxes_with_equal_scores_keep_their_order(way: Way) -> None:
    boxes, _ = boxes_of(200, room=2000)
    kept = way(boxes, torch.ones(200), 0.9).tolist()
    assert kept == sorted(kept) and kept[0] == 0
    assert way(boxes[:1].repeat(70, 1), torch.ones(70), 0.5).tolist() == [0]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_scores_are_ordered_as_sort_orders_them(way: Way, dtype: torch.dtype) -> None:
    """Boxes that do not overlap are all kept, so the result is the order."""
    special = torch.tensor([0.0, -0.0, math.nan, math.inf, -math.inf, -math.nan, 1, -1, 1e-7, -1e-7]).repeat(4).to(dtype)
    for scores in (special, special.flip(0), torch.randn(77).to(dtype), torch.zeros(1).to(dtype)):
        corner = torch.arange(float(len(scores)))[:, None].expand(-1, 2)
        expected = scores.sort(descending=True, stable=True).indices
        assert way(torch.cat([corner, corner + 1], 1).to(dtype), scores, 0.5).tolist() == expected.tolist()


def test_a_box_whose_overlap_is_exactly_the_threshold_is_kept(way: Way) -> None:
    boxes, scores = torch.tensor([[0.0, 0, 3, 1], [1, 0, 4, 1]]), torch.tensor([2.0, 1])  # they share 2 of 4
    assert way(boxes, scores, 0.5).tolist() == [0, 1]
    assert way(boxes, scores, 0.4999).tolist() == [0]


def test_the_threshold_is_converted_to_the_type_of_the_boxes(way: Way) -> None:
    boxes, scores = torch.tensor([[0.0, 0, 10, 1], [0, 0, 1, 1]]), torch.tensor([2.0, 1])  # 0.1 in float is more than 0.1 in double
    assert way(boxes, scores, 0.1).tolist() == [0, 1]


def test_a_removed_box_removes_no_others(way: Way) -> None:
    left = torch.arange(600.0) * 4  # each overlaps only its neighbors, so every second one is kept
    boxes = torch.stack([left, torch.zeros(600), left + 10, torch.ones(600)], 1)
    assert way(boxes, torch.arange(600.0).flip(0), 0.4).tolist() == list(range(0, 600, 2))


def test_boxes_without_an_area_are_kept(way: Way) -> None:
    assert way(torch.ones(3, 4), torch.tensor([1.0, 3, 2]), 0.5).tolist() == [1, 2, 0]


@pytest.mark.parametrize("threshold", [0.5, -0.1])
def test_a_box_with_a_coordinate_that_is_not_a_number_overlaps_none(way: Way, threshold: float) -> None:
    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, math.nan, 10], [math.nan, 0, 10, 10], [0, math.nan, 10, 10]])
    assert way(boxes, torch.tensor([4.0, 3, 2, 1]), threshold).tolist() == [0, 1, 2, 3]


def test_with_a_negative_threshold_only_the_best_is_kept(way: Way) -> None:
    boxes, scores = boxes_of(100, room=5000)
    assert way(boxes, scores, -0.1).tolist() == [int(scores.argmax())]


@pytest.mark.parametrize("device", DEVICES)
def test_no_boxes_are_no_error_and_none_is_kept(device: str) -> None:
    kept, count = box_nms.nms_padded(torch.empty(0, 4, device=device), torch.empty(0, device=device), 0.5)
    assert kept.shape == (0,) and kept.dtype == torch.int64 and count.shape == () and count.item() == 0
    assert box_nms.nms(torch.empty(0, 4, device=device), torch.empty(0, device=device), 0.5).shape == (0,)
    assert (torch.ones(3, device=device) + 1).tolist() == [2, 2, 2]  # no error is left for the next operation


@pytest.mark.parametrize("device", DEVICES)
def test_tensors_with_any_strides_give_the_same_result(device: str) -> None:
    boxes, scores = [tensor.to(device) for tensor in boxes_of(150)]
    apart = torch.stack([boxes, boxes], 2)[:, :, 0], torch.stack([scores, scores], 1)[:, 1]
    assert not apart[0].is_contiguous() and not apart[1].is_contiguous()
    assert box_nms.nms(*apart, 0.3).equal(box_nms.nms(boxes, scores, 0.3))


# ---- what PyTorch expects of an op ---------------------------------------------------------------------------------------

REFUSED = [
    ("boxes must be n x 4", torch.zeros(5, 5), torch.zeros(5)),
    ("boxes must be n x 4", torch.zeros(20), torch.zeros(5)),
    ("5 boxes need as many scores", torch.zeros(5, 4), torch.zeros(4)),
    ("5 boxes need as many scores", torch.zeros(5, 4), torch.zeros(5, 1)),
    ("the same dtype", torch.zeros(5, 4), torch.zeros(5).double()),
]


@pytest.mark.parametrize("words, boxes, scores", REFUSED)
def test_invalid_input_is_rejected_with_a_clear_message(words: str, boxes: Tensor, scores: Tensor) -> None:
    for device in ("cpu", "meta"):  # the fake implementation rejects what the op rejects
        with pytest.raises(RuntimeError, match=words):
            torch.ops.box_nms.nms(boxes.to(device), scores.to(device), 0.5)


def test_boxes_and_scores_must_be_on_the_same_device() -> None:
    other = "cuda" if SEES_A_GPU else "meta"
    with pytest.raises(RuntimeError, match="same (dtype and )?device"):
        box_nms.nms(torch.zeros(3, 4, device=other), torch.zeros(3), 0.5)


def test_whole_numbers_are_rejected_with_a_clear_message() -> None:
    with pytest.raises(RuntimeError, match="\"box_nms\" not implemented for 'Long'"):
        box_nms.nms(torch.zeros(5, 4).long(), torch.zeros(5).long(), 0.5)


@pytest.mark.parametrize("device", DEVICES)
def test_opcheck_finds_nothing(device: str) -> None:
    op = torch.ops.box_nms.nms.default
    for count in (0, 40):
        given = [tensor.to(device) for tensor in boxes_of(count, torch.bfloat16)]
        assert set(torch.library.opcheck(op, (*given, 0.3)).values()) == {"SUCCESS"}


@pytest.mark.parametrize("device", DEVICES)
def test_under_autocast_the_two_may_have_different_types(device: str) -> None:
    boxes, scores = [tensor.to(device) for tensor in boxes_of(100)]
    with torch.autocast(device, torch.bfloat16):
        assert box_nms.nms(boxes, scores.bfloat16(), 0.3).equal(box_nms.nms(boxes, scores, 0.3))


@pytest.mark.parametrize("device", DEVICES)
def test_a_traced_model_has_no_graph_break(device: str) -> None:
    """On a GPU, the lesson's program compiles one with Inductor, too."""
    model = lambda boxes, scores: 2 * boxes[box_nms.nms(boxes, scores, 0.3)]  # noqa: E731
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        for count in (60, 90):  # the second time with a dynamic shape
            given = [tensor.to(device) for tensor in boxes_of(count)]
            torch.testing.assert_close(compiled(*given), model(*given))


@pytest.mark.parametrize("device", DEVICES)
def test_boxes_that_require_a_gradient_get_none_and_no_warning(device: str) -> None:
    boxes, scores = [tensor.to(device).requires_grad_() for tensor in boxes_of(40)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = box_nms.nms(boxes, scores, 0.3)
        assert not kept.requires_grad
        scores[kept].sum().backward()
    assert scores.grad.sum().item() == len(kept)


def test_the_library_uses_only_the_stable_interface() -> None:
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("there is no nm here")
    library = built(kernels.__file__, "installed/box_nms/_C.abi3.so")
    said = subprocess.run([nm, "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1].split("@")[0] for line in said.splitlines()]
    assert "torch_library_impl" in names
    assert not [name for name in names if re.match(r"_Z.*(c10|2at|5torch)|_?Py|cu[A-Z]", name)]


def test_the_kernels_load_a_box_with_one_or_two_instructions() -> None:
    ptx = pathlib.Path(kernels.KERNELS).read_text(encoding="utf-8")
    body = re.search(r"\.entry nms_mask_float\((.*?)\n}", ptx, re.DOTALL)
    assert body and len(re.findall(r"ld\.shared\.v4\.f32", body[1])) >= 64


# ---- on a GPU ------------------------------------------------------------------------------------------------------------


@on_a_gpu
@pytest.mark.parametrize("count", [10_000, 20_000])
def test_on_a_gpu_many_boxes_are_decided_as_on_the_cpu(count: int) -> None:
    """From 16,385 boxes on, PyTorch sorts them."""
    boxes, scores = many_boxes(count, "cuda")
    kept = box_nms.nms(boxes, scores, 0.5)
    assert kept.is_cuda and kept.cpu().equal(box_nms.nms(boxes.cpu(), scores.cpu(), 0.5))
    assert kept.equal(kernels.box_by_box(boxes, scores, 0.5))


@pytest.mark.parametrize("device", DEVICES)
def test_torchvision_keeps_the_same_boxes(device: str) -> None:
    ops = pytest.importorskip("torchvision.ops", reason="torchvision is not installed for this PyTorch")
    boxes, scores = many_boxes(3000, device)
    for rounded in (boxes, boxes.round()):
        for given in (scores, (scores * 10).round()):
            assert box_nms.nms(rounded, given, 0.5).equal(ops.nms(rounded, given, 0.5))
