# Rejected with: "a tensor that is read before it is written is an input"
# Treats every tensor that is written as an intermediate result, even if it is read first.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """One pass over the memory: the names of the tensors that it reads and writes. A name can occur twice: x * x."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def traffic(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """What is read twice is fetched once; what is read and written travels both ways."""
    return sum(sizes[name] for name in set(kernel.reads)) + sum(sizes[name] for name in set(kernel.writes))


def fuse(kernels: Sequence[Kernel], keep: Sequence[str]) -> Kernel:
    """Reads what no earlier node in the pass has written, and writes what is used later."""
    reads: dict[str, None] = {}  # a dictionary keeps the order and has each name once
    writes: dict[str, None] = {}
    for kernel in kernels:
        reads.update((name, None) for name in kernel.reads if name not in writes)
        writes.update((name, None) for name in kernel.writes)
    return Kernel(tuple(name for name in reads if name not in writes), tuple(name for name in writes if name in keep))


def seconds(kernels: Sequence[Kernel], sizes: Mapping[str, int], bandwidth: float, overhead: float) -> float:
    """Small tensors: as many overheads as kernels. Large ones: as many bytes as there are."""
    return sum(max(overhead, traffic(kernel, sizes) / bandwidth) for kernel in kernels)
