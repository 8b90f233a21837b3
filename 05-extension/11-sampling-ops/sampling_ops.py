# roi_align, deform_conv2d and deform_attention for PyTorch: their schemas, what they require of their arguments, what
# they allocate, their gradients, and their behavior under autocast.
from __future__ import annotations

import math
import warnings

import torch

from places import LEVELS, SUFFIXES, Attention, Out, Taps, pieces, place_for, wide

Tensor = torch.Tensor
LIBRARY = "sampling_ops"


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


def require_same(op: str, **tensors: Tensor | None) -> None:
    """All tensors have the same type and device."""
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    first, *others = given
    kind = given[first]
    require(kind.dtype in SUFFIXES, f"{op}: {first} is {kind.dtype}, but the op takes only float16, bfloat16, float32 and float64.")
    require(kind.device.type in ("cpu", "cuda", "meta"), f"{op}: {first} is on {kind.device}, but the op runs only on cpu and cuda.")
    for name in others:
        require(given[name].dtype == kind.dtype, f"{op}: {name} is {given[name].dtype}, but {first} is {kind.dtype}.")
        require(given[name].device == kind.device, f"{op}: {name} is on {given[name].device}, but {first} is on {kind.device}.")


def require_coordinates(op: str, name: str, tensor: Tensor, first: str, like: Tensor) -> None:
    """Coordinates may be float32 beside values of a half type: bfloat16 cannot tell pixel 257 from 256."""
    fits = tensor.dtype in (like.dtype, wide(like.dtype))
    require(fits, f"{op}: {name} is {tensor.dtype}, but {first} is {like.dtype}.")
    require(tensor.device == like.device, f"{op}: {name} is on {tensor.device}, but {first} is on {like.device}.")


def reject_if_deterministic(op: str) -> None:
    """With torch.use_deterministic_algorithms(True), an op whose results may differ from run to run must raise an error, or warn if so asked."""
    if torch.are_deterministic_algorithms_enabled():
        sentence = f"{op} adds with atomics in no fixed order, so on a GPU, the last digits of its result may differ from run to run."
        if not torch.is_deterministic_algorithms_warn_only_enabled():
            raise RuntimeError(sentence)
        warnings.warn(sentence, stacklevel=2)


# ---- ROIAlign ------------------------------------------------------------------------------------------------------------

ROI_ALIGN = "int rows, int columns, float scale, int samples, bool aligned"
torch.library.define(f"{LIBRARY}::roi_align", f"(Tensor input, Tensor boxes, {ROI_ALIGN}) -> Tensor")
torch.library.define(f"{LIBRARY}::roi_align_backward", f"(Tensor gradient, Tensor boxes, SymInt[] shape, {ROI_ALIGN}) -> Tensor")


def roi_align(input: Tensor, boxes: Tensor, output_size: int | tuple[int, int], scale: float = 1.0, samples: int = -1, aligned: bool = False) -> Tensor:
    """boxes: k x 5, image and corners. samples: along each side of a bin; if it is not positive, one for each pixel."""
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    return torch.ops.sampling_ops.roi_align(input, boxes, rows, columns, scale, samples, aligned)


def require_for_roi_align(input: Tensor, boxes: Tensor, rows: int, columns: int) -> None:
    require(input.dim() == 4, f"roi_align: input must have 4 dimensions, not {input.dim()}.")
    is_list = boxes.dim() == 2 and boxes.shape[1] == 5
    require(is_list, f"roi_align: boxes must be k x 5 (image, left, top, right, bottom), not {list(boxes.shape)}.")
    require(rows > 0 and columns > 0, f"roi_align: an output of {rows} x {columns} has no bins.")
    require_same("roi_align", input=input)
    require_coordinates("roi_align", "boxes", boxes, "input", input)


def require_for_roi_align_backward(gradient: Tensor, boxes: Tensor, shape: list[int], rows: int, columns: int) -> None:
    require_for_roi_align(gradient, boxes, rows, columns)
    require(len(shape) == 4, f"roi_align's backward: the input must have 4 dimensions, not {len(shape)}.")
    expected = (boxes.shape[0], shape[1], rows, columns)
    require(tuple(gradient.shape) == expected, f"roi_align's backward: gradient is {list(gradient.shape)}, not {list(expected)}.")


def require_images(boxes: Tensor, images: int) -> None:
    """Every box names an existing image. On a GPU, the kernel checks this and stops with a trap, so that the host need not wait."""
    if not boxes.is_cuda:
        known = ((boxes[:, 0] >= 0) & (boxes[:, 0] < images)).all()
        require(bool(known), f"roi_align: a box refers to an image that does not exist; there are {images} images.")


def struct_of_roi_align(boxes: Tensor, shape: list[int], rows: int, columns: int, *how: object) -> dict[str, object]:
    """The members of RoiAlign in ops.hpp. `shape` is the input's."""
    names = ("images", "channels", "height", "width", "rows", "columns", "scale", "samples", "aligned")
    return dict(zip(names, (*shape, rows, columns, *how)), boxes=boxes.contiguous())


@torch.library.impl(f"{LIBRARY}::roi_align", ("cpu", "cuda"))
def _(input: Tensor, boxes: Tensor, rows: int, columns: int, *how: object) -> Tensor:
    require_for_roi_align(input, boxes, rows, columns)
    require_images(boxes, input.shape[0])
    output = input.new_empty(len(boxes), input.shape[1], rows, columns)
    op = struct_of_roi_align(boxes.to(wide(input.dtype)), input.shape, rows, columns, *how)
    shape = (len(boxes), input.shape[1], rows * columns)
    place_for(input).roi_align("roi_align_forward", input, *shape, input=input.contiguous(), output=Out(output), op=op)
    return output


@torch.library.impl(f"{LIBRARY}::roi_align_backward", ("cpu", "cuda"))
def _(gradient: Tensor, boxes: Tensor, shape: list[int], rows: int, columns: int, *how: object) -> Tensor:
    require_for_roi_align_backward(gradient, boxes, shape, rows, columns)
    require_images(boxes, shape[0])
    if gradient.is_cuda:
        reject_if_deterministic("roi_align's backward")
    sums = gradient.new_zeros(shape, dtype=wide(gradient.dtype))
    op = struct_of_roi_align(boxes.to(sums.dtype), shape, rows, columns, *how)
    members = {"gradient": gradient.contiguous(), "input_gradient": Out(sums), "op": op}
    place_for(gradient).roi_align("roi_align_backward", gradient, len(boxes), shape[1], rows * columns, **members)
    return sums.to(gradient.dtype)


@torch.library.register_fake(f"{LIBRARY}::roi_align")
def _(input: Tensor, boxes: Tensor, rows: int, columns: int, *how: object) -> Tensor:
    require_for_roi_align(input, boxes, rows, columns)
    return input.new_empty(boxes.shape[0], input.shape[1], rows, columns)


@torch.library.register_fake(f"{LIBRARY}::roi_align_backward")
def _(gradient: Tensor, boxes: Tensor, shape: list[int], rows: int, columns: int, *how: object) -> Tensor:
    require_for_roi_align_backward(gradient, boxes, shape, rows, columns)
    return gradient.new_empty(shape)


def keep_boxes(ctx, inputs, output) -> None:
    ctx.save_for_backward(inputs[1])
    ctx.shape, ctx.how = inputs[0].shape, inputs[2:]


def roi_align_gradients(ctx, gradient):
    (boxes,) = ctx.saved_tensors
    wanted = ctx.needs_input_grad[0]  # false if only the boxes require a gradient; they get none
    return torch.ops.sampling_ops.roi_align_backward(gradient, boxes, ctx.shape, *ctx.how) if wanted else None, *[None] * 6


def keep_boxes_again(ctx, inputs, output) -> None:
    ctx.save_for_backward(inputs[1])
    ctx.how = inputs[3:]


def roi_align_gradients_again(ctx, gradient):
    """Backward is linear in the gradient, so the gradient of backward is forward."""
    (boxes,) = ctx.saved_tensors
    return torch.ops.sampling_ops.roi_align(gradient, boxes, *ctx.how), *[None] * 7


torch.library.register_autograd(f"{LIBRARY}::roi_align", roi_align_gradients, setup_context=keep_boxes)
torch.library.register_autograd(f"{LIBRARY}::roi_align_backward", roi_align_gradients_again, setup_context=keep_boxes_again)

# ---- modulated deformable convolution ------------------------------------------------------------------------------------

CONVOLUTION = "int[2] stride, int[2] padding, int[2] dilation"
TENSORS = "Tensor input, Tensor offset, Tensor weight, Tensor? bias, Tensor? mask"
torch.library.define(f"{LIBRARY}::deform_conv2d", f"({TENSORS}, {CONVOLUTION}) -> Tensor")
torch.library.define(
    f"{LIBRARY}::deform_conv2d_backward",
    f"(Tensor gradient, Tensor input, Tensor offset, Tensor weight, Tensor? mask, {CONVOLUTION}, bool[4] wanted) -> (Tensor, Tensor, Tensor, Tensor)",
)


def pair(value: int | tuple[int, int]) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


def output_size(input: Tensor, weight: Tensor, stride: list[int], padding: list[int], dilation: list[int]) -> tuple[int, int]:
    sides = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation)
    height, width = [(size + 2 * pad - apart * (kernel - 1) - 1) // step + 1 for size, kernel, step, pad, apart in sides]
    return height, width


def deform_conv2d(
    input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None = None, mask: Tensor | None = None,
    stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1,
) -> Tensor:  # fmt: skip
    """Version 2 with a mask, version 1 without. The shapes of weight and offset tell how many groups there are."""
    return torch.ops.sampling_ops.deform_conv2d(input, offset, weight, bias, mask, pair(stride), pair(padding), pair(dilation))


def require_for_deform_conv2d(
    input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None, mask: Tensor | None,
    stride: list[int], padding: list[int], dilation: list[int],
) -> tuple[int, ...]:  # fmt: skip
    """Returns the shape of the output."""
    require(len(stride) == len(padding) == len(dilation) == 2, "deform_conv2d: stride, padding and dilation must be two numbers each.")
    for name, tensor in (("input", input), ("offset", offset), ("weight", weight)):
        require(tensor.dim() == 4, f"deform_conv2d: {name} must have 4 dimensions, not {tensor.dim()}.")
    require_same("deform_conv2d", input=input, weight=weight, bias=bias, mask=mask)
    require_coordinates("deform_conv2d", "offset", offset, "input", input)
    steps = min(stride) > 0 and min(dilation) > 0 and min(padding) >= 0
    require(steps, "deform_conv2d: stride and dilation must be positive, and padding must not be negative.")
    channels, filters = input.shape[1], weight.shape[0]
    require(
        weight.shape[1] > 0 and channels % weight.shape[1] == 0 and filters % (channels // weight.shape[1]) == 0 and channels > 0,
        f"deform_conv2d: a weight of {list(weight.shape)} does not divide {channels} channels into groups.",
    )
    taps, size = weight.shape[2] * weight.shape[3], output_size(input, weight, stride, padding, dilation)
    require(taps > 0 and min(size) > 0, f"deform_conv2d: the output would be {size[0]} x {size[1]}.")
    per_group = 2 * taps
    groups = offset.shape[1] // per_group
    require(
        groups > 0 and offset.shape[1] % per_group == 0 and channels % groups == 0,
        f"deform_conv2d: offset has {offset.shape[1]} channels. It needs {per_group} for each group, and the groups divide {channels} channels.",
    )
    places = (input.shape[0], groups * taps, *size)
    fits = (offset.shape[0], *offset.shape[2:]) == (places[0], *size)
    require(fits, f"deform_conv2d: offset is {list(offset.shape)}, but the output is {list(size)}.")
    if mask is not None:
        require(tuple(mask.shape) == places, f"deform_conv2d: mask is {list(mask.shape)}, not {list(places)}.")
    if bias is not None:
        require(tuple(bias.shape) == (filters,), f"deform_conv2d: bias is {list(bias.shape)}, not [{filters}].")
    return input.shape[0], filters, *size


class Layout:
    """The convolution as matrix products, one for each image and group: [filters, columns of a filter] x [columns of a filter, positions]."""

    def __init__(self, input: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None, how: list[list[int]]):
        self.filters, depth, *kernel = weight.shape
        self.images, channels, *image = input.shape
        self.size, self.depth = tuple(offset.shape[2:]), depth * math.prod(kernel)
        self.groups = channels // depth
        offset_groups = offset.shape[1] // (2 * math.prod(kernel))
        self.sampling_points = self.images * offset_groups * math.prod(kernel) * math.prod(self.size)
        self.channels_of_a_group = channels // offset_groups  # that share offsets
        self.pieces = pieces(self.channels_of_a_group)
        tensors = [None if tensor is None else tensor.contiguous() for tensor in (input, offset.to(wide(input.dtype)), mask)]
        numbers = [self.images, channels, *image, offset_groups, *kernel, *self.size, *(number for each in how for number in each)]
        self.taps = dict(zip((name for name, _ in Taps._fields_), [*tensors, *numbers], strict=True))
        self.weight = weight.reshape(self.groups, self.filters // self.groups, self.depth)
        self.input = input

    def run(self, op: str, count: int, /, **members: Tensor | Out) -> None:
        place_for(self.input).run(op, self.input, count, **members, op=self.taps)

    def for_each_image(self, weight: Tensor) -> Tensor:
        """A weight for each image and group. With one group, nothing is copied."""
        return weight.expand(self.images, -1, -1) if self.groups == 1 else weight.repeat(self.images, 1, 1)

    def empty_columns(self) -> Tensor:
        return self.input.new_empty(self.images * self.groups, self.depth, math.prod(self.size))

    def columns(self) -> Tensor:
        """What the taps read."""
        columns = self.empty_columns()
        self.run("deform_columns", self.sampling_points * self.pieces, columns=Out(columns))
        return columns

    def as_matrices(self, images: Tensor) -> Tensor:
        return images.reshape(self.images * self.groups, self.filters // self.groups, math.prod(self.size))


@torch.library.impl(f"{LIBRARY}::deform_conv2d", ("cpu", "cuda"))
def _(input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None, mask: Tensor | None, *how: list[int]) -> Tensor:
    require_for_deform_conv2d(input, offset, weight, bias, mask, *how)
    layout = Layout(input, offset, weight, mask, how)
    output = torch.bmm(layout.for_each_image(layout.weight), layout.columns()).reshape(layout.images, layout.filters, *layout.size)
    return output if bias is None else output.add_(bias.view(-1, 1, 1))


def require_for_deform_conv2d_backward(gradient: Tensor, *inputs: object) -> None:
    shape = require_for_deform_conv2d(*inputs[:3], None, *inputs[3:])
    require(tuple(gradient.shape) == shape, f"deform_conv2d's backward: gradient is {list(gradient.shape)}, not {list(shape)}.")
    require_same("deform_conv2d's backward", input=inputs[0], gradient=gradient)


@torch.library.impl(f"{LIBRARY}::deform_conv2d_backward", ("cpu", "cuda"))
def _(gradient: Tensor, input: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None, *how: list) -> tuple[Tensor, ...]:
    """The gradients of input, offset, weight and mask. Those that are not wanted are empty. One kernel computes offset's and mask's."""
    *how, (for_input, for_offset, for_weight, for_mask) = how
    require_for_deform_conv2d_backward(gradient, input, offset, weight, mask, *how)
    layout = Layout(input, offset, weight, mask, how)
    output_gradient = layout.as_matrices(gradient)
    input_gradient, offset_gradient, weight_gradient, mask_gradient = [tensor.new_empty(0) for tensor in (input, offset, weight, input)]
    if not (for_input or for_offset or for_mask):
        columns = layout.columns() if for_weight else None
    else:
        if for_input and input.is_cuda:
            reject_if_deterministic("deform_conv2d's backward")
        column_gradient = torch.bmm(layout.for_each_image(layout.weight.mT.contiguous()), output_gradient)
        columns = layout.empty_columns() if for_weight else None
        sums = torch.zeros_like(input, dtype=wide(input.dtype), memory_format=torch.contiguous_format) if for_input else None
        if for_offset or for_mask:
            offset_gradient = torch.empty_like(offset, dtype=wide(input.dtype), memory_format=torch.contiguous_format)
            mask_gradient = mask_gradient if mask is None else torch.empty_like(mask, memory_format=torch.contiguous_format)
        members = {
            "column_gradient": column_gradient, "columns": Out(columns), "input_gradient": Out(sums),
            "offset_gradient": Out(offset_gradient if for_offset or for_mask else None),
            "mask_gradient": Out(mask_gradient if (for_offset or for_mask) and mask is not None else None),
        }  # fmt: skip
        if for_input and place_for(input).deform_input_gradient(input, layout.channels_of_a_group, **members, op=layout.taps):
            members["input_gradient"] = Out(None)
        if any(member.tensor is not None for member in members.values() if isinstance(member, Out)):
            layout.run("deform_backward", layout.sampling_points, **members)
        input_gradient = input_gradient if sums is None else sums.to(input.dtype)
    if columns is not None:
        weight_gradient = torch.bmm(output_gradient, columns.mT).reshape(layout.images, *weight.shape).sum(0)
    return input_gradient, offset_gradient.to(offset.dtype), weight_gradient, mask_gradient


@torch.library.register_fake(f"{LIBRARY}::deform_conv2d")
def _(input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None, mask: Tensor | None, *how: list[int]) -> Tensor:
    return input.new_empty(require_for_deform_conv2d(input, offset, weight, bias, mask, *how))


@torch.library.register_fake(f"{LIBRARY}::deform_conv2d_backward")
def _(gradient: Tensor, input: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None, *how: list) -> tuple[Tensor, ...]:
    *how, (for_input, for_offset, for_weight, for_mask) = how
    require_for_deform_conv2d_backward(gradient, input, offset, weight, mask, *how)
    tensors = (input, offset, weight, input if mask is None else mask)
    made = (for_input, for_offset or for_mask, for_weight, (for_offset or for_mask) and mask is not None)
    return tuple(tensor.new_empty(tensor.shape if is_made else 0) for tensor, is_made in zip(tensors, made))


def keep_all(ctx, inputs, output) -> None:
    input, offset, weight, _, mask, *ctx.how = inputs
    ctx.save_for_backward(input, offset, weight, mask)


def deform_conv2d_gradients(ctx, gradient):
    """One for each of forward's eight arguments, in their order. None for those that are not wanted."""
    for_input, for_offset, for_weight, for_bias, for_mask, *_ = ctx.needs_input_grad
    wanted = [for_input, for_offset, for_weight, for_mask]
    found = torch.ops.sampling_ops.deform_conv2d_backward(gradient, *ctx.saved_tensors, *ctx.how, wanted)
    of_input, of_offset, of_weight, of_mask = [made if is_wanted else None for made, is_wanted in zip(found, wanted)]
    of_bias = gradient.sum((0, 2, 3)) if for_bias else None
    return of_input, of_offset, of_weight, of_bias, of_mask, None, None, None


def not_twice(op: str):
    """The gradient formula of a backward pass that can't be differentiated itself.

    Without it, PyTorch would only print a warning and treat the gradient as a constant.
    """

    def refuse(ctx, *gradients):
        raise NotImplementedError(f"{op} can be differentiated once, but its gradient is not differentiable: it cannot be differentiated twice.")

    return refuse


torch.library.register_autograd(f"{LIBRARY}::deform_conv2d", deform_conv2d_gradients, setup_context=keep_all)
torch.library.register_autograd(f"{LIBRARY}::deform_conv2d_backward", not_twice("deform_conv2d"))

# ---- multi-scale deformable attention ------------------------------------------------------------------------------------

ATTENTION = "Tensor value, Tensor locations, Tensor weights, SymInt[] sizes"
torch.library.define(f"{LIBRARY}::deform_attention", f"({ATTENTION}) -> Tensor")
torch.library.define(f"{LIBRARY}::deform_attention_backward", f"(Tensor gradient, {ATTENTION}) -> (Tensor, Tensor, Tensor)")


def deform_attention(value: Tensor, sizes: list[tuple[int, int]], locations: Tensor, weights: Tensor) -> Tensor:
    """value: n x pixels x heads x channels, the pixels of all levels one after the other. sizes: height and width of each level.

    locations: n x queries x heads x levels x points x 2, x and y from 0 to 1. weights: the same without the last dimension.
    """
    return torch.ops.sampling_ops.deform_attention(value, locations, weights, [side for size in sizes for side in size])


def require_for_attention(value: Tensor, locations: Tensor, weights: Tensor, sizes: list[int]) -> tuple[int, ...]:
    """Returns the shape of the output."""
    require(value.dim() == 4, f"deform_attention: value must have 4 dimensions, not {value.dim()}.")
    require(
        locations.dim() == 6 and locations.shape[5] == 2,
        f"deform_attention: locations must be n x queries x heads x levels x points x 2, not {list(locations.shape)}.",
    )
    images, queries, heads, levels, points, _ = locations.shape
    fits = tuple(weights.shape) == (images, queries, heads, levels, points)
    require(fits, f"deform_attention: weights are {list(weights.shape)}, but locations are {list(locations.shape)}.")
    require(
        (value.shape[0], value.shape[2]) == (images, heads),
        f"deform_attention: value is {list(value.shape)}, but locations are for {images} images and {heads} heads.",
    )
    require(levels <= LEVELS, f"deform_attention: {levels} levels are too many. The limit is {LEVELS}.")
    require(len(sizes) == 2 * levels, f"deform_attention: {levels} levels need {2 * levels} sizes, not {len(sizes)}.")
    require(all(side >= 0 for side in sizes), f"deform_attention: sizes must not be negative: {list(sizes)}.")
    pixels = sum(height * width for height, width in zip(sizes[::2], sizes[1::2]))
    require(value.shape[1] == pixels, f"deform_attention: the levels have {pixels} pixels, and value has {value.shape[1]}.")
    require_same("deform_attention", value=value, weights=weights)
    require_coordinates("deform_attention", "locations", locations, "value", value)
    return images, queries, heads, value.shape[3]


def require_for_attention_backward(gradient: Tensor, value: Tensor, *others: object) -> None:
    shape = require_for_attention(value, *others)
    require(tuple(gradient.shape) == shape, f"deform_attention's backward: gradient is {list(gradient.shape)}, not {list(shape)}.")
    require_same("deform_attention's backward", value=value, gradient=gradient)


def struct_of_attention(value: Tensor, locations: Tensor, weights: Tensor, sizes: list[int]) -> dict[str, object]:
    """The members of Attention in ops.hpp."""
    images, pixels, heads, channels = value.shape
    numbers = (images, pixels, locations.shape[1], heads, channels, *locations.shape[3:5], tuple(sizes))
    tensors = [tensor.contiguous() for tensor in (value, locations.to(wide(value.dtype)), weights)]
    return dict(zip((name for name, _ in Attention._fields_), (*tensors, *numbers), strict=True))


@torch.library.impl(f"{LIBRARY}::deform_attention", ("cpu", "cuda"))
def _(value: Tensor, locations: Tensor, weights: Tensor, sizes: list[int]) -> Tensor:
    output = value.new_empty(require_for_attention(value, locations, weights, sizes))
    op = struct_of_attention(value, locations, weights, sizes)
    place_for(value).run("attention_forward", value, output.numel(), output=Out(output), op=op)
    return output


@torch.library.impl(f"{LIBRARY}::deform_attention_backward", ("cpu", "cuda"))
def _(gradient: Tensor, value: Tensor, locations: Tensor, weights: Tensor, sizes: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    require_for_attention_backward(gradient, value, locations, weights, sizes)
    if value.is_cuda:
        reject_if_deterministic("deform_attention's backward")
    op = struct_of_attention(value, locations, weights, sizes)
    sums = torch.zeros_like(op["value"], dtype=wide(value.dtype))
    of_locations, of_weights = torch.empty_like(op["locations"]), torch.empty_like(op["weights"])
    written = {"value_gradient": Out(sums), "location_gradient": Out(of_locations), "weight_gradient": Out(of_weights)}
    place_for(value).run("attention_backward", value, weights.numel(), gradient=gradient.contiguous(), **written, op=op)
    return sums.to(value.dtype), of_locations.to(locations.dtype), of_weights


@torch.library.register_fake(f"{LIBRARY}::deform_attention")
def _(value: Tensor, locations: Tensor, weights: Tensor, sizes: list[int]) -> Tensor:
    return value.new_empty(require_for_attention(value, locations, weights, sizes))


@torch.library.register_fake(f"{LIBRARY}::deform_attention_backward")
def _(gradient: Tensor, value: Tensor, locations: Tensor, weights: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
    require_for_attention_backward(gradient, value, locations, weights, sizes)
    return value.new_empty(value.shape), locations.new_empty(locations.shape), weights.new_empty(weights.shape)


def keep_attention(ctx, inputs, output) -> None:
    ctx.save_for_backward(*inputs[:3])
    ctx.sizes = inputs[3]


def attention_gradients(ctx, gradient):
    return *torch.ops.sampling_ops.deform_attention_backward(gradient, *ctx.saved_tensors, ctx.sizes), None


torch.library.register_autograd(f"{LIBRARY}::deform_attention", attention_gradients, setup_context=keep_attention)
torch.library.register_autograd(f"{LIBRARY}::deform_attention_backward", not_twice("deform_attention"))

# ---- autocast ------------------------------------------------------------------------------------------------------------

# Under autocast, the inputs of these ops may have different types: a convolution's output is bfloat16, the boxes from the
# data set are float32. The ops then compute in float32, because half types are too coarse for coordinates.
for op in ("roi_align", "deform_conv2d", "deform_attention"):
    for kind in ("cpu", "cuda"):
        torch.library.register_autocast(f"{LIBRARY}::{op}", kind, torch.float32)
