# Judge other people's extensions: find out whether an op that claims to be y = x² + b for PyTorch may be trusted.
from collections.abc import Callable

import torch


def fault_of(op: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], launches: Callable[[], int], device: str) -> str:
    """What is wrong with this op, in a few words; an empty string if nothing was found.

    op(x, b) is y = x² + b for tensors on this device ("cpu", where they are copied to the GPU and back, or "cuda"), differentiable. launches() tells how
    many of our kernels have been launched so far. Seven ops each have one mistake (see mistakes.cpp), and one has none: results that differ
    in the last digits only, because a kernel rounds once where PyTorch rounds twice, are no mistake.

    On "cpu" you are asked about the right one and five of the seven. The stream's needs a GPU that PyTorch sees, and the guard's needs two.
    """
    # Your code here.
    return ""
