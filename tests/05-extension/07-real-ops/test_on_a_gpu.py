# What only tensors on a GPU can show, and comparisons with torchvision where it is installed.
import places
import pytest
import real_ops
import torch
import yardsticks

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU here")
beside_torchvision = pytest.mark.skipif(not yardsticks.torchvision_ops(), reason="torchvision is not installed for this PyTorch")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
Tensor = torch.Tensor


def many_boxes(count: int, device: str) -> tuple[Tensor, Tensor]:
    torch.manual_seed(4)
    corner = torch.rand(count, 2) * 900
    return torch.cat([corner, corner + 10 + torch.rand(count, 2) * 90], 1).to(device), torch.rand(count).to(device)


def attention_on_gpu() -> tuple:
    shape = (1, 3, 2, 1, 4)
    return torch.ones(1, 20, 2, 8, device="cuda"), [(4, 5)], torch.rand(*shape, 2, device="cuda"), torch.rand(*shape, device="cuda")


@on_a_gpu
def test_on_a_gpu_nms_of_ten_thousand_boxes_is_the_same_in_all_ways() -> None:
    boxes, scores = many_boxes(10000, "cuda")
    kept = real_ops.nms(boxes, scores, 0.5)
    assert kept.is_cuda and kept.cpu().equal(real_ops.nms(boxes.cpu(), scores.cpu(), 0.5))
    assert kept.equal(yardsticks.box_by_box(boxes, scores, 0.5)) and kept.equal(yardsticks.on_the_host(boxes, scores, 0.5))


@on_a_gpu
def test_on_a_gpu_ops_run_on_the_current_stream() -> None:
    """Capture records only what is in the capturing stream, so a launch in another stream shows in every run."""
    input, boxes = torch.zeros(1, 1, 64, 64, device="cuda"), torch.tensor([[0.0, 0, 0, 63, 63]], device="cuda")
    given = attention_on_gpu()
    real_ops.roi_align(input, boxes, 2), real_ops.deform_attention(*given)  # loads the kernels
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found, attended = real_ops.roi_align(input, boxes, 2), real_ops.deform_attention(*given)
    input.fill_(3)
    given[0].fill_(2)
    graph.replay()
    torch.testing.assert_close(found, torch.full_like(found, 3))
    torch.testing.assert_close(attended, real_ops.deform_attention(*given))


@on_a_gpu
def test_on_a_gpu_deterministic_algorithms_are_rejected_where_atomics_add() -> None:
    input = torch.zeros(1, 1, 8, 8, device="cuda", requires_grad=True)
    output = real_ops.roi_align(input, torch.tensor([[0.0, 0, 0, 7, 7]], device="cuda"), 2).sum()
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match="roi_align's backward adds with atomics"):
            output.backward()
        input, offset = torch.zeros(1, 2, 4, 4, device="cuda"), torch.zeros(1, 18, 4, 4, device="cuda")
        weight = torch.zeros(2, 2, 3, 3, device="cuda", requires_grad=True)
        real_ops.deform_conv2d(input, offset, weight, padding=1).sum().backward()  # of the weight: no atomics
        with pytest.raises(RuntimeError, match="deform_conv2d's backward adds with atomics"):
            real_ops.deform_conv2d(input.requires_grad_(), offset, weight, padding=1).sum().backward()
        value, sizes, locations, weights = attention_on_gpu()
        with pytest.raises(RuntimeError, match="deform_attention's backward adds with atomics"):
            real_ops.deform_attention(value.requires_grad_(), sizes, locations, weights).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)


@on_a_gpu
def test_on_a_gpu_tensors_of_two_devices_are_rejected_with_a_clear_message() -> None:
    with pytest.raises(ValueError, match="scores is on cpu, but boxes is on cuda:0"):
        real_ops.nms(torch.zeros(3, 4, device="cuda"), torch.zeros(3), 0.5)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="PyTorch sees no second GPU here")
def test_on_the_second_gpu_kernels_run_in_its_context() -> None:
    boxes, scores = many_boxes(500, "cuda:1")
    kept = real_ops.nms(boxes, scores, 0.5)  # the current device is the first
    assert kept.device.index == 1 and kept.cpu().equal(real_ops.nms(boxes.cpu(), scores.cpu(), 0.5))


def test_too_many_boxes_for_the_mask_are_rejected_with_a_clear_message() -> None:
    boxes = torch.zeros(1, 4).expand(400_000, 4)
    with pytest.raises(ValueError, match="400000 boxes are too many. The limit is 294912"):
        places.device(0).nms(boxes, torch.arange(len(boxes)), 0.5)


@beside_torchvision
@pytest.mark.parametrize("device", DEVICES)
def test_torchvision_keeps_the_same_boxes(device: str) -> None:
    boxes, scores = many_boxes(3000, device)
    for rounded in (boxes, boxes.round()):
        for given in (scores, (scores * 10).round()):
            assert real_ops.nms(rounded, given, 0.5).equal(yardsticks.torchvision_ops().nms(rounded, given, 0.5))


@beside_torchvision
@pytest.mark.parametrize("device", DEVICES)
def test_torchvision_aligns_and_convolves_in_the_same_way(device: str) -> None:
    from torchvision import ops

    torch.manual_seed(4)
    input = torch.randn(2, 4, 12, 13, dtype=torch.float64, device=device, requires_grad=True)
    boxes = torch.tensor([[0, 1.2, 2.1, 8.3, 7.7], [1, -3, -2, 4, 5], [1, 9, 7, 20, 19]], dtype=torch.float64, device=device)
    for samples in (-1, 2):
        for aligned in (False, True):
            outputs = [op(input, boxes, (3, 2), 0.9, samples, aligned) for op in (real_ops.roi_align, ops.roi_align)]
            torch.testing.assert_close(*outputs)
            torch.testing.assert_close(*[torch.autograd.grad(output.square().sum(), input)[0] for output in outputs])
    made = [torch.randn(*shape, dtype=torch.float64, device=device) for shape in ((2, 36, 12, 13), (6, 2, 3, 3), (6,), (2, 18, 12, 13))]
    offset, weight, bias, mask = [tensor.requires_grad_() for tensor in made]
    ours = real_ops.deform_conv2d(input, offset, weight, bias, mask, 1, 1, 1)
    theirs = ops.deform_conv2d(input, offset, weight, bias, 1, 1, 1, mask)
    torch.testing.assert_close(ours, theirs)
    gradients = [torch.autograd.grad(output.square().sum(), [input, offset, weight, bias, mask]) for output in (ours, theirs)]
    for pair in zip(*gradients):
        torch.testing.assert_close(*pair)
