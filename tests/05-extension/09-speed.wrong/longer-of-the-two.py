# Rejected with: "a long kernel hides the launches behind it"
# Takes the longer of launch and traffic for each kernel, as if the CPU could not launch more than one kernel ahead.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """The names of the tensors that a kernel reads and writes. A name may occur twice, as in x * x."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def traffic(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """The least number of bytes that the kernel moves to and from memory. `sizes` contains the bytes of each tensor."""
    # A tensor that is read twice is loaded once. One that is read and written moves in both directions.
    return sum(sizes[name] for name in set(kernel.reads)) + sum(sizes[name] for name in set(kernel.writes))


def fuse(kernels: Sequence[Kernel], keep: Sequence[str]) -> Kernel:
    """One kernel that does the work of all, in their order. Of the tensors that they write, only those in `keep` are needed afterwards.

    A value that one kernel writes and a later one reads stays in a register. Each name occurs once, in the order of its first appearance.
    """
    # The fused kernel reads what no earlier kernel has written, and writes what is kept.
    reads: dict[str, None] = {}  # a dictionary keeps the order and has each name once
    writes: dict[str, None] = {}
    for kernel in kernels:
        reads.update((name, None) for name in kernel.reads if name not in writes)
        writes.update((name, None) for name in kernel.writes)
    return Kernel(tuple(reads), tuple(name for name in writes if name in keep))


def seconds(kernels: Sequence[Kernel], sizes: Mapping[str, int], bandwidth: float, overhead: float) -> float:
    """The time from the first launch until the last kernel has finished, in one stream. `bandwidth` is in bytes per second.

    The CPU launches the kernels one after the other, without waiting for the GPU, and needs `overhead` seconds for each.
    A kernel starts when it has been launched and the kernel before it has finished. It takes as long as its memory traffic.
    """
    return sum(max(overhead, traffic(kernel, sizes) / bandwidth) for kernel in kernels)
