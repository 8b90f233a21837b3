# Batch normalisation by the rows of all processes: what torch.nn.BatchNorm1d and 2d do in one process with all rows.
import torch
import torch.distributed as dist
from torch import Tensor, nn


def add_up(numbers: Tensor) -> Tensor:
    """Adds what all processes have, in place: every process gets the sum."""
    if dist.is_initialized():
        dist.all_reduce(numbers)
    return numbers


def along(x: Tensor, channels: Tensor) -> Tensor:
    """One number for each channel, shaped so that it meets dimension 1 of x."""
    return channels.view(1, -1, *[1] * (x.dim() - 2))


class Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, ...]:
        rest = [0, *range(2, x.dim())]  # all dimensions but the channels
        mine = x.new_tensor([x.numel() // x.shape[1]])
        count, *_ = total = add_up(torch.cat([mine, x.sum(rest)]))
        mean = total[1:] / count
        centred = x - along(x, mean)
        # A second message: E[x²] - E[x]² would need none, and would lose its digits where the mean is large.
        variance = add_up(centred.square().sum(rest)) / count
        scale = (variance + eps).rsqrt()
        normal = centred * along(x, scale)
        ctx.save_for_backward(normal, weight, scale, count)
        ctx.mark_non_differentiable(mean, variance, count)
        return normal * along(x, weight) + along(x, bias), mean, variance, count

    @staticmethod
    def backward(ctx, dy: Tensor, *_) -> tuple[Tensor | None, ...]:
        normal, weight, scale, count = ctx.saved_tensors
        rest = [0, *range(2, dy.dim())]
        d_bias, d_weight = dy.sum(rest), (dy * normal).sum(rest)
        # Each row has moved the mean and the variance of all rows, also of those that others have.
        of_all = add_up(torch.cat([d_bias, d_weight])) / count
        through_mean, through_variance = of_all.chunk(2)
        dx = dy - along(dy, through_mean) - normal * along(dy, through_variance)
        return dx * along(dy, weight * scale), d_weight, d_bias, None  # the last two are this process's share


class SyncBatchNorm(nn.Module):
    """Has the names of nn.BatchNorm1d's parameters and buffers, so that one takes the other's state."""

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            scale = self.weight * (self.running_var + self.eps).rsqrt()
            return (x - along(x, self.running_mean)) * along(x, scale) + along(x, self.bias)
        y, mean, variance, count = Normalise.apply(x, self.weight, self.bias, self.eps)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        return y
