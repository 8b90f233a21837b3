# Rejected with: "the gradient is that of the loss over all rows"
# all_reduce adds the gradients up, and they are never divided.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    by_kind: dict[torch.dtype, list[torch.nn.Parameter]] = {}
    for parameter in parameters:
        by_kind.setdefault(parameter.dtype, []).append(parameter)
    for kind in by_kind.values():
        message = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in kind])
        dist.all_reduce(message)
        for parameter, total in zip(kind, message.split([p.numel() for p in kind])):
            parameter.grad = total.view(parameter.shape)
