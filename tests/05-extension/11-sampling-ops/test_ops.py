# The ops of 05-11 in three ways: the loops on the CPU, the kernels launched with the driver API, and tensors on a GPU.
import contextlib
import itertools

import pytest
import torch
from torch.nn.functional import conv2d

import baselines
import places
import reference
import sampling_ops

Tensor = torch.Tensor
HALF_TYPES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float64, torch.float32, *HALF_TYPES]
CLOSE = {torch.float64: 1e-11, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
WAYS = ["loop", "kernel"] + (["GPU"] if torch.cuda.is_available() else [])


class Way:
    """Computes in one of the three ways. Arguments and results are host tensors."""

    def __init__(self, name: str):
        self.device = "cuda" if name == "GPU" else "cpu"
        self.inside = places.through_the_driver if name == "kernel" else contextlib.nullcontext

    def put(self, tensors: list[Tensor | None]) -> list[Tensor | None]:
        return [None if tensor is None else tensor.to(self.device) for tensor in tensors]

    def __call__(self, op, tensors: list[Tensor | None], *how) -> Tensor:
        with self.inside():
            return op(*self.put(tensors), *how).cpu()

    def gradients(self, op, tensors: list[Tensor | None], incoming: Tensor, *how) -> list[Tensor]:
        """Checks the gradients of all tensors that require one."""
        wanting = [None if tensor is None else tensor.detach().requires_grad_(tensor.requires_grad) for tensor in self.put(tensors)]
        inputs = [tensor for tensor in wanting if tensor is not None and tensor.requires_grad]
        with self.inside():
            found = torch.autograd.grad(op(*wanting, *how), inputs, incoming.to(self.device))
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
    """As double, but rounded so that every type can represent the values."""
    return tensor.bfloat16().half().double()


def as_type(tensors: list[Tensor | None], dtype: torch.dtype) -> list[Tensor | None]:
    return [None if tensor is None else tensor.detach().to(dtype).requires_grad_(tensor.requires_grad) for tensor in tensors]


def refused(words: str, call, *arguments) -> None:
    with pytest.raises(ValueError) as caught:
        call(*arguments)
    assert words in str(caught.value) and str(caught.value).endswith("."), str(caught.value)


# ---- ROIAlign ------------------------------------------------------------------------------------------------------------

# Inside the image, across its edge, far outside, smaller than a pixel, without a size, and with corners swapped.
REGIONS = [[0, 1.2, 2.1, 8.3, 7.7], [1, -3, -2, 4, 5], [0, 9, 7, 20, 19], [1, 40, 40, 50, 50]]
REGIONS += [[1, 2.2, 2.3, 2.6, 2.9], [0, 3, 3, 3, 3], [1, 8, 7, 2, 3]]
HOW = [((3, 2), 0.9, samples, aligned) for samples, aligned in itertools.product((-1, 0, 1, 2), (False, True))]


def image_and_regions() -> list[Tensor]:
    return [exact_in_half(torch.randn(2, 3, 9, 11)).requires_grad_(), exact_in_half(torch.tensor(REGIONS))]


@pytest.mark.parametrize("how", HOW)
def test_roi_align_agrees_with_its_definition(way: Way, how: tuple) -> None:
    tensors = image_and_regions()
    expected = reference.roi_align(*tensors, *how)
    for dtype in FLOATS:
        found = way(sampling_ops.roi_align, as_type(tensors, dtype), *how)
        assert found.dtype == dtype
        near(found, expected, dtype)


@pytest.mark.parametrize("how", HOW)
def test_the_gradient_of_roi_align_agrees_with_its_definition(way: Way, how: tuple) -> None:
    tensors, incoming = image_and_regions(), exact_in_half(torch.randn(len(REGIONS), 3, 3, 2))
    (expected,) = torch.autograd.grad(reference.roi_align(*tensors, *how), tensors[:1], incoming)
    for dtype in FLOATS:
        (found,) = way.gradients(sampling_ops.roi_align, as_type(tensors, dtype), incoming.to(dtype), *how)
        assert found.dtype == dtype
        near(found, expected, dtype)


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_roi_align_adds_up_gradients_of_half_types_in_float(way: Way, dtype: torch.dtype) -> None:
    input, boxes = torch.zeros(1, 1, 4, 4, dtype=dtype).requires_grad_(), torch.tensor([[0.0, 0, 0, 1, 1]]).to(dtype).repeat(5120, 1)
    (found,) = way.gradients(sampling_ops.roi_align, [input, boxes], torch.ones(5120, 1, 1, 1).to(dtype), 1)
    assert found.sum().item() == 5120  # sums of ones end at 2048 in float16 and at 256 in bfloat16


def test_roi_align_of_no_boxes_is_empty_and_its_gradient_is_zero(way: Way) -> None:
    tensors = [torch.randn(2, 3, 5, 5).requires_grad_(), torch.empty(0, 5)]
    assert way(sampling_ops.roi_align, tensors, (2, 4)).shape == (0, 3, 2, 4)
    (found,) = way.gradients(sampling_ops.roi_align, tensors, torch.empty(0, 3, 2, 4), (2, 4))
    assert found.equal(torch.zeros(2, 3, 5, 5))


def test_roi_align_passes_gradcheck_once_and_twice(way: Way) -> None:
    input, boxes = way.put([torch.randn(2, 2, 4, 4).double(), torch.tensor([[0, 0.6, 0.3, 3.1, 3.4], [1, -1, 1, 2, 5]]).double()])
    with way.inside():
        op = lambda x: sampling_ops.roi_align(x, boxes, 2, 1.0, 2, True)  # noqa: E731
        assert torch.autograd.gradcheck(op, input.requires_grad_(), nondet_tol=1e-12)
        assert torch.autograd.gradgradcheck(op, input, nondet_tol=1e-12)


def test_roi_align_reads_tensors_that_are_not_contiguous(way: Way) -> None:
    input, boxes = image_and_regions()
    incoming = torch.randn(len(REGIONS), 3, 2, 2).double()
    given = [input.detach().to(memory_format=torch.channels_last).requires_grad_(), boxes.t().contiguous().t()]
    assert not any(tensor.is_contiguous() for tensor in given)
    near(way(sampling_ops.roi_align, given, 2), reference.roi_align(input, boxes, (2, 2)))
    expected = way.gradients(sampling_ops.roi_align, [input, boxes], incoming, 2)
    apart = incoming.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    near(way.gradients(sampling_ops.roi_align, given, apart, 2)[0], expected[0])
    ones = torch.ones(1).double().expand(incoming.shape)  # what .sum() sends back: one number with stride 0
    near(way.gradients(sampling_ops.roi_align, given, ones, 2)[0], way.gradients(sampling_ops.roi_align, given, ones.contiguous(), 2)[0])


def test_roi_align_rejects_invalid_input_with_a_clear_message() -> None:
    input, boxes = image_and_regions()
    refused("input must have 4 dimensions, not 3", sampling_ops.roi_align, input[0], boxes, 2)
    refused("boxes must be k x 5 (image, left, top, right, bottom), not [7, 4]", sampling_ops.roi_align, input, boxes[:, :4], 2)
    refused("an output of 0 x 2 has no bins", sampling_ops.roi_align, input, boxes, (0, 2))
    refused("boxes is torch.float32, but input is torch.float64", sampling_ops.roi_align, input, boxes.float(), 2)
    refused("a box refers to an image that does not exist; there are 2 images", sampling_ops.roi_align, input, torch.tensor([[2, 0, 0, 1, 1]]).double(), 2)


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
    made[1][made[1] == made[1].round()] += 0.25  # exactly at a pixel, the slope changes and the gradient is ambiguous
    return [None if tensor is None else tensor.requires_grad_() for tensor in made], (stride, padding, dilation)


@pytest.mark.parametrize("shape", SHAPES)
def test_deform_conv2d_and_its_gradients_agree_with_the_definition(way: Way, shape: tuple) -> None:
    tensors, how = tensors_of(shape)
    expected = reference.deform_conv2d(*tensors, *how)
    incoming = exact_in_half(torch.randn(expected.shape))
    gradients = torch.autograd.grad(expected, [tensor for tensor in tensors if tensor is not None], incoming)
    for dtype in FLOATS:
        given = as_type(tensors, dtype)
        found = [way(sampling_ops.deform_conv2d, given, *how), *way.gradients(sampling_ops.deform_conv2d, given, incoming.to(dtype), *how)]
        for number, other in zip(found, (expected, *gradients), strict=True):
            assert number.dtype == dtype
            near(number, other, dtype)


def test_deform_conv2d_without_offsets_is_a_convolution(way: Way) -> None:
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[1])
    plain = conv2d(input, weight, bias, *how, 2)
    near(way(sampling_ops.deform_conv2d, [input, torch.zeros_like(offset), weight, bias, torch.ones_like(mask)], *how), plain)
    near(way(sampling_ops.deform_conv2d, [input, torch.zeros_like(offset), weight, bias, None], *how), plain)
    incoming = torch.randn_like(plain)
    expected = torch.autograd.grad(plain, [input, weight], incoming)
    found = way.gradients(sampling_ops.deform_conv2d, [input, torch.zeros_like(offset), weight, bias.detach(), None], incoming, *how)
    for gradient, other in zip(found, expected, strict=True):
        near(gradient, other)


def test_deform_conv2d_reads_zeros_far_outside_the_image(way: Way) -> None:
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[0])
    for far in (100.0, -100.0, 1e30, float("inf"), float("nan")):
        found = way(sampling_ops.deform_conv2d, [input, torch.full_like(offset, far), weight, None, mask], *how)
        assert found.abs().max() == 0, f"offsets of {far}"


def test_deform_conv2d_passes_gradcheck(way: Way) -> None:
    tensors, how = tensors_of((1, 2, 3, 3, 2, 2, 1, (2, 2), (1, 1), (0, 0), (1, 1), True))
    tensors = [tensor.detach().requires_grad_() for tensor in way.put(tensors)]
    with way.inside():
        assert torch.autograd.gradcheck(lambda *given: sampling_ops.deform_conv2d(*given, *how), tensors, nondet_tol=1e-12)


def test_deform_conv2d_rejects_a_second_differentiation(way: Way) -> None:
    tensors, how = tensors_of((1, 2, 3, 3, 2, 2, 1, (2, 2), (1, 1), (0, 0), (1, 1), True))
    tensors = [tensor.detach().requires_grad_() for tensor in way.put(tensors)]
    with way.inside():
        first = torch.autograd.grad(sampling_ops.deform_conv2d(*tensors, *how).square().sum(), tensors, create_graph=True)
        with pytest.raises(NotImplementedError, match="it cannot be differentiated twice"):
            torch.autograd.grad(sum(gradient.sum() for gradient in first), tensors)


def test_deform_conv2d_of_no_images_is_empty_and_its_gradients_are_zero(way: Way) -> None:
    tensors, how = tensors_of((0, *SHAPES[0][1:]))
    assert way(sampling_ops.deform_conv2d, tensors, *how).shape == (0, 6, 6, 7)
    of_input, _, of_weight, of_bias, _ = way.gradients(sampling_ops.deform_conv2d, tensors, torch.empty(0, 6, 6, 7).double(), *how)
    assert of_input.shape == (0, 4, 6, 7) and of_weight.abs().max() == 0 and of_bias.abs().max() == 0


def test_deform_conv2d_reads_tensors_that_are_not_contiguous(way: Way) -> None:
    tensors, how = tensors_of(SHAPES[0])
    apart = [tensor.detach().transpose(0, -1).contiguous().transpose(0, -1).requires_grad_() for tensor in tensors]
    near(way(sampling_ops.deform_conv2d, apart, *how), way(sampling_ops.deform_conv2d, tensors, *how))
    incoming = torch.ones(1).double().expand(2, 6, 6, 7)
    pairs = [way.gradients(sampling_ops.deform_conv2d, given, incoming, *how) for given in (tensors, apart)]
    for gradient, other in zip(*pairs, strict=True):
        near(gradient, other)


def test_deform_conv2d_rejects_invalid_input_with_a_clear_message() -> None:
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[0])
    op = sampling_ops.deform_conv2d
    refused("weight must have 4 dimensions, not 3", op, input, offset, weight[0], bias, mask, *how)
    refused("does not divide 4 channels into groups", op, input, offset, weight[:, :3], bias, mask, *how)
    refused("offset has 17 channels. It needs 18 for each group", op, input, offset[:, 1:], weight, bias, mask, *how)
    refused("offset is [2, 18, 5, 7], but the output is [6, 7]", op, input, offset[:, :, 1:], weight, bias, mask, *how)
    refused("mask is [2, 8, 6, 7], not [2, 9, 6, 7]", op, input, offset, weight, bias, mask[:, 1:], *how)
    refused("bias is [5], not [6]", op, input, offset, weight, bias[1:], mask, *how)
    refused("the output would be 6 x -11", op, input, offset, weight, bias, mask, 1, 1, (1, 10))
    refused("stride and dilation must be positive", op, input, offset, weight, bias, mask, 0, 1, 1)
    refused("mask is torch.float32, but input is torch.float64", op, input, offset, weight, bias, mask.float(), *how)
    refused("offset is torch.float32, but input is torch.float64", op, input, offset.float(), weight, bias, mask, *how)


@pytest.mark.parametrize("name", ["input", "offset", "weight", "bias", "mask"])
def test_deform_conv2d_computes_only_the_gradients_that_are_wanted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    torch.manual_seed(3)
    tensors, how = tensors_of(SHAPES[0])
    number = ["input", "offset", "weight", "bias", "mask"].index(name)
    incoming = torch.randn(2, 6, 6, 7).double()
    expected = torch.autograd.grad(sampling_ops.deform_conv2d(*tensors, *how), tensors, incoming)[number]
    given = [tensor.detach().requires_grad_(at == number) for at, tensor in enumerate(tensors)]
    output = sampling_ops.deform_conv2d(*given, *how)
    run, ran = places.Host.run, []
    monkeypatch.setattr(places.Host, "run", lambda self, kernel, *of, **members: (ran.append(kernel), run(self, kernel, *of, **members)))
    output.backward(incoming)
    near(given[number].grad, expected)
    assert ran == {"weight": ["deform_columns"], "bias": []}.get(name, ["deform_backward"])


def test_roi_align_computes_no_gradient_for_boxes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    input, regions = image_and_regions()
    output = sampling_ops.roi_align(input.detach(), regions.requires_grad_(), 2).sum()
    monkeypatch.setattr(places.Host, "run", lambda *given, **members: pytest.fail("a gradient was computed that is not wanted"))
    assert torch.autograd.grad(output, regions, allow_unused=True) == (None,)


# ---- multi-scale deformable attention ------------------------------------------------------------------------------------


def attention_of(images: int = 2, channels: int = 3, levels: int = 2) -> tuple[Tensor, list[tuple[int, int]], Tensor, Tensor]:
    """Some points are outside the image. None is exactly at a pixel, where the gradient is ambiguous."""
    sizes = [(5, 7), (3, 4), (2, 2)][:levels]
    pixels, shape = sum(height * width for height, width in sizes), (images, 4, 2, levels, 3)
    locations = exact_in_half(torch.rand(*shape, 2) * 1.4 - 0.2)
    sides = torch.tensor(sizes).flip(1)[:, None]  # width and height of each level
    at = locations * sides - 0.5
    locations = exact_in_half(torch.where((at - at.round()).abs() < 0.02, locations + 1 / 64, locations))
    made = [exact_in_half(torch.randn(images, pixels, 2, channels)), locations, exact_in_half(torch.rand(*shape))]
    value, locations, weights = [tensor.requires_grad_() for tensor in made]
    return value, sizes, locations, weights


@pytest.mark.parametrize("channels, levels", [(3, 2), (1, 1), (40, 3)])
def test_deform_attention_and_its_gradients_agree_with_the_definition(way: Way, channels: int, levels: int) -> None:
    value, sizes, locations, weights = attention_of(2, channels, levels)
    tensors = [value, locations, weights]
    expected = reference.deform_attention(value, sizes, locations, weights)
    incoming = exact_in_half(torch.randn(expected.shape))
    gradients = torch.autograd.grad(expected, tensors, incoming)
    op = lambda value, locations, weights: sampling_ops.deform_attention(value, sizes, locations, weights)  # noqa: E731
    for dtype in FLOATS:
        given = as_type(tensors, dtype)
        found = [way(op, given), *way.gradients(op, given, incoming.to(dtype))]
        for number, other in zip(found, (expected, *gradients), strict=True):
            assert number.dtype == dtype
            near(number, other, dtype)


def test_deform_attention_agrees_with_grid_sample(way: Way) -> None:
    value, sizes, locations, weights = attention_of()
    op = lambda value, locations, weights: sampling_ops.deform_attention(value, sizes, locations, weights)  # noqa: E731
    near(way(op, [value, locations, weights]), baselines.attention_by_grid_sample(value, sizes, locations, weights))


def test_deform_attention_passes_gradcheck(way: Way) -> None:
    value, sizes, locations, weights = attention_of(1, 2, 2)
    given = [tensor.detach().requires_grad_() for tensor in way.put([value, locations, weights])]
    with way.inside():
        op = lambda value, locations, weights: sampling_ops.deform_attention(value, sizes, locations, weights)  # noqa: E731
        assert torch.autograd.gradcheck(op, given, nondet_tol=1e-12)


def test_deform_attention_reads_tensors_that_are_not_contiguous(way: Way) -> None:
    value, sizes, locations, weights = attention_of()
    tensors = [value, locations, weights]
    apart = [tensor.detach().transpose(0, -1).contiguous().transpose(0, -1).requires_grad_() for tensor in tensors]
    op = lambda value, locations, weights: sampling_ops.deform_attention(value, sizes, locations, weights)  # noqa: E731
    near(way(op, apart), way(op, tensors))
    incoming = torch.ones(1).double().expand(2, 4, 2, 3)
    pairs = [way.gradients(op, given, incoming) for given in (tensors, apart)]
    for gradient, other in zip(*pairs, strict=True):
        near(gradient, other)


def test_deform_attention_of_no_queries_is_empty_and_its_gradients_are_zero(way: Way) -> None:
    value, sizes, locations, weights = attention_of()
    given = [value, locations[:, :0].detach().requires_grad_(), weights[:, :0].detach().requires_grad_()]
    op = lambda value, locations, weights: sampling_ops.deform_attention(value, sizes, locations, weights)  # noqa: E731
    assert way(op, given).shape == (2, 0, 2, 3)
    of_value, of_locations, of_weights = way.gradients(op, given, torch.empty(2, 0, 2, 3).double())
    assert of_value.equal(torch.zeros_like(value)) and of_locations.numel() == of_weights.numel() == 0


def test_deform_attention_rejects_invalid_input_with_a_clear_message() -> None:
    value, sizes, locations, weights = attention_of()
    op = sampling_ops.deform_attention
    refused("value must have 4 dimensions, not 3", op, value[0], sizes, locations, weights)
    refused("locations must be n x queries x heads x levels x points x 2", op, value, sizes, locations[..., :1], weights)
    refused("weights are [2, 4, 2, 2, 2], but locations", op, value, sizes, locations, weights[..., :2])
    refused("for 2 images and 2 heads", op, value[:, :, :1], sizes, locations, weights)
    refused("the levels have 36 pixels, and value has 47", op, value, [(4, 6), (3, 4)], locations, weights)
    refused("2 levels need 4 sizes, not 2", op, value, sizes[:1], locations, weights)
    refused("sizes must not be negative: [6, 8, 1, -1]", op, value, [(6, 8), (1, -1)], locations, weights)
    refused("weights is torch.float32, but value is torch.float64", op, value, sizes, locations, weights.float())
    refused(
        "9 levels are too many. The limit is 8", op, value, sizes, locations.repeat(1, 1, 1, 9, 1, 1)[:, :, :, :9], weights.repeat(1, 1, 1, 9, 1)[:, :, :, :9]
    )


# ---- half types and autocast ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_coordinates_may_be_float_with_values_of_half_types(way: Way, dtype: torch.dtype) -> None:
    """Each op reads column 2049, which no half type can represent. It contains ones, and the columns beside it contain zeros."""
    image, one = (torch.arange(2100) % 2).repeat(1, 1, 2, 1).to(dtype), torch.ones(1, 1, 1, 1, 1).to(dtype)
    boxes, offset = torch.tensor([[0.0, 2049, 0, 2050, 1]]), torch.tensor([0.0, 2049]).reshape(1, 2, 1, 1).requires_grad_()
    convolution = [image, offset, one[0], None, None]
    location = torch.tensor([2049.5 / 2100, 0.25]).reshape(1, 1, 1, 1, 1, 2)
    attend = lambda value, *rest: sampling_ops.deform_attention(value, [(2, 2100)], *rest)  # noqa: E731
    outputs = [way(sampling_ops.roi_align, [image, boxes], 1, 1.0, 1, True), way(sampling_ops.deform_conv2d, convolution, (2, 2100))]
    outputs += [way(attend, [image.reshape(1, -1, 1, 1), location, one])]
    for output in outputs:
        assert output.dtype == dtype
        near(output.flatten(), torch.ones(1), dtype)
    (gradient,) = way.gradients(sampling_ops.deform_conv2d, convolution, one[0], (2, 2100))
    assert gradient.dtype == torch.float32


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_under_autocast_the_ops_compute_in_float(way: Way, dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    input, weight = torch.randn(1, 4, 9, 9), torch.randn(4, 4, 3, 3)
    offset, boxes = torch.randn(1, 18, 9, 9), torch.tensor([[0.0, 1.3, 2.2, 7.4, 8.1]])
    locations, weights = torch.rand(1, 3, 1, 1, 2, 2), torch.rand(1, 3, 1, 1, 2)

    def model(input: Tensor, weight: Tensor, offset: Tensor, boxes: Tensor, locations: Tensor, weights: Tensor) -> Tensor:
        feature = conv2d(input, weight, padding=1)  # of the half type under autocast, so each op gets inputs of two types
        convolved = sampling_ops.deform_conv2d(feature, offset, weight, padding=1)
        pooled = sampling_ops.roi_align(feature, boxes, 2)
        attended = sampling_ops.deform_attention(feature.flatten(2).mT[:, :, None], [(9, 9)], locations, weights)
        return torch.cat([output.flatten() for output in (convolved, pooled, attended)])

    given = [input, weight, offset, boxes, locations, weights]
    with torch.autocast("cuda" if way.device == "cuda" else "cpu", dtype):
        found = way(model, given)
    assert found.dtype == torch.float32
    expected = way(model, given)
    assert (found - expected).abs().max() < 0.05 * expected.abs().max()  # the plain convolution was computed in the half type


# ---- input that must be rejected ------------------------------------------------------------------------------------------


def test_the_registered_ops_reject_the_same_input() -> None:
    """Compiled models and C++ call torch.ops.sampling_ops, not the Python functions."""
    ops = torch.ops.sampling_ops
    input, boxes = image_and_regions()
    refused("boxes must be k x 5", ops.roi_align, input, boxes[:, :4], 2, 2, 1.0, 2, True)
    refused("an output of 0 x 2 has no bins", ops.roi_align, input, boxes, 0, 2, 1.0, 2, True)
    incoming, other = torch.zeros(7, 3, 2, 2).double(), torch.zeros(7, 3, 2, 1).double()
    backward = ops.roi_align_backward
    refused("gradient is [7, 3, 2, 1], not [7, 3, 2, 2]", backward, other, boxes, input.shape, 2, 2, 1.0, 2, True)
    refused("a box refers to an image that does not exist; there are 1 images", backward, incoming, boxes, [1, 3, 9, 11], 2, 2, 1.0, 2, True)
    (input, offset, weight, bias, mask), how = tensors_of(SHAPES[0])
    op, backward = ops.deform_conv2d, ops.deform_conv2d_backward
    refused("offset is [2, 18, 5, 7], but the output is [6, 7]", op, input, offset[:, :, 1:], weight, bias, mask, *how)
    refused("stride, padding and dilation must be two numbers each", op, input, offset, weight, bias, mask, [1, 1, 1], *how[1:])
    incoming, all_of_them = torch.zeros(2, 6, 6, 6).double(), [True] * 4
    refused("gradient is [2, 6, 6, 6], not [2, 6, 6, 7]", backward, incoming, input, offset, weight, mask, *how, all_of_them)
    refused("mask is [2, 8, 6, 7], not [2, 9, 6, 7]", backward, incoming, input, offset, weight, mask[:, 1:], *how, all_of_them)
    value, sizes, locations, weights = attention_of()
    given, backward = (value, locations, weights, [side for size in sizes for side in size]), ops.deform_attention_backward
    incoming = torch.zeros(2, 4, 2, 3).double()
    refused("gradient is [2, 3, 2, 3], not [2, 4, 2, 3]", backward, incoming[:, 1:], *given)
    refused("gradient is torch.float32, but value is torch.float64", backward, incoming.float(), *given)
    refused("gradient is on meta, but value is on cpu", backward, incoming.to("meta"), *given)
    on_meta = [tensor.to("meta") for tensor in given[:3]]  # the same checks of shapes and types before anything is computed, for the compiler
    refused("gradient is [2, 3, 2, 3], not [2, 4, 2, 3]", backward, incoming[:, 1:].to("meta"), *on_meta, given[3])


def test_python_and_cpp_define_the_same_structs(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped = places.op_struct("RoiAlignForward", "output input", places.RoiAlign)
    monkeypatch.setitem(places.OPS, "roi_align_forward", swapped)
    with pytest.raises(RuntimeError, match="define different structs"):
        places.Host()


def test_a_struct_gets_all_its_members_and_no_others() -> None:
    for members in ({"columns": None}, {"columns": None, "op": {}}, {"columns": None, "op": None, "more": 1}):
        with pytest.raises(TypeError, match="does not have exactly these members"):
            places.filled(places.OPS["deform_columns"], members, lambda value: value)


# ---- what PyTorch expects of an op ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_opcheck_finds_no_fault(device: str) -> None:
    torch.manual_seed(3)
    ops = torch.ops.sampling_ops
    put = lambda tensors: [tensor.detach().to(device).requires_grad_(tensor.requires_grad) for tensor in tensors]  # noqa: E731
    torch.library.opcheck(ops.roi_align.default, (*put(image_and_regions()), 2, 2, 1.0, 2, True), rtol=1e-9, atol=1e-9)
    tensors, how = tensors_of(SHAPES[0])
    torch.library.opcheck(ops.deform_conv2d.default, (*put(tensors), *[list(numbers) for numbers in how]), rtol=1e-9, atol=1e-9)
    value, sizes, locations, weights = attention_of()
    arguments = (*put([value, locations, weights]), [side for size in sizes for side in size])
    torch.library.opcheck(ops.deform_attention.default, arguments, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_model_has_no_graph_break(backend: str, device: str) -> None:
    torch.manual_seed(3)
    tensors, how = tensors_of(SHAPES[0])
    boxes = image_and_regions()[1].to(device)
    value, sizes, locations, weights = attention_of()

    def model(*tensors: Tensor) -> Tensor:
        feature = sampling_ops.deform_conv2d(*tensors[:5], *how).relu()
        pooled = sampling_ops.roi_align(feature, boxes, 2, 0.5, 2, True)
        value, *others = tensors[5:]
        return pooled.sum() + sampling_ops.deform_attention(value, sizes, *others).sum()

    given = [tensor.detach().to(device).requires_grad_() for tensor in (*tensors, value, locations, weights)]
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    plain, found = [torch.autograd.grad(function(*given), given) for function in (model, compiled)]
    for gradient, other in zip(found, plain, strict=True):
        near(gradient, other)


# ---- the kernels that work by blocks -------------------------------------------------------------------------------------


def test_a_box_that_is_too_large_for_a_blocks_tables_is_computed_too(way: Way) -> None:
    """The first box touches more rows than the tables have, the second has more bins, and the last fits."""
    torch.manual_seed(3)
    input = torch.randn(1, 67, 90, 40).double().requires_grad_()
    boxes = torch.tensor([[0, 1.5, 1, 37, 88.5], [0, 3.2, 4.1, 9.9, 12.3]]).double()
    for size in ((3, 2), (34, 3)):
        op = lambda x: sampling_ops.roi_align(x, boxes.to(x.device), size, 1.0, -1, True)  # noqa: B023, E731
        incoming = torch.randn(2, 67, *size).double()
        loop = sampling_ops.roi_align(input, boxes, size, 1.0, -1, True)
        near(way(op, [input]), loop)
        near(way.gradients(op, [input], incoming)[0], torch.autograd.grad(loop, input, incoming)[0])


def test_images_too_large_for_shared_memory_get_their_gradients_too(way: Way) -> None:
    """A plane of doubles fits up to 5120 pixels. One plane fits where two do not."""
    torch.manual_seed(3)
    for height, width in ((72, 72), (64, 64)):
        input, offset = torch.randn(1, 2, height, width).double().requires_grad_(), torch.randn(1, 2, height, width).double()
        weight, incoming = torch.randn(2, 2, 1, 1).double(), torch.randn(1, 2, height, width).double()
        found = way.gradients(sampling_ops.deform_conv2d, [input, offset, weight], incoming)[0]
        near(found, torch.autograd.grad(sampling_ops.deform_conv2d(input, offset, weight), input, incoming)[0])
