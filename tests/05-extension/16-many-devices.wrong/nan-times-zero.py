# Rejected with: "a process may have no rows"
# The gradients of a process without rows are multiplied by 0, but NaN times 0 is NaN.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    by_kind: dict[tuple[torch.dtype, torch.device], list[torch.nn.Parameter]] = {}
    for parameter in parameters:
        wide = torch.promote_types(parameter.dtype, torch.float)
        by_kind.setdefault((wide, parameter.device), []).append(parameter)
    for (wide, device), kind in by_kind.items():
        pieces = [torch.zeros_like(p) if p.grad is None else p.grad for p in kind]
        ours = [piece.flatten().to(wide) for piece in pieces] + [torch.ones(1, dtype=wide, device=device)]
        message = torch.cat(ours) * rows
        dist.all_reduce(message)
        *averages, _ = (message / message[-1]).split([p.numel() for p in kind] + [1])
        for parameter, average in zip(kind, averages):
            parameter.grad = average.view(parameter.shape).to(parameter.dtype)
