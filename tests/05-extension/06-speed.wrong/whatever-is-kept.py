# Rejected with: "what is kept and only read is not written"
# Everything that is needed afterwards is written, even what the pass has not changed.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """One pass over the memory: the names of the tensors that it reads and writes. A name can occur twice: x * x."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def traffic(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """The bytes that go between the kernel and the memory at least; `sizes` has those of each tensor."""
    # What is read twice is fetched once; what is read and written travels both ways.
    return sum(sizes[name] for name in set(kernel.reads)) + sum(sizes[name] for name in set(kernel.writes))


def fuse(kernels: Sequence[Kernel], keep: Sequence[str]) -> Kernel:
    """One kernel for all of them, in their order. Of what they write, only `keep` is still needed afterwards.

    What one writes and another reads stays in a register. Names are in the order in which they first appear, each once.
    """
    # It reads what no earlier node has written, and writes what is used later.
    reads: dict[str, None] = {}  # a dictionary keeps the order, and each name once
    writes: dict[str, None] = {}
    for kernel in kernels:
        reads.update((name, None) for name in kernel.reads if name not in writes)
        writes.update((name, None) for name in kernel.writes)
    return Kernel(tuple(reads), tuple(name for name in {**reads, **writes} if name in keep))


def seconds(kernels: Sequence[Kernel], sizes: Mapping[str, int], bandwidth: float, overhead: float) -> float:
    """How long they take one after the other. `bandwidth` is in bytes a second.

    To launch a kernel takes `overhead` seconds of the CPU, and meanwhile the GPU is busy with the one before: each
    kernel costs whichever of the two takes longer, its launch or its traffic.
    """
    # Small tensors: as many overheads as kernels. Large ones: as many bytes as there are.
    return sum(max(overhead, traffic(kernel, sizes) / bandwidth) for kernel in kernels)
