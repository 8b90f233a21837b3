# nms, roi_align and deform_conv2d for PyTorch: what they demand, what they allocate, and what their backward returns.
from __future__ import annotations

import math
import warnings

import torch

from places import SUFFIXES, Out, Taps, place_for

Tensor = torch.Tensor
LIBRARY = "real_ops"


def demand(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


def demand_alike(op: str, **tensors: Tensor | None) -> None:
    """The same type and device for all."""
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    first, *others = given
    kind = given[first]
    demand(kind.dtype in SUFFIXES, f"{op}: {first} is {kind.dtype}; half, float and double are what there is.")
    demand(kind.device.type in ("cpu", "cuda", "meta"), f"{op}: {first} is on {kind.device}; it runs on cpu and cuda.")
    for name in others:
        demand(given[name].dtype == kind.dtype, f"{op}: {name} is {given[name].dtype}, but {first} is {kind.dtype}.")
        demand(given[name].device == kind.device, f"{op}: {name} is on {given[name].device}, but {first} is on {kind.device}.")


def tell_of_atomics(op: str) -> None:
    """Whoever has asked PyTorch for the same bits every time must not get others without a word."""
    if torch.are_deterministic_algorithms_enabled():
        sentence = f"{op} adds with atomics, in an order that nobody fixes: on a GPU its last digits change from run to run."
        if not torch.is_deterministic_algorithms_warn_only_enabled():
            raise RuntimeError(sentence)  # what PyTorch raises
        warnings.warn(sentence)


def wide(dtype: torch.dtype) -> torch.dtype:
    """What gradients are added up in."""
    return torch.float32 if dtype == torch.float16 else dtype


# ---- NMS -----------------------------------------------------------------------------------------------------------------

torch.library.define(f"{LIBRARY}::nms", "(Tensor boxes, Tensor scores, float threshold) -> Tensor")


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """The numbers of the boxes that stay, the best first. A box is left, top, right, bottom.

    A box goes if its IoU with a better one that stays is above the threshold.
    """
    return torch.ops.real_ops.nms(boxes, scores, threshold)


def demand_for_nms(boxes: Tensor, scores: Tensor) -> None:
    demand(boxes.dim() == 2 and boxes.shape[1] == 4, f"nms: boxes are n x 4, not {list(boxes.shape)}.")
    demand(scores.shape == boxes.shape[:1], f"nms: {boxes.shape[0]} boxes need as many scores, not {list(scores.shape)}.")
    demand_alike("nms", boxes=boxes, scores=scores)


@torch.library.impl(f"{LIBRARY}::nms", ("cpu", "cuda"))
def _(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    demand_for_nms(boxes, scores)
    order = scores.sort(descending=True, stable=True).indices
    return place_for(boxes).nms(boxes, order, threshold)


@torch.library.register_fake(f"{LIBRARY}::nms")
def _(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    demand_for_nms(boxes, scores)
    stay = torch.library.get_ctx().new_dynamic_size()  # known only when it has run
    return boxes.new_empty(stay, dtype=torch.int64)


# ---- ROIAlign ------------------------------------------------------------------------------------------------------------

ROI_ALIGN = "int rows, int columns, float scale, int samples, bool aligned"
torch.library.define(f"{LIBRARY}::roi_align", f"(Tensor input, Tensor boxes, {ROI_ALIGN}) -> Tensor")
torch.library.define(f"{LIBRARY}::roi_align_backward", f"(Tensor gradient, Tensor boxes, SymInt[] shape, {ROI_ALIGN}) -> Tensor")


def roi_align(
    input: Tensor, boxes: Tensor, output_size: int | tuple[int, int], scale: float = 1.0, samples: int = -1, aligned: bool = False
) -> Tensor:
    """boxes: k x 5, image and corners. samples: a side of a bin; as many as it has pixels, if not positive."""
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    return torch.ops.real_ops.roi_align(input, boxes, rows, columns, scale, samples, aligned)


def demand_for_roi_align(input: Tensor, boxes: Tensor, rows: int, columns: int) -> None:
    demand(input.dim() == 4, f"roi_align: input has 4 dimensions, not {input.dim()}.")
    is_list = boxes.dim() == 2 and boxes.shape[1] == 5
    demand(is_list, f"roi_align: boxes are k x 5 (image, left, top, right, bottom), not {list(boxes.shape)}.")
    demand(rows > 0 and columns > 0, f"roi_align: an output of {rows} x {columns} has no bins.")
    demand_alike("roi_align", input=input, boxes=boxes)


def demand_for_roi_align_backward(gradient: Tensor, boxes: Tensor, shape: list[int], rows: int, columns: int) -> None:
    demand_for_roi_align(gradient, boxes, rows, columns)
    demand(len(shape) == 4, f"roi_align's backward: input had 4 dimensions, not {len(shape)}.")
    expected = (boxes.shape[0], shape[1], rows, columns)
    demand(tuple(gradient.shape) == expected, f"roi_align's backward: gradient is {list(gradient.shape)}, not {list(expected)}.")


def demand_images(boxes: Tensor, images: int) -> None:
    """No box may name an image that is not there. On a GPU nobody waits for the answer: the device stops with an assertion."""
    known = ((boxes[:, 0] >= 0) & (boxes[:, 0] < images)).all()
    if boxes.is_cuda:
        torch._assert_async(known)
    else:
        demand(bool(known), f"roi_align: there are {images} images, and a box names another.")


def struct_of_roi_align(boxes: Tensor, shape: list[int], rows: int, columns: int, *how: object) -> dict[str, object]:
    """`shape`: the input's. The members of ops.hpp's RoiAlign."""
    names = ("channels", "height", "width", "rows", "columns", "scale", "samples", "aligned")
    return dict(zip(names, (*shape[1:], rows, columns, *how)), boxes=boxes.contiguous())


@torch.library.impl(f"{LIBRARY}::roi_align", ("cpu", "cuda"))
def _(input: Tensor, boxes: Tensor, rows: int, columns: int, *how: object) -> Tensor:
    demand_for_roi_align(input, boxes, rows, columns)
    demand_images(boxes, input.shape[0])
    output = input.new_empty(len(boxes), input.shape[1], rows, columns)
    op = struct_of_roi_align(boxes, input.shape, rows, columns, *how)
    place_for(input).run("roi_align_forward", input, output.numel(), input=input.contiguous(), output=Out(output), op=op)
    return output


@torch.library.impl(f"{LIBRARY}::roi_align_backward", ("cpu", "cuda"))
def _(gradient: Tensor, boxes: Tensor, shape: list[int], rows: int, columns: int, *how: object) -> Tensor:
    demand_for_roi_align_backward(gradient, boxes, shape, rows, columns)
    demand_images(boxes, shape[0])
    if gradient.is_cuda:
        tell_of_atomics("roi_align's backward")
    sums = gradient.new_zeros(shape, dtype=wide(gradient.dtype))
    members = {"gradient": gradient.contiguous(), "input_gradient": Out(sums), "op": struct_of_roi_align(boxes, shape, rows, columns, *how)}
    place_for(gradient).run("roi_align_backward", gradient, gradient.numel(), **members)
    return sums.to(gradient.dtype)


@torch.library.register_fake(f"{LIBRARY}::roi_align")
def _(input: Tensor, boxes: Tensor, rows: int, columns: int, *how: object) -> Tensor:
    demand_for_roi_align(input, boxes, rows, columns)
    return input.new_empty(boxes.shape[0], input.shape[1], rows, columns)


@torch.library.register_fake(f"{LIBRARY}::roi_align_backward")
def _(gradient: Tensor, boxes: Tensor, shape: list[int], rows: int, columns: int, *how: object) -> Tensor:
    demand_for_roi_align_backward(gradient, boxes, shape, rows, columns)
    return gradient.new_empty(shape)


def keep_boxes(ctx, inputs, output) -> None:
    ctx.save_for_backward(inputs[1])
    ctx.shape, ctx.how = inputs[0].shape, inputs[2:]


def roi_align_gradients(ctx, gradient):
    (boxes,) = ctx.saved_tensors
    wanted = ctx.needs_input_grad[0]  # and not only of the boxes, which get none
    return torch.ops.real_ops.roi_align_backward(gradient, boxes, ctx.shape, *ctx.how) if wanted else None, *[None] * 6


def keep_boxes_again(ctx, inputs, output) -> None:
    ctx.save_for_backward(inputs[1])
    ctx.how = inputs[3:]


def roi_align_gradients_again(ctx, gradient):
    """Backward is linear in the gradient, and the gradient of its gradient is forward."""
    (boxes,) = ctx.saved_tensors
    return torch.ops.real_ops.roi_align(gradient, boxes, *ctx.how), *[None] * 7


torch.library.register_autograd(f"{LIBRARY}::roi_align", roi_align_gradients, setup_context=keep_boxes)
torch.library.register_autograd(f"{LIBRARY}::roi_align_backward", roi_align_gradients_again, setup_context=keep_boxes_again)

# ---- modulated deformable convolution ------------------------------------------------------------------------------------

CONVOLUTION = "int[2] stride, int[2] padding, int[2] dilation"
TENSORS = "Tensor input, Tensor offset, Tensor weight, Tensor? bias, Tensor? mask"
torch.library.define(f"{LIBRARY}::deform_conv2d", f"({TENSORS}, {CONVOLUTION}) -> Tensor")
torch.library.define(
    f"{LIBRARY}::deform_conv2d_backward",
    f"(Tensor gradient, Tensor input, Tensor offset, Tensor weight, Tensor? mask, {CONVOLUTION}, bool[4] wanted)"
    " -> (Tensor, Tensor, Tensor, Tensor)",
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
    """Version 2 with a mask, version 1 without. The groups of channels follow from weight's shape, those of offsets from offset's."""
    return torch.ops.real_ops.deform_conv2d(input, offset, weight, bias, mask, pair(stride), pair(padding), pair(dilation))


def demand_for_deform_conv2d(
    input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None, mask: Tensor | None,
    stride: list[int], padding: list[int], dilation: list[int],
) -> tuple[int, ...]:  # fmt: skip
    """The shape of the output."""
    demand(len(stride) == len(padding) == len(dilation) == 2, "deform_conv2d: stride, padding and dilation are two numbers each.")
    for name, tensor in (("input", input), ("offset", offset), ("weight", weight)):
        demand(tensor.dim() == 4, f"deform_conv2d: {name} has 4 dimensions, not {tensor.dim()}.")
    demand_alike("deform_conv2d", input=input, offset=offset, weight=weight, bias=bias, mask=mask)
    steps = min(stride) > 0 and min(dilation) > 0 and min(padding) >= 0
    demand(steps, "deform_conv2d: stride and dilation are positive, padding is not negative.")
    channels, filters = input.shape[1], weight.shape[0]
    demand(
        weight.shape[1] > 0 and channels % weight.shape[1] == 0 and filters % (channels // weight.shape[1]) == 0 and channels > 0,
        f"deform_conv2d: a weight of {list(weight.shape)} does not divide {channels} channels into groups.",
    )
    taps, size = weight.shape[2] * weight.shape[3], output_size(input, weight, stride, padding, dilation)
    demand(taps > 0 and min(size) > 0, f"deform_conv2d: the output would be {size[0]} x {size[1]}.")
    per_group = 2 * taps
    groups = offset.shape[1] // per_group
    demand(
        groups > 0 and offset.shape[1] % per_group == 0 and channels % groups == 0,
        f"deform_conv2d: offset has {offset.shape[1]} channels, which is not {per_group} for each of some groups of {channels} channels.",
    )
    places = (input.shape[0], groups * taps, *size)
    fits = (offset.shape[0], *offset.shape[2:]) == (places[0], *size)
    demand(fits, f"deform_conv2d: offset is {list(offset.shape)}, but the output is {list(size)}.")
    if mask is not None:
        demand(tuple(mask.shape) == places, f"deform_conv2d: mask is {list(mask.shape)}, not {list(places)}.")
    if bias is not None:
        demand(tuple(bias.shape) == (filters,), f"deform_conv2d: bias is {list(bias.shape)}, not [{filters}].")
    return input.shape[0], filters, *size


class Layout:
    """The convolution as a product of matrices: [groups, filters, what a filter has taps for] x [groups, the same, places]."""

    def __init__(self, input: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None, how: list[list[int]]):
        self.filters, self.depth, *kernel = weight.shape
        self.images, channels, *image = input.shape
        self.groups = channels // self.depth
        self.size = tuple(offset.shape[2:])
        self.elements = channels * math.prod(kernel) * self.places()
        self.offsets = offset.shape[0] * offset.shape[1] // 2 * math.prod(self.size)
        offset_groups = offset.shape[1] // (2 * math.prod(kernel))
        tensors = [None if tensor is None else tensor.contiguous() for tensor in (input, offset, mask)]
        numbers = [self.images, channels, *image, offset_groups, *kernel, *self.size, *(number for each in how for number in each)]
        self.taps = dict(zip((name for name, _ in Taps._fields_), [*tensors, *numbers], strict=True))
        self.weight = weight.reshape(self.groups, self.filters // self.groups, self.depth * math.prod(kernel))
        self.input = input

    def run(self, op: str, count: int, /, **members: Tensor | Out) -> None:
        place_for(self.input).run(op, self.input, count, **members, op=self.taps)

    def places(self) -> int:
        return self.images * math.prod(self.size)

    def columns(self) -> Tensor:
        """What the taps see."""
        seen = self.input.new_empty(self.groups, self.weight.shape[2], self.places())
        self.run("deform_columns", self.elements, columns=Out(seen))
        return seen

    def as_images(self, product: Tensor) -> Tensor:
        return product.reshape(self.filters, self.images, *self.size).transpose(0, 1).contiguous()

    def as_matrices(self, images: Tensor) -> Tensor:
        return images.transpose(0, 1).reshape(self.groups, self.filters // self.groups, self.places())


@torch.library.impl(f"{LIBRARY}::deform_conv2d", ("cpu", "cuda"))
def _(input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None, mask: Tensor | None, *how: list[int]) -> Tensor:
    demand_for_deform_conv2d(input, offset, weight, bias, mask, *how)
    layout = Layout(input, offset, weight, mask, how)
    output = layout.as_images(layout.weight @ layout.columns())
    return output if bias is None else output + bias.view(-1, 1, 1)


def demand_for_deform_conv2d_backward(gradient: Tensor, *inputs: object) -> None:
    shape = demand_for_deform_conv2d(*inputs[:3], None, *inputs[3:])
    demand(tuple(gradient.shape) == shape, f"deform_conv2d's backward: gradient is {list(gradient.shape)}, not {list(shape)}.")
    demand_alike("deform_conv2d's backward", input=inputs[0], gradient=gradient)


@torch.library.impl(f"{LIBRARY}::deform_conv2d_backward", ("cpu", "cuda"))
def _(gradient: Tensor, input: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None, *how: list) -> tuple[Tensor, ...]:
    """Of input, offset, weight and mask. Those that are not wanted are empty; offset and mask have theirs from one kernel."""
    *how, (for_input, for_offset, for_weight, for_mask) = how
    demand_for_deform_conv2d_backward(gradient, input, offset, weight, mask, *how)
    layout = Layout(input, offset, weight, mask, how)
    arrived = layout.as_matrices(gradient)
    of_input, of_offset, of_weight, of_mask = [input.new_empty(0) for _ in range(4)]
    if for_weight:
        of_weight = (arrived @ layout.columns().mT).reshape(weight.shape)
    if for_input or for_offset or for_mask:
        of_columns = layout.weight.mT.contiguous() @ arrived
    if for_input:
        if input.is_cuda:
            tell_of_atomics("deform_conv2d's backward")
        sums = torch.zeros_like(input, dtype=wide(input.dtype), memory_format=torch.contiguous_format)
        layout.run("deform_input_gradient", layout.elements, column_gradient=of_columns, input_gradient=Out(sums))
        of_input = sums.to(input.dtype)
    if for_offset or for_mask:
        of_offset = torch.empty_like(offset, memory_format=torch.contiguous_format)
        of_mask = input.new_empty(0) if mask is None else torch.empty_like(mask, memory_format=torch.contiguous_format)
        written = {"offset_gradient": Out(of_offset), "mask_gradient": Out(None if mask is None else of_mask)}
        layout.run("deform_offset_gradient", layout.offsets, column_gradient=of_columns, **written)
    return of_input, of_offset, of_weight, of_mask


@torch.library.register_fake(f"{LIBRARY}::deform_conv2d")
def _(input: Tensor, offset: Tensor, weight: Tensor, bias: Tensor | None, mask: Tensor | None, *how: list[int]) -> Tensor:
    return input.new_empty(demand_for_deform_conv2d(input, offset, weight, bias, mask, *how))


@torch.library.register_fake(f"{LIBRARY}::deform_conv2d_backward")
def _(gradient: Tensor, input: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None, *how: list) -> tuple[Tensor, ...]:
    *how, (for_input, for_offset, for_weight, for_mask) = how
    demand_for_deform_conv2d_backward(gradient, input, offset, weight, mask, *how)
    made = [for_input, for_offset or for_mask, for_weight, (for_offset or for_mask) and mask is not None]
    return tuple(input.new_empty(tensor.shape if is_made else 0) for tensor, is_made in zip((input, offset, weight, mask), made))


def keep_all(ctx, inputs, output) -> None:
    input, offset, weight, _, mask, *ctx.how = inputs
    ctx.save_for_backward(input, offset, weight, mask)


def deform_conv2d_gradients(ctx, gradient):
    """One for each of forward's eight arguments, in their order; None for those that nobody wants."""
    for_input, for_offset, for_weight, for_bias, for_mask, *_ = ctx.needs_input_grad
    wanted = [for_input, for_offset, for_weight, for_mask]
    found = torch.ops.real_ops.deform_conv2d_backward(gradient, *ctx.saved_tensors, *ctx.how, wanted)
    of_input, of_offset, of_weight, of_mask = [made if is_wanted else None for made, is_wanted in zip(found, wanted)]
    of_bias = gradient.sum((0, 2, 3)) if for_bias else None
    return of_input, of_offset, of_weight, of_bias, of_mask, None, None, None


def no_gradients_again(ctx, *gradients):
    """Without this, PyTorch would warn and go on as if the gradient were constant."""
    raise NotImplementedError("deform_conv2d has a gradient, but its gradient has none: it cannot be differentiated twice.")


torch.library.register_autograd(f"{LIBRARY}::deform_conv2d", deform_conv2d_gradients, setup_context=keep_all)
torch.library.register_autograd(f"{LIBRARY}::deform_conv2d_backward", no_gradients_again)
