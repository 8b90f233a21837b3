# Rejected with: "all gradients are sent in a few messages"
# Correct but slow: a message for each parameter.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    of_all = torch.tensor(float(rows), dtype=torch.double)
    dist.all_reduce(of_all)
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        total = parameter.grad.contiguous().to(torch.promote_types(parameter.dtype, torch.float)) * rows
        dist.all_reduce(total)
        parameter.grad = (total / of_all.item()).to(parameter.dtype)
