# Predict how long a list of kernels takes, and what is gained by making one kernel of it: three small functions.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """One pass over the memory: the names of the tensors that it reads and writes. A name may stand there twice: x * x."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def traffic(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """The bytes that go between the kernel and the memory at least; `sizes` has those of each tensor."""
    raise NotImplementedError("your code here")


def fuse(kernels: Sequence[Kernel], keep: Sequence[str]) -> Kernel:
    """One kernel for all of them, in their order. Of what they write, only `keep` is still needed afterwards.

    What one writes and another reads stays in a register. Names are in the order in which they first appear, each once.
    """
    raise NotImplementedError("your code here")


def seconds(kernels: Sequence[Kernel], sizes: Mapping[str, int], bandwidth: float, overhead: float) -> float:
    """How long they take one after the other. `bandwidth` is in bytes a second.

    To launch a kernel takes `overhead` seconds of the CPU, and meanwhile the GPU is busy with the one before: each
    kernel costs whichever of the two takes longer, its launch or its traffic.
    """
    raise NotImplementedError("your code here")
