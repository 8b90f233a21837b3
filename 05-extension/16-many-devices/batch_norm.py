# Batch normalization over the rows of all processes: the results of nn.BatchNorm1d and 2d in one process with all rows.
from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor, nn


def gather(numbers: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    """A row for each process, in every process: one message."""
    if not dist.is_initialized():
        return numbers[None]
    rows = [torch.empty_like(numbers) for _ in range(dist.get_world_size(group))]
    dist.all_gather(rows, numbers, group)
    return torch.stack(rows)


def add_up(numbers: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    """The sum over all processes, in every process and in place: one message."""
    if dist.is_initialized():
        dist.all_reduce(numbers, group=group)
    return numbers


def along(x: Tensor, channels: Tensor) -> Tensor:
    """One number for each channel, in a shape that broadcasts along dimension 1 of x."""
    return channels.view(1, -1, *[1] * (x.dim() - 2))


class Normalize(torch.autograd.Function):
    """x and y keep their type. Half types are computed as float, and messages are double: bfloat16 cannot count to 257."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, group) -> tuple[Tensor, ...]:
        rest = [0, *range(2, x.dim())]  # all dimensions except the channels
        wide = x.to(torch.promote_types(x.dtype, torch.float))
        rows = x.numel() // x.shape[1]
        if rows:
            variances, means = torch.var_mean(wide, rest, correction=0)
        else:  # this process has no rows, but the others wait for its message
            variances, means = wide.new_zeros(2, x.shape[1])
        message = torch.cat([means.double(), variances.double(), means.new_full((1,), rows, dtype=torch.double)])
        means, variances, counts = gather(message, group).split([x.shape[1], x.shape[1], 1], 1)
        count = counts.sum()
        if rows < 2 and count < 2:  # a process with two rows need not wait for the GPU
            raise ValueError("Expected more than 1 value per channel when training, in all processes together.")
        mean = (means * counts).sum(0) / count
        # Each process measured the distances from its own mean. They grow by the distance of that mean from the common one.
        variance = ((variances + (means - mean).square()) * counts).sum(0) / count
        scale = (variance + eps).rsqrt().to(wide.dtype)
        normal = (wide - along(x, mean.to(wide.dtype))) * along(x, scale)
        ctx.save_for_backward(normal, weight, scale, count)
        ctx.group = group
        ctx.mark_non_differentiable(mean, variance, count)
        y = normal if weight is None else normal * along(x, weight) + along(x, bias)
        return y.to(x.dtype), mean, variance, count

    @staticmethod
    def backward(ctx, dy: Tensor, *_) -> tuple[Tensor | None, ...]:
        normal, weight, scale, count = ctx.saved_tensors
        rest = [0, *range(2, dy.dim())]
        wide = dy.to(normal.dtype)
        d_bias, d_weight = wide.sum(rest), (wide * normal).sum(rest)
        # Each row has moved the mean and the variance of all rows, including those of other processes.
        of_all = add_up(torch.cat([d_bias, d_weight]).double(), ctx.group) / count
        through_mean, through_variance = of_all.to(wide.dtype).chunk(2)
        dx = wide - along(dy, through_mean) - normal * along(dy, through_variance)
        if weight is None:
            return (dx * along(dy, scale)).to(dy.dtype), None, None, None, None
        # The gradients of weight and bias are this process's share.
        dx = dx * along(dy, weight * scale)
        return dx.to(dy.dtype), d_weight.to(weight.dtype), d_bias.to(weight.dtype), None, None


class SyncBatchNorm(nn.Module):
    """Has the parameters and buffers of nn.BatchNorm1d and 2d, so either can load the other's state.

    The arguments have the names and meanings of nn.SyncBatchNorm's. momentum=None averages the statistics of all batches.
    process_group: the processes that share the rows; by default all.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        *,
        process_group: dist.ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        self.eps, self.momentum, self.process_group = eps, momentum, process_group
        self.weight = nn.Parameter(torch.ones(num_features)) if affine else None
        self.bias = nn.Parameter(torch.zeros(num_features)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            scale = (self.running_var + self.eps).rsqrt()
            y = (x - along(x, self.running_mean)) * along(x, scale if self.weight is None else scale * self.weight)
            return (y if self.bias is None else y + along(x, self.bias)).to(x.dtype)
        y, mean, variance, count = Normalize.apply(x, self.weight, self.bias, self.eps, self.process_group)
        with torch.no_grad():
            self.num_batches_tracked += 1
            for running, new in ((self.running_mean, mean), (self.running_var, variance * count / (count - 1))):
                part = 1 / self.num_batches_tracked.to(running.dtype) if self.momentum is None else self.momentum
                running.lerp_(new.to(running.dtype), part)
        return y
