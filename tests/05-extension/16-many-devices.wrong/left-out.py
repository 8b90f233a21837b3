# Rejected with: "a parameter that one process did not use gets its gradient"
# A parameter without a gradient is skipped, so the messages of two processes differ in length.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    by_kind: dict[torch.dtype, list[torch.nn.Parameter]] = {}
    for parameter in parameters:
        if parameter.grad is not None:
            by_kind.setdefault(torch.promote_types(parameter.dtype, torch.float), []).append(parameter)
    for wide, kind in by_kind.items():
        message = torch.cat([p.grad.flatten().to(wide) for p in kind] + [torch.ones(1, dtype=wide)]) * rows
        dist.all_reduce(message)
        *averages, _ = (message / message[-1]).split([p.numel() for p in kind] + [1])
        for parameter, average in zip(kind, averages):
            parameter.grad = average.view(parameter.shape).to(parameter.dtype)
