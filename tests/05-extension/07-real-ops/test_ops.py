# The ops of 05-07, by the CPU's loops, by the kernels through the driver API, and, where there is one, on tensors of a GPU.
import contextlib
import itertools

import places
import pytest
import real_ops
import reference
import torch
from torch.nn.functional import conv2d

Tensor = torch.Tensor
FLOATS = [torch.float64, torch.float32, torch.float16]
CLOSE = {torch.float64: 1e-11, torch.float32: 1e-4, torch.float16: 2e-2}
WAYS = ["loop", "kernel"] + (["GPU"] if torch.cuda.is_available() else [])


class Way:
    """Computes in one of the three ways; what goes in and what comes out are tensors of the host."""

    def __init__(self, name: str):
        self.device = "cuda" if name == "GPU" else "cpu"
        self.inside = places.through_the_driver if name == "kernel" else contextlib.nullcontext

    def put(self, tensors: list[Tensor | None]) -> list[Tensor | None]:
        return [None if tensor is None else tensor.to(self.device) for tensor in tensors]

    def __call__(self, op, tensors: list[Tensor | None], *how) -> Tensor:
        with self.inside():
            return op(*self.put(tensors), *how).cpu()

    def gradients(self, op, tensors: list[Tensor | None], arriving: Tensor, *how) -> list[Tensor]:
        """Checks the gradients of all tensors that require one."""
        wanting = [None if tensor is None else tensor.detach().requires_grad_(tensor.requires_grad) for tensor in self.put(tensors)]
        inputs = [tensor for tensor in wanting if tensor is not None and tensor.requires_grad]
        with self.inside():
            found = torch.autograd.grad(op(*wanting, *how), inputs, arriving.to(self.device))
        return [gradient.cpu() for gradient in found]


@pytest.fixture(params=WAYS)
def way(request) -> Way:
    torch.manual_seed(3)
    return Way(request.param)


def near(found: Tensor, expected: Tensor, dtype: torch.dtype = torch.float64) -> None:
    assert found.shape == expected.shape
    if expected.numel():
        scale = max(expected.abs().max().item(), 1)
        assert (found.double() - expected.double()).abs().max().item() <= CLOSE[dtype] * scale


def exact_in_half(tensor: Tensor) -> Tensor:
    """In double, so that all types begin with the same numbers."""
    return tensor.half().double()


def as_type(tensors: list[Tensor | None], dtype: torch.dtype) -> list[Tensor | None]:
    return [None if tensor is None else tensor.detach().to(dtype).requires_grad_(tensor.requires_grad) for tensor in tensors]


def refused(words: str, call, *arguments) -> None:
    with pytest.raises(ValueError) as caught:
        call(*arguments)
    assert words in str(caught.value) and str(caught.value).endswith("."), str(caught.value)


# ---- NMS -----------------------------------------------------------------------------------------------------------------


def boxes_of(count: int, dtype: torch.dtype = torch.float32, room: int = 60) -> tuple[Tensor, Tensor]:
    """Whole numbers, with many equal scores: exact in every type."""
    corner, size = torch.randint(0, room, (count, 2)), torch.randint(1, 30, (count, 2))
    return torch.cat([corner, corner + size], 1).to(dtype), torch.randint(0, 9, (count,)).to(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nms_keeps_what_its_definition_keeps(way: Way, dtype: torch.dtype) -> None:
    for count in (1, 2, 31, 63, 64, 65, 128, 300, 1000):
        boxes, scores = boxes_of(count, dtype)
        wide = torch.float32 if dtype == torch.float16 else dtype
        expected = reference.nms(boxes.to(wide), scores.to(wide), 0.3)
        assert way(real_ops.nms, [boxes, scores], 0.3).tolist() == expected.tolist(), f"{count} boxes"


def test_nms_of_no_boxes_keeps_none(way: Way) -> None:
    kept = way(real_ops.nms, [torch.empty(0, 4), torch.empty(0)], 0.5)
    assert kept.shape == (0,) and kept.dtype == torch.int64


def test_nms_takes_boxes_of_the_same_score_in_their_order(way: Way) -> None:
    boxes, _ = boxes_of(200, room=2000)
    kept = way(real_ops.nms, [boxes, torch.ones(200)], 0.9).tolist()
    assert kept == sorted(kept) and kept[0] == 0
    assert way(real_ops.nms, [boxes[:1].repeat(70, 1), torch.ones(70)], 0.5).tolist() == [0]


def test_nms_keeps_a_box_whose_overlap_is_exactly_the_threshold(way: Way) -> None:
    boxes, scores = torch.tensor([[0.0, 0, 3, 1], [1, 0, 4, 1]]), torch.tensor([2.0, 1])  # they share 2 of 4
    assert way(real_ops.nms, [boxes, scores], 0.5).tolist() == [0, 1]
    assert way(real_ops.nms, [boxes, scores], 0.4999).tolist() == [0]


def test_nms_gives_loop_and_kernel_the_threshold_in_the_type_of_the_boxes(way: Way) -> None:
    boxes, scores = torch.tensor([[0.0, 0, 10, 1], [0, 0, 1, 1]]), torch.tensor([2.0, 1])  # 0.1 in float is more than 0.1 in double
    assert way(real_ops.nms, [boxes, scores], 0.1).tolist() == [0, 1]


def test_nms_lets_a_box_that_was_removed_remove_nobody(way: Way) -> None:
    left = torch.arange(200.0) * 4  # each overlaps its neighbours, and no others: every second one stays
    boxes = torch.stack([left, torch.zeros(200), left + 10, torch.ones(200)], 1)
    assert way(real_ops.nms, [boxes, torch.arange(200.0).flip(0)], 0.4).tolist() == list(range(0, 200, 2))


def test_nms_keeps_boxes_without_an_area(way: Way) -> None:
    assert way(real_ops.nms, [torch.ones(3, 4), torch.tensor([1.0, 3, 2])], 0.5).tolist() == [1, 2, 0]


def test_nms_with_a_negative_threshold_keeps_the_best_only(way: Way) -> None:
    boxes, scores = boxes_of(100, room=5000)
    assert way(real_ops.nms, [boxes, scores], -0.1).tolist() == [int(scores.argmax())]


def test_nms_reads_tensors_that_are_not_contiguous(way: Way) -> None:
    boxes, scores = boxes_of(150)
    expected = way(real_ops.nms, [boxes, scores], 0.3)
    apart = torch.stack([boxes, boxes], 2)[:, :, 0], torch.stack([scores, scores], 1)[:, 1]
    assert not apart[0].is_contiguous() and not apart[1].is_contiguous()
    assert way(real_ops.nms, [*apart], 0.3).equal(expected)


def test_nms_refuses_wrong_shapes_in_a_sentence(way: Way) -> None:
    refused("boxes are n x 4, not [5, 5]", real_ops.nms, torch.zeros(5, 5), torch.zeros(5), 0.5)
    refused("5 boxes need as many scores, not [4]", real_ops.nms, torch.zeros(5, 4), torch.zeros(4), 0.5)
    refused("scores is torch.float64, but boxes is torch.float32", real_ops.nms, torch.zeros(5, 4), torch.zeros(5).double(), 0.5)
    refused("boxes is torch.int64", real_ops.nms, torch.zeros(5, 4).long(), torch.zeros(5).long(), 0.5)


# ---- ROIAlign ------------------------------------------------------------------------------------------------------------

# In the image, over its edge, far outside, smaller than a pixel, without a size, turned round.
REGIONS = [[0, 1.2, 2.1, 8.3, 7.7], [1, -3, -2, 4, 5], [0, 9, 7, 20, 19], [1, 40, 40, 50, 50]]
REGIONS += [[1, 2.2, 2.3, 2.6, 2.9], [0, 3, 3, 3, 3], [1, 8, 7, 2, 3]]
HOW = [((3, 2), 0.9, samples, aligned) for samples, aligned in itertools.product((-1, 0, 1, 2), (False, True))]


def image_and_regions() -> list[Tensor]:
    return [exact_in_half(torch.randn(2, 3, 9, 11)).requires_grad_(), exact_in_half(torch.tensor(REGIONS))]


@pytest.mark.parametrize("how", HOW)
def test_roi_align_gives_what_its_definition_gives(way: Way, how: tuple) -> None:
    tensors = image_and_regions()
    expected = reference.roi_align(*tensors, *how)
    for dtype in FLOATS:
        found = way(real_ops.roi_align, as_type(tensors, dtype), *how)
        assert found.dtype == dtype
        near(found, expected, dtype)


@pytest.mark.parametrize("how", HOW)
def test_roi_align_sends_back_what_its_definition_does(way: Way, how: tuple) -> None:
    tensors, arriving = image_and_regions(), exact_in_half(torch.randn(len(REGIONS), 3, 3, 2))
    (expected,) = torch.autograd.grad(reference.roi_align(*tensors, *how), tensors[:1], arriving)
    for dtype in FLOATS:
        (found,) = way.gradients(real_ops.roi_align, as_type(tensors, dtype), arriving.to(dtype), *how)
        assert found.dtype == dtype
        near(found, expected, dtype)


def test_roi_align_adds_gradients_of_half_up_in_float(way: Way) -> None:
    input, boxes = torch.zeros(1, 1, 4, 4).half().requires_grad_(), torch.tensor([[0.0, 0, 0, 1, 1]]).half().repeat(5000, 1)
    (found,) = way.gradients(real_ops.roi_align, [input, boxes], torch.ones(5000, 1, 1, 1).half(), 1)
    assert found.sum().item() == 5000  # in half, adding 1 ends at 2048


def test_roi_align_of_no_boxes_is_empty_and_its_gradient_is_zero(way: Way) -> None:
    tensors = [torch.randn(2, 3, 5, 5).requires_grad_(), torch.empty(0, 5)]
    assert way(real_ops.roi_align, tensors, (2, 4)).shape == (0, 3, 2, 4)
    (found,) = way.gradients(real_ops.roi_align, tensors, torch.empty(0, 3, 2, 4), (2, 4))
    assert found.equal(torch.zeros(2, 3, 5, 5))


def test_roi_align_passes_gradcheck_once_and_twice(way: Way) -> None:
    input, boxes = way.put([torch.randn(2, 2, 4, 4).double(), torch.tensor([[0, 0.6, 0.3, 3.1, 3.4], [1, -1, 1, 2, 5]]).double()])
    with way.inside():
        op = lambda x: real_ops.roi_align(x, boxes, 2, 1.0, 2, True)  # noqa: E731
        assert torch.autograd.gradcheck(op, input.requires_grad_(), nondet_tol=1e-12)
        assert torch.autograd.gradgradcheck(op, input, nondet_tol=1e-12)


def test_roi_align_reads_tensors_that_are_not_contiguous(way: Way) -> None:
    input, boxes = image_and_regions()
    arriving = torch.randn(len(REGIONS), 3, 2, 2).double()
    given = [input.detach().to(memory_format=torch.channels_last).requires_grad_(), boxes.t().contiguous().t()]
    assert not any(tensor.is_contiguous() for tensor in given)
    near(way(real_ops.roi_align, given, 2), reference.roi_align(input, boxes, (2, 2)))
    expected = way.gradients(real_ops.roi_align, [input, boxes], arriving, 2)
    apart = arriving.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    near(way.gradients(real_ops.roi_align, given, apart, 2)[0], expected[0])
    ones = torch.ones(1).double().expand(arriving.shape)  # what .sum() sends back: one number, seen often
    near(way.gradients(real_ops.roi_align, given, ones, 2)[0], way.gradients(real_ops.roi_align, given, ones.contiguous(), 2)[0])


def test_roi_align_refuses_what_it_cannot_take_in_a_sentence() -> None:
    input, boxes = image_and_regions()
    refused("input has 4 dimensions, not 3", real_ops.roi_align, input[0], boxes, 2)
    refused("boxes are k x 5 (image, left, top, right, bottom), not [7, 4]", real_ops.roi_align, input, boxes[:, :4], 2)
    refused("an output of 0 x 2 has no bins", real_ops.roi_align, input, boxes, (0, 2))
    refused("boxes is torch.float32, but input is torch.float64", real_ops.roi_align, input, boxes.float(), 2)
    refused("there are 2 images, and a box names another", real_ops.roi_align, input, torch.tensor([[2, 0, 0, 1, 1]]).double(), 2)


# ---- modulated deformable convolution ------------------------------------------------------------------------------------

# images, channels, height, width, filters, groups, groups of offsets, kernel, stride, padding, dilation, mask and bias
SHAPES = [
    (2, 4, 6, 7, 6, 1, 1, (3, 3), (1, 1), (1, 1), (1, 1), True),
    (2, 4, 6, 7, 6, 2, 2, (3, 2), (2, 1), (1, 2), (1, 2), True),
    (1, 6, 5, 5, 3, 3, 2, (1, 1), (1, 1), (0, 0), (1, 1), False),
    (1, 2, 7, 8, 2, 1, 1, (2, 3), (3, 2), (2, 0), (2, 1), False),
]


def tensors_of(shape: tuple) -> tuple[list[Tensor | None], tuple]:
    images, channels, height, width, filters, groups, offsets, kernel, stride, padding, dilation, modulated = shape
    size = [(a + 2 * p - d * (k - 1) - 1) // s + 1 for a, k, s, p, d in zip((height, width), kernel, stride, padding, dilation)]
    taps = offsets * kernel[0] * kernel[1]
    made = [torch.randn(images, channels, height, width), 1.5 * torch.randn(images, 2 * taps, *size)]
    made += [torch.randn(filters, channels // groups, *kernel)]
    made += [torch.randn(filters), torch.rand(images, taps, *size)] if modulated else [None, None]
    made = [None if tensor is None else exact_in_half(tensor) for tensor in made]
    made[1][made[1] == made[1].round()] += 0.25  # at a pixel the slope changes: which one is the gradient is a matter of taste
    return [None if tensor is None else tensor.requires_grad_() for tensor in made], (stride, padding, dilation)


@pytest.mark.parametrize("shape", SHAPES)
def test_deform_conv2d_gives_and_sends_back_what_its_definition_does(way: Way, shape: tuple) -> None:
    tensors, how = tensors_of(shape)
    expected = reference.deform_conv2d(*tensors, *how)
    arriving = exact_in_half(torch.randn(expected.shape))
    gradients = torch.autograd.grad(expected, [tensor for tensor in tensors if tensor is not None], arriving)
    for dtype in FLOATS:
        given = as_type(tensors, dtype)
        found = [way(real_ops.deform_conv2d, given, *how), *way.gradients(real_ops.deform_conv2d, given, arriving.to(dtype), *how)]
        for number, other in zip(found, (expected, *gradients), strict=True):
            assert number.dtype == dtype
            near(number, other, dtype)


def test_deform_conv2d_without_offsets_is_a_convolution(way: Way) -> None:
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[1])
    plain = conv2d(input, weight, bias, *how, 2)
    near(way(real_ops.deform_conv2d, [input, torch.zeros_like(offset), weight, bias, torch.ones_like(mask)], *how), plain)
    near(way(real_ops.deform_conv2d, [input, torch.zeros_like(offset), weight, bias, None], *how), plain)
    arriving = torch.randn_like(plain)
    expected = torch.autograd.grad(plain, [input, weight], arriving)
    found = way.gradients(real_ops.deform_conv2d, [input, torch.zeros_like(offset), weight, bias.detach(), None], arriving, *how)
    for gradient, other in zip(found, expected, strict=True):
        near(gradient, other)


def test_deform_conv2d_sees_nothing_far_outside_of_the_image(way: Way) -> None:
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[0])
    for far in (100.0, -100.0, 1e30, float("inf"), float("nan")):
        found = way(real_ops.deform_conv2d, [input, torch.full_like(offset, far), weight, None, mask], *how)
        assert found.abs().max() == 0, f"offsets of {far}"


def test_deform_conv2d_passes_gradcheck(way: Way) -> None:
    tensors, how = tensors_of((1, 2, 3, 3, 2, 2, 1, (2, 2), (1, 1), (0, 0), (1, 1), True))
    tensors = [tensor.detach().requires_grad_() for tensor in way.put(tensors)]
    with way.inside():
        assert torch.autograd.gradcheck(lambda *given: real_ops.deform_conv2d(*given, *how), tensors, nondet_tol=1e-12)


def test_deform_conv2d_says_that_it_cannot_be_differentiated_twice(way: Way) -> None:
    tensors, how = tensors_of((1, 2, 3, 3, 2, 2, 1, (2, 2), (1, 1), (0, 0), (1, 1), True))
    tensors = [tensor.detach().requires_grad_() for tensor in way.put(tensors)]
    with way.inside():
        first = torch.autograd.grad(real_ops.deform_conv2d(*tensors, *how).square().sum(), tensors, create_graph=True)
        with pytest.raises(NotImplementedError, match="it cannot be differentiated twice"):
            torch.autograd.grad(sum(gradient.sum() for gradient in first), tensors)


def test_deform_conv2d_of_no_images_is_empty_and_its_gradients_are_zero(way: Way) -> None:
    tensors, how = tensors_of((0, *SHAPES[0][1:]))
    assert way(real_ops.deform_conv2d, tensors, *how).shape == (0, 6, 6, 7)
    of_input, _, of_weight, of_bias, _ = way.gradients(real_ops.deform_conv2d, tensors, torch.empty(0, 6, 6, 7).double(), *how)
    assert of_input.shape == (0, 4, 6, 7) and of_weight.abs().max() == 0 and of_bias.abs().max() == 0


def test_deform_conv2d_reads_tensors_that_are_not_contiguous(way: Way) -> None:
    tensors, how = tensors_of(SHAPES[0])
    apart = [tensor.detach().transpose(0, -1).contiguous().transpose(0, -1).requires_grad_() for tensor in tensors]
    near(way(real_ops.deform_conv2d, apart, *how), way(real_ops.deform_conv2d, tensors, *how))
    arriving = torch.ones(1).double().expand(2, 6, 6, 7)
    pairs = [way.gradients(real_ops.deform_conv2d, given, arriving, *how) for given in (tensors, apart)]
    for gradient, other in zip(*pairs, strict=True):
        near(gradient, other)


def test_deform_conv2d_refuses_what_it_cannot_take_in_a_sentence() -> None:
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[0])
    op = real_ops.deform_conv2d
    refused("weight has 4 dimensions, not 3", op, input, offset, weight[0], bias, mask, *how)
    refused("does not divide 4 channels into groups", op, input, offset, weight[:, :3], bias, mask, *how)
    refused("offset has 17 channels, which is not 18 for each", op, input, offset[:, 1:], weight, bias, mask, *how)
    refused("offset is [2, 18, 5, 7], but the output is [6, 7]", op, input, offset[:, :, 1:], weight, bias, mask, *how)
    refused("mask is [2, 8, 6, 7], not [2, 9, 6, 7]", op, input, offset, weight, bias, mask[:, 1:], *how)
    refused("bias is [5], not [6]", op, input, offset, weight, bias[1:], mask, *how)
    refused("the output would be 6 x -11", op, input, offset, weight, bias, mask, 1, 1, (1, 10))
    refused("stride and dilation are positive", op, input, offset, weight, bias, mask, 0, 1, 1)
    refused("mask is torch.float32, but input is torch.float64", op, input, offset, weight, bias, mask.float(), *how)


@pytest.mark.parametrize("name", ["input", "offset", "weight", "bias", "mask"])
def test_deform_conv2d_computes_only_the_gradients_that_are_wanted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    torch.manual_seed(3)
    tensors, how = tensors_of(SHAPES[0])
    number = ["input", "offset", "weight", "bias", "mask"].index(name)
    arriving = torch.randn(2, 6, 6, 7).double()
    expected = torch.autograd.grad(real_ops.deform_conv2d(*tensors, *how), tensors, arriving)[number]
    given = [tensor.detach().requires_grad_(at == number) for at, tensor in enumerate(tensors)]
    output = real_ops.deform_conv2d(*given, *how)
    run, ran = places.Host.run, []
    monkeypatch.setattr(places.Host, "run", lambda self, kernel, *of, **members: (ran.append(kernel), run(self, kernel, *of, **members)))
    output.backward(arriving)
    near(given[number].grad, expected)
    offsets = ["deform_offset_gradient"]
    kernels = {"input": ["deform_input_gradient"], "offset": offsets, "mask": offsets, "weight": ["deform_columns"], "bias": []}
    assert ran == kernels[name]


def test_roi_align_computes_no_gradient_for_boxes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    input, regions = image_and_regions()
    output = real_ops.roi_align(input.detach(), regions.requires_grad_(), 2).sum()
    monkeypatch.setattr(places.Host, "run", lambda *given, **members: pytest.fail("nobody wants what is computed here"))
    assert torch.autograd.grad(output, regions, allow_unused=True) == (None,)


# ---- input that must be rejected ------------------------------------------------------------------------------------------


def test_the_registered_ops_refuse_the_same() -> None:
    """Compiled models and C++ call torch.ops.real_ops, not the functions of Python."""
    ops = torch.ops.real_ops
    refused("5 boxes need as many scores, not [4]", ops.nms, torch.zeros(5, 4), torch.zeros(4), 0.5)
    input, boxes = image_and_regions()
    refused("boxes are k x 5", ops.roi_align, input, boxes[:, :4], 2, 2, 1.0, 2, True)
    refused("an output of 0 x 2 has no bins", ops.roi_align, input, boxes, 0, 2, 1.0, 2, True)
    arriving, other = torch.zeros(7, 3, 2, 2).double(), torch.zeros(7, 3, 2, 1).double()
    backward = ops.roi_align_backward
    refused("gradient is [7, 3, 2, 1], not [7, 3, 2, 2]", backward, other, boxes, input.shape, 2, 2, 1.0, 2, True)
    refused("there are 1 images, and a box names another", backward, arriving, boxes, [1, 3, 9, 11], 2, 2, 1.0, 2, True)
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[0])
    op, backward = ops.deform_conv2d, ops.deform_conv2d_backward
    refused("offset is [2, 18, 5, 7], but the output is [6, 7]", op, input, offset[:, :, 1:], weight, bias, mask, *how)
    refused("stride, padding and dilation are two numbers each", op, input, offset, weight, bias, mask, [1, 1, 1], *how[1:])
    arriving, all_of_them = torch.zeros(2, 6, 6, 6).double(), [True] * 4
    refused("gradient is [2, 6, 6, 6], not [2, 6, 6, 7]", backward, arriving, input, offset, weight, mask, *how, all_of_them)
    refused("mask is [2, 8, 6, 7], not [2, 9, 6, 7]", backward, arriving, input, offset, weight, mask[:, 1:], *how, all_of_them)


def test_python_and_cpp_mean_the_same_structs(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = places.struct("DeformInputGradient", "input_gradient column_gradient", more=(("op", places.Taps),))
    monkeypatch.setitem(places.OPS, "deform_input_gradient", turned)
    with pytest.raises(RuntimeError, match="do not mean the same structs"):
        places.Host()


def test_a_struct_gets_all_its_members_and_no_others() -> None:
    for members in ({"columns": None}, {"columns": None, "op": {}}, {"columns": None, "op": None, "more": 1}):
        with pytest.raises(TypeError, match="has other members than"):
            places.filled(places.OPS["deform_columns"], members, lambda value: value)


# ---- what PyTorch wants of an op -----------------------------------------------------------------------------------------


def test_opcheck_finds_nothing_to_blame() -> None:
    torch.manual_seed(3)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    ops = torch.ops.real_ops
    boxes, scores = boxes_of(40)
    torch.library.opcheck(ops.nms.default, (boxes, scores, 0.3), test_utils=checks)
    torch.library.opcheck(ops.roi_align.default, (*image_and_regions(), 2, 2, 1.0, 2, True), test_utils=checks)
    tensors, how = tensors_of(SHAPES[0])
    torch.library.opcheck(ops.deform_conv2d.default, (*tensors, *[list(numbers) for numbers in how]), test_utils=checks)


def test_a_compiled_model_has_no_graph_break() -> None:
    torch.manual_seed(3)
    tensors, how = tensors_of(SHAPES[0])
    boxes = image_and_regions()[1]

    def model(*tensors: Tensor) -> Tensor:
        return real_ops.roi_align(real_ops.deform_conv2d(*tensors, *how).relu(), boxes, 2, 0.5, 2, True).sum()

    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    plain, found = [torch.autograd.grad(function(*tensors), tensors) for function in (model, compiled)]
    for gradient, other in zip(found, plain, strict=True):
        near(gradient, other)


def test_results_have_no_gradient_where_there_is_none() -> None:
    boxes, scores = boxes_of(40)
    assert not real_ops.nms(boxes.requires_grad_(), scores, 0.3).requires_grad
    input, regions = image_and_regions()
    output = real_ops.roi_align(input, regions.requires_grad_(), 2).sum()
    assert torch.autograd.grad(output, regions, allow_unused=True) == (None,)
