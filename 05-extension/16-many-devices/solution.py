# Average the gradients of all processes, in a few messages.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    """Replaces every parameter's .grad, in every process, with the gradient of the loss over all rows.

    All processes have the same parameters. The gradients of this process belong to a loss that is the mean over its
    `rows` rows. Other processes may have had more or fewer rows. If a process had no rows, its `rows` is 0, and its gradients
    do not count, even if they are NaN; at least one process has rows. A parameter that this process has not used has no
    gradient (None), but other processes may have used it; afterwards it has a gradient in all of them. Types and devices
    stay the same. The result is also right if the number of rows does not fit into a type (257 is not a bfloat16). Only
    a few messages are sent, however many parameters there are: a small all_reduce costs several microseconds.
    """
    by_kind: dict[tuple[torch.dtype, torch.device], list[torch.nn.Parameter]] = {}
    for parameter in parameters:
        wide = torch.promote_types(parameter.dtype, torch.float)  # the type of the message for half types
        by_kind.setdefault((wide, parameter.device), []).append(parameter)
    for (wide, device), kind in by_kind.items():
        # One row of numbers: all gradients, multiplied by our number of rows, and that number itself.
        pieces = [torch.zeros_like(p) if p.grad is None or rows == 0 else p.grad for p in kind]
        ours = [piece.flatten().to(wide) for piece in pieces] + [torch.ones(1, dtype=wide, device=device)]
        message = torch.cat(ours) * rows
        dist.all_reduce(message)
        *averages, _ = (message / message[-1]).split([p.numel() for p in kind] + [1])
        for parameter, average in zip(kind, averages):
            parameter.grad = average.view(parameter.shape).to(parameter.dtype)
