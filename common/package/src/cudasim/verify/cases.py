"""Which cases a kernel is tried with: sizes at the edges, layouts of the arrays in memory, and kinds of data."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

from cudasim.problem import Problem
from cudasim.verify.declare import In, InOut, Kernel, Stride, evaluate

EDGES = (0, 1, 3, 4, 5, 31, 32, 33)  # nothing, one element, one off a vector of four, one off a warp
LONG = 4099  # of kernels with one size: long enough for rounding to add up
FAR = 2**31  # elements: an index into an array that is larger does not fit into an int
MOST = 1 << 20  # elements of an array, the distant layout aside


@dataclasses.dataclass(frozen=True)
class Case:
    sizes: dict[str, int]
    data: str = "random"
    special_in: str = ""  # the array that the special values are in; in all of them if it is empty
    layout: str = "contiguous"
    shifted: str = ""  # the array that begins one element into its allocation; all of them with layout unaligned if it is empty

    def __str__(self) -> str:
        words = [" ".join(f"{name}={size}" for name, size in self.sizes.items()) or "fixed sizes"]
        if self.data != "random":
            words.append(self.data + (f" in {self.special_in}" if self.special_in else ""))
        if self.layout != "contiguous":
            words.append((f"{self.shifted} " if self.shifted else "") + self.layout)
        return ", ".join(words)


def edges_of(kernel: Kernel, size: str) -> list[int]:
    if size in kernel.sizes:
        return [int(each) for each in kernel.sizes[size]]
    block = kernel.extent_of(size)
    several = 3 * block + 7 if len(kernel.size_names()) == 1 else block + 5
    return sorted({*EDGES, max(0, block - 1), block, block + 1, several})


def is_wanted(kernel: Kernel, sizes: dict[str, int]) -> bool:
    if kernel.when is not None and not evaluate(kernel.when, sizes):
        return False
    return all(math.prod(array.shape_for(sizes)) <= MOST for array in kernel.arrays)


def typical(kernel: Kernel) -> dict[str, int]:
    """The largest of the edges, or what comes closest to it among what the kernel promises."""
    names = kernel.size_names()
    for sizes in itertools.islice(itertools.product(*(sorted(edges_of(kernel, name), reverse=True) for name in names)), 20_000):
        found = dict(zip(names, sizes))
        if is_wanted(kernel, found):
            return found
    raise Problem(f"{kernel.name}: no combination of sizes is left to try, because `when` excludes all of them or the arrays are too large")


def sized(kernel: Kernel) -> Iterator[Case]:
    """One size at its edges while the others are typical, and all of them on the edge of a block together."""
    usual = typical(kernel)
    for name in usual:
        yield from (Case({**usual, name: edge}) for edge in edges_of(kernel, name))
    if len(usual) > 1:
        for index in range(min(len(edges_of(kernel, name)) for name in usual)):
            yield Case({name: edges_of(kernel, name)[index] for name in usual})


def special(kernel: Kernel) -> Iterator[Case]:
    usual = typical(kernel)
    floats = [array.name for array in kernel.arrays if isinstance(array, (In, InOut)) and array.type.is_float]
    if not floats:
        return
    for kind in kernel.special:
        if kind in ("nan", "infinities") and len(floats) > 1:
            yield from (Case(usual, kind, name) for name in floats)
        else:
            yield Case(usual, kind)
    if len(usual) == 1 and not kernel.sizes:
        long = dict.fromkeys(usual, LONG)
        yield Case(long)
        if "ones" in kernel.special:
            yield Case(long, "ones")


def laid_out(kernel: Kernel) -> Iterator[Case]:
    usual = typical(kernel)
    if len(kernel.arrays) > 1:
        yield from (Case(usual, layout="unaligned", shifted=array.name) for array in kernel.arrays)
    yield Case(usual, layout="unaligned")
    strides = [each for each in kernel.parameters if isinstance(each, Stride)]
    if not strides:
        return
    yield Case(usual, layout="strided")
    by_array = {array.name: [each.dimension for each in strides if each.array == array.name] for array in kernel.arrays}
    if any(len(by_array[array.name]) == len(array.shape) > 1 for array in kernel.arrays):
        yield Case(usual, layout="transposed")
    for array in kernel.arrays:
        if 0 in by_array[array.name] and len(array.shape) > 1:
            yield Case(usual, layout="distant", shifted=array.name)


def cases(kernel: Kernel) -> list[Case]:
    """All cases, each once; those that the kernel does not promise or the user does not want are left out. The smallest come first."""
    found: dict[str, Case] = {}
    for case in itertools.chain(sized(kernel), special(kernel), laid_out(kernel)):
        if is_wanted(kernel, case.sizes) and not {case.data, case.layout} & set(kernel.without):
            found.setdefault(str(case), case)
    if not found:
        raise Problem(f"{kernel.name}: `when` excludes all sizes")
    return sorted(found.values(), key=lambda case: math.prod(size + 1 for size in case.sizes.values()))
