# Average the gradients of all processes, in few messages.
from collections.abc import Iterable

import torch
import torch.distributed as dist


def average_gradients(parameters: Iterable[torch.nn.Parameter], rows: int) -> None:
    """Makes every parameter's .grad, in every process, the gradient of the loss of all rows together.

    The processes have the same parameters. This one's gradients come from a loss that is the mean over its `rows` rows;
    other processes may have had more, or fewer. A parameter that this process has not used has no gradient (None), but
    others may have used it: afterwards all have one. Types and devices stay what they are, also where a type has too few
    digits to count the rows: 257 is no bfloat16. However many parameters there are, only a few messages are sent: each
    all_reduce costs some microseconds, however little it carries.
    """
    by_kind: dict[tuple[torch.dtype, torch.device], list[torch.nn.Parameter]] = {}
    for parameter in parameters:
        wide = torch.promote_types(parameter.dtype, torch.float)  # what half types travel in
        by_kind.setdefault((wide, parameter.device), []).append(parameter)
    for (wide, device), kind in by_kind.items():
        # One long row: all gradients, each times our rows, and our rows themselves.
        pieces = [torch.zeros_like(p) if p.grad is None else p.grad for p in kind]
        ours = [piece.flatten().to(wide) for piece in pieces] + [torch.ones(1, dtype=wide, device=device)]
        message = torch.cat(ours) * rows
        dist.all_reduce(message)
        *averages, _ = (message / message[-1]).split([p.numel() for p in kind] + [1])
        for parameter, average in zip(kind, averages):
            parameter.grad = average.view(parameter.shape).to(parameter.dtype)
