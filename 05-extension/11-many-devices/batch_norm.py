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
    """x is read and y written in their own type; in between, half types are computed in float. Messages are a few numbers, hence in double."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, ...]:
        rest = [0, *range(2, x.dim())]  # all dimensions but the channels
        wide = x.to(torch.promote_types(x.dtype, torch.float))
        rows = x.numel() // x.shape[1]
        mine = torch.tensor([rows], dtype=torch.double, device=x.device)
        total = add_up(torch.cat([mine, wide.sum(rest).double()]))
        count, sums = total[0], total[1:]
        if rows < 2 and count < 2:  # only who has so few has to look, and wait for the answer; then all see it, and nobody sends on
            raise ValueError("Expected more than 1 value per channel when training, in all processes together.")
        mean = (sums / count).to(wide.dtype)
        centred = wide - along(x, mean)
        # A second message: E[x²] - E[x]² would need none, and would lose its digits where the mean is large.
        variance = (add_up(centred.square().sum(rest).double()) / count).to(wide.dtype)
        scale = (variance + eps).rsqrt()
        normal = centred * along(x, scale)
        ctx.save_for_backward(normal, weight, scale, count)
        ctx.mark_non_differentiable(mean, variance, count)
        return (normal * along(x, weight) + along(x, bias)).to(x.dtype), mean, variance, count

    @staticmethod
    def backward(ctx, dy: Tensor, *_) -> tuple[Tensor | None, ...]:
        normal, weight, scale, count = ctx.saved_tensors
        rest = [0, *range(2, dy.dim())]
        wide = dy.to(normal.dtype)
        d_bias, d_weight = wide.sum(rest), (wide * normal).sum(rest)
        # Each row has moved the mean and the variance of all rows, also of those that others have.
        of_all = add_up(torch.cat([d_bias, d_weight]).double()) / count
        through_mean, through_variance = of_all.to(wide.dtype).chunk(2)
        dx = wide - along(dy, through_mean) - normal * along(dy, through_variance)
        # The gradients of weight and bias are this process's share.
        return (dx * along(dy, weight * scale)).to(dy.dtype), d_weight.to(weight.dtype), d_bias.to(weight.dtype), None


class SyncBatchNorm(nn.Module):
    """Has the parameters and buffers of nn.BatchNorm1d and 2d, so that one takes the other's state."""

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            scale = self.weight * (self.running_var + self.eps).rsqrt()
            return ((x - along(x, self.running_mean)) * along(x, scale) + along(x, self.bias)).to(x.dtype)
        y, mean, variance, count = Normalise.apply(x, self.weight, self.bias, self.eps)
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
            self.running_var.lerp_((variance * count / (count - 1)).to(self.running_var.dtype), self.momentum)
        return y
