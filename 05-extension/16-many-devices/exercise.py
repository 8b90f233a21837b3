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
    # Your code here.
