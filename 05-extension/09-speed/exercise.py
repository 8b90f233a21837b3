# Predict how long a list of kernels takes, and what fusing them into one kernel gains: three small functions.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """The names of the tensors that a kernel reads and writes. A name may occur twice, as in x * x."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def traffic(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """The least number of bytes that the kernel moves to and from memory. `sizes` contains the bytes of each tensor."""
    raise NotImplementedError("your code here")


def fuse(kernels: Sequence[Kernel], keep: Sequence[str]) -> Kernel:
    """One kernel that does the work of all, in their order. Of the tensors that they write, only those in `keep` are needed afterwards.

    A value that one kernel writes and a later one reads stays in a register. Each name occurs once, in the order of its first appearance.
    """
    raise NotImplementedError("your code here")


def seconds(kernels: Sequence[Kernel], sizes: Mapping[str, int], bandwidth: float, overhead: float) -> float:
    """The time from the first launch until the last kernel has finished, in one stream. `bandwidth` is in bytes per second.

    The CPU launches the kernels one after the other, without waiting for the GPU, and needs `overhead` seconds for each.
    A kernel starts when it has been launched and the kernel before it has finished. It takes as long as its memory traffic.
    """
    raise NotImplementedError("your code here")
