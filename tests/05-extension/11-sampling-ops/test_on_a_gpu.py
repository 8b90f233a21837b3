# What only tensors on a GPU can show, and comparisons with torchvision where it is installed.
from collections.abc import Callable

import pytest
import torch

import baselines
import sampling_ops

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU here")
beside_torchvision = pytest.mark.skipif(not baselines.torchvision_ops(), reason="torchvision is not installed for this PyTorch")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
DIFFERENTIABLE = ["roi_align", "deform_conv2d", "deform_attention"]
Tensor = torch.Tensor


def op_and_tensors(name: str, device: str) -> tuple[Callable[..., Tensor], list[Tensor]]:
    """An op with its other arguments, and the tensors that require a gradient. These have the same values on every device."""
    torch.manual_seed(4)
    boxes = torch.tensor([[0, 1.2, 2.1, 8.3, 7.7], [1, -3, -2, 4, 5]]).double().to(device)
    op, shapes = {
        "roi_align": (lambda input: sampling_ops.roi_align(input, boxes, (3, 2), 1.0, 2, True), [(2, 4, 12, 13)]),
        "deform_conv2d": (
            lambda *tensors: sampling_ops.deform_conv2d(*tensors, padding=1),
            [(2, 4, 12, 13), (2, 18, 12, 13), (6, 4, 3, 3), (6,), (2, 9, 12, 13)],
        ),
        "deform_attention": (
            lambda value, *others: sampling_ops.deform_attention(value, [(4, 5), (2, 3)], *others),
            [(2, 26, 2, 8), (2, 30, 2, 2, 4, 2), (2, 30, 2, 2, 4)],
        ),
    }[name]
    return op, [torch.rand(*shape, dtype=torch.float64).to(device).requires_grad_() for shape in shapes]


def run_with_gradients(op: Callable[..., Tensor], tensors: list[Tensor]) -> list[Tensor]:
    output = op(*tensors)
    return [output, *torch.autograd.grad(output.square().sum(), tensors)]


@on_a_gpu
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_on_a_gpu_forward_and_backward_are_captured_into_a_graph_and_wait_for_nothing(name: str) -> None:
    """Capture records only what is in the capturing stream, so this also shows that the ops run in the current stream."""
    op, tensors = op_and_tensors(name, "cuda")
    run_with_gradients(op, tensors)
    torch.cuda.set_sync_debug_mode("error")
    try:
        run_with_gradients(op, tensors)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # loads the kernels and cuBLAS, which capture does not allow
        run_with_gradients(op, tensors)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = run_with_gradients(op, tensors)
    with torch.no_grad():
        for tensor in tensors:
            tensor.mul_(0.9)
    graph.replay()
    for found, expected in zip(captured, run_with_gradients(op, tensors), strict=True):
        torch.testing.assert_close(found, expected)


@on_a_gpu
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_on_a_gpu_results_without_atomics_have_the_same_bits_in_every_run(name: str) -> None:
    """All but the gradient of the first tensor: the input or the value."""
    runs = [run_with_gradients(*op_and_tensors(name, "cuda")) for _ in range(5)]
    for same in zip(*[[output, *others] for output, _, *others in runs], strict=True):
        assert all(tensor.equal(same[0]) for tensor in same)


@on_a_gpu
def test_on_a_gpu_deterministic_algorithms_are_rejected_where_atomics_add() -> None:
    input = torch.zeros(1, 1, 8, 8, device="cuda", requires_grad=True)
    output = sampling_ops.roi_align(input, torch.tensor([[0.0, 0, 0, 7, 7]], device="cuda"), 2).sum()
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match="roi_align's backward adds with atomics"):
            output.backward()
        input, offset = torch.zeros(1, 2, 4, 4, device="cuda"), torch.zeros(1, 18, 4, 4, device="cuda")
        weight = torch.zeros(2, 2, 3, 3, device="cuda", requires_grad=True)
        sampling_ops.deform_conv2d(input, offset, weight, padding=1).sum().backward()  # of the weight: no atomics
        with pytest.raises(RuntimeError, match="deform_conv2d's backward adds with atomics"):
            sampling_ops.deform_conv2d(input.requires_grad_(), offset, weight, padding=1).sum().backward()
        with pytest.raises(RuntimeError, match="deform_attention's backward adds with atomics"):
            run_with_gradients(*op_and_tensors("deform_attention", "cuda"))
    finally:
        torch.use_deterministic_algorithms(False)


@on_a_gpu
def test_on_a_gpu_tensors_of_two_devices_are_rejected_with_a_clear_message() -> None:
    with pytest.raises(ValueError, match="boxes is on cpu, but input is on cuda:0"):
        sampling_ops.roi_align(torch.zeros(1, 1, 4, 4, device="cuda"), torch.zeros(1, 5), 2)
    _, (value, locations, weights) = op_and_tensors("deform_attention", "cuda")
    with pytest.raises(ValueError, match="gradient is on cpu, but value is on cuda:0"):
        torch.ops.sampling_ops.deform_attention_backward(torch.zeros(2, 30, 2, 8).double(), value, locations, weights, [4, 5, 2, 3])


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="PyTorch sees no second GPU here")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_on_the_second_gpu_kernels_run_in_its_context(name: str) -> None:
    """The current device is the first."""
    here, there = [run_with_gradients(*op_and_tensors(name, device)) for device in ("cpu", "cuda:1")]
    for expected, found in zip(here, there, strict=True):
        assert found.device.index == 1
        torch.testing.assert_close(found.cpu(), expected)


@beside_torchvision
@pytest.mark.parametrize("device", DEVICES)
def test_torchvision_aligns_and_convolves_in_the_same_way(device: str) -> None:
    from torchvision import ops

    torch.manual_seed(4)
    input = torch.randn(2, 4, 12, 13, dtype=torch.float64, device=device, requires_grad=True)
    boxes = torch.tensor([[0, 1.2, 2.1, 8.3, 7.7], [1, -3, -2, 4, 5], [1, 9, 7, 20, 19]], dtype=torch.float64, device=device)
    for samples in (-1, 2):
        for aligned in (False, True):
            outputs = [op(input, boxes, (3, 2), 0.9, samples, aligned) for op in (sampling_ops.roi_align, ops.roi_align)]
            torch.testing.assert_close(*outputs)
            torch.testing.assert_close(*[torch.autograd.grad(output.square().sum(), input)[0] for output in outputs])
    made = [torch.randn(*shape, dtype=torch.float64, device=device) for shape in ((2, 36, 12, 13), (6, 2, 3, 3), (6,), (2, 18, 12, 13))]
    offset, weight, bias, mask = [tensor.requires_grad_() for tensor in made]
    ours = sampling_ops.deform_conv2d(input, offset, weight, bias, mask, 1, 1, 1)
    theirs = ops.deform_conv2d(input, offset, weight, bias, 1, 1, 1, mask)
    torch.testing.assert_close(ours, theirs)
    gradients = [torch.autograd.grad(output.square().sum(), [input, offset, weight, bias, mask]) for output in (ours, theirs)]
    for pair in zip(*gradients):
        torch.testing.assert_close(*pair)
