# Rejected with: "there may be more rows than the type can count"
# The message has the type of the gradients. In bfloat16, 257 rows become 256.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    by_kind: dict[tuple[torch.dtype, torch.device], list[torch.nn.Parameter]] = {}
    for parameter in parameters:
        by_kind.setdefault((parameter.dtype, parameter.device), []).append(parameter)
    for kind in by_kind.values():
        # One row of numbers: all gradients, multiplied by our number of rows, and that number itself.
        pieces = [torch.zeros_like(p) if p.grad is None else p.grad for p in kind]
        message = torch.cat([piece.flatten() for piece in pieces] + [pieces[0].new_ones(1)]) * rows
        dist.all_reduce(message)
        *averages, _ = (message / message[-1]).split([p.numel() for p in kind] + [1])
        for parameter, average in zip(kind, averages):
            parameter.grad = average.view(parameter.shape)
