# Rejected with: "types are kept"
# One message for all types, as float. Doubles lose digits.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    parameters = list(parameters)
    pieces = [(torch.zeros_like(p) if p.grad is None else p.grad).flatten().float() for p in parameters]
    message = torch.cat(pieces + [pieces[0].new_ones(1)]) * rows
    dist.all_reduce(message)
    *averages, _ = (message / message[-1]).split([p.numel() for p in parameters] + [1])
    for parameter, average in zip(parameters, averages):
        parameter.grad = average.view(parameter.shape).to(parameter.dtype)
