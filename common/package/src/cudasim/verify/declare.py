"""How a kernel is declared: a reference function whose annotations say what the kernel's parameters are.

@kernel("saxpy.cu", block=256, grid="n")
def saxpy(a: Scalar("float32"), x: In("float32", "n"), y: InOut("float32", "n"), n: Size):
    return a * x + y
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from cudasim.problem import Problem
from cudasim.verify.compiled import ptx_of
from cudasim.verify.dtypes import TOLERANCE, Type

SPECIAL = ("nan", "infinities", "denormals", "zeros", "large", "negative", "ones")
LAYOUTS = ("unaligned", "strided", "transposed", "distant")


def evaluate(value: Any, sizes: dict[str, int]) -> Any:
    """A number, the name of a size, or a function of sizes, which takes them by the names of its parameters."""
    if isinstance(value, str):
        if value not in sizes:
            raise Problem(f"no parameter or array has a size {value!r}; the sizes are {', '.join(sizes) or '(none)'}")
        return sizes[value]
    if not callable(value):
        return value
    names = list(inspect.signature(value).parameters)
    if missing := [name for name in names if name not in sizes]:
        raise Problem(f"a function of the declaration takes {missing[0]!r}, which is no size; the sizes are {', '.join(sizes) or '(none)'}")
    return value(**{name: sizes[name] for name in names})


class Parameter:
    """One parameter of the kernel."""

    name = ""


class Array(Parameter):
    """An array in device memory. `shape`: names of sizes, numbers, or functions of sizes."""

    reads = writes = False

    def __init__(self, dtype: str, *shape: Any, values: tuple[Any, Any] | None = None, align: int | None = None):
        """`values`: the least and the largest value, to which random data is restricted. `align`: what the caller promises, in bytes."""
        try:
            self.type = Type(dtype)
        except ValueError as problem:
            raise Problem(str(problem)) from None
        if not shape:
            raise Problem(f"{type(self).__name__}({dtype!r}) has no shape: name its sizes, such as {type(self).__name__}({dtype!r}, 'n')")
        self.shape, self.values, self.align = shape, values, align or self.type.size
        if self.align % self.type.size:
            raise Problem(f"align={align} is not a multiple of the {self.type.size} bytes of an element")

    def shape_for(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(int(evaluate(each, sizes)) for each in self.shape)


class In(Array):
    """The kernel reads it, and must not change it."""

    reads = True


class Out(Array):
    """The kernel writes all of it. It holds nothing before."""

    writes = True


class InOut(Array):
    """The kernel reads and changes it."""

    reads = writes = True


class Size(Parameter):
    """A size of the arrays, with the width that the kernel's parameter has. Its name is the parameter's, or the one that is given."""

    def __init__(self, of: Any = None):
        """`of`: the name of a size, or a function of sizes."""
        self.of = of


class Stride(Parameter):
    """The distance of neighbors in one dimension of an array, in elements."""

    def __init__(self, array: str, dimension: int = 0):
        self.array, self.dimension = array, dimension


class Scalar(Parameter):
    """A number that is no size: constant, or random between the two of `values`."""

    def __init__(self, dtype: str, value: Any = None, values: tuple[Any, Any] | None = None):
        try:
            self.type = Type(dtype)
        except ValueError as problem:
            raise Problem(str(problem)) from None
        self.value, self.values = value, values


@dataclasses.dataclass
class Kernel:
    """A kernel with its reference. `source`: the .cu file, or a Triton function."""

    name: str
    reference: Callable[..., Any]
    parameters: list[Parameter]
    source: Any
    grid: Any
    block: Any
    shared: Any = 0
    sizes: dict[str, Any] = dataclasses.field(default_factory=dict)
    when: Callable[..., bool] | None = None
    rtol: float | None = None
    atol: float | None = None
    special: tuple[str, ...] = SPECIAL
    without: tuple[str, ...] = ()
    library: str = "numpy"
    options: tuple[str, ...] = ()
    constants: dict[str, Any] = dataclasses.field(default_factory=dict)
    compile_options: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def is_triton(self) -> bool:
        return not isinstance(self.source, pathlib.Path)

    @property
    def arrays(self) -> list[Array]:
        return [each for each in self.parameters if isinstance(each, Array)]

    @property
    def outputs(self) -> list[Array]:
        return [each for each in self.arrays if each.writes]

    def size_names(self) -> list[str]:
        """Each size once, in the order of the parameters."""
        of_arrays = [each for array in self.arrays for each in array.shape if isinstance(each, str)]
        of_numbers = [each.of for each in self.parameters if isinstance(each, Size) and isinstance(each.of, str)]
        return list(dict.fromkeys([*of_arrays, *of_numbers]))

    def extents(self, sizes: dict[str, int]) -> tuple[int, int, int]:
        """The block's three extents. A Triton kernel's block is what one program computes."""
        return three(evaluate(self.block, sizes), sizes, f"{self.name}: block")

    def grid_for(self, sizes: dict[str, int]) -> tuple[int, int, int]:
        """A name of a size covers it with blocks, at least one; anything else is the number of blocks."""
        wanted = self.grid if isinstance(self.grid, tuple) else (self.grid,)
        extents = self.extents(sizes)
        counts = tuple(max(1, -(-evaluate(each, sizes) // extents[axis])) if isinstance(each, str) else each for axis, each in enumerate(wanted))
        return three(evaluate(counts[0], sizes) if len(counts) == 1 else counts, sizes, f"{self.name}: grid")

    def extent_of(self, size: str) -> int:
        """How many elements of a size one block covers, for the choice of sizes at its edge."""
        try:
            extents = three(self.block, {}, "block")
        except Problem:  # a function of the sizes
            return 32
        wanted = self.grid if isinstance(self.grid, tuple) else (self.grid,)
        if size in wanted:
            return extents[wanted.index(size)]
        return extents[0] if len(self.size_names()) > 1 else extents[0] * extents[1] * extents[2]

    def tolerance(self, type: Type) -> tuple[float, float]:
        relative, absolute = TOLERANCE.get(type.name, (0.0, 0.0))
        return (relative if self.rtol is None else self.rtol), (absolute if self.atol is None else self.atol)


def three(value: Any, sizes: dict[str, int], what: str) -> tuple[int, int, int]:
    values = [evaluate(each, sizes) for each in (value if isinstance(value, (tuple, list)) else (value,))]
    if not 1 <= len(values) <= 3 or not all(isinstance(each, int) and each >= 0 for each in values):
        raise Problem(f"{what} is {value!r}; it has to be one to three whole numbers")
    x, y, z = [*values, 1, 1][:3]
    return x, y, z


ANNOTATIONS = "In, Out, InOut, Size, Stride or Scalar"


def parameters_of(reference: Callable[..., Any]) -> list[Parameter]:
    try:
        signature = inspect.signature(reference, eval_str=True)
    except Problem as why:
        raise Problem(f"{reference.__name__}: {why}") from None
    found = []
    for name, declared in signature.parameters.items():
        parameter = Size() if declared.annotation is Size else declared.annotation
        if not isinstance(parameter, Parameter):
            raise Problem(f"{reference.__name__}: the parameter {name!r} is annotated with none of {ANNOTATIONS}")
        parameter.name = name
        if isinstance(parameter, Size) and parameter.of is None:
            parameter.of = name
        found.append(parameter)
    arrays = {each.name: each for each in found if isinstance(each, Array)}
    for each in found:
        if isinstance(each, Stride) and (each.array not in arrays or not 0 <= each.dimension < len(arrays[each.array].shape)):
            raise Problem(f"{reference.__name__}: {each.name} is a stride of {each.array!r}, dimension {each.dimension}, which no array has")
    if not any(array.writes for array in arrays.values()):
        raise Problem(f"{reference.__name__}: no parameter is Out or InOut, so there is no result to compare")
    return found


DECLARED: list[Kernel] = []  # by the file that is being loaded
LOADED: set[pathlib.Path] = set()


def kernel(source: Any, *, grid: Any, block: Any, name: str | None = None, **settings: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Declares a kernel; the decorated function is its reference. `source`: a .cu file, beside the declaration, or a Triton function.
    The other settings are described on the page of `cudasim verify`."""
    unknown = set(settings) - {field.name for field in dataclasses.fields(Kernel)}
    if unknown:
        raise Problem(f"kernel() has no setting {sorted(unknown)[0]!r}")

    def declare(reference: Callable[..., Any]) -> Kernel:
        path = source
        if isinstance(source, (str, pathlib.Path)):
            path = pathlib.Path(inspect.getfile(reference)).resolve().parent / source
            if not path.is_file():
                raise Problem(f"{reference.__name__}: there is no file {path}")
        found = Kernel(name or reference.__name__, reference, parameters_of(reference), path, grid, block, **settings)
        check(found)
        DECLARED.append(found)
        return found

    return declare


def check(found: Kernel) -> None:
    wrong = [each for each in found.special if each not in SPECIAL]
    if wrong:
        raise Problem(f"{found.name}: there are no special values {wrong[0]!r}; they are {', '.join(SPECIAL)}")
    if wrong := [each for each in found.without if each not in (*SPECIAL, *LAYOUTS)]:
        raise Problem(f"{found.name}: there are no cases {wrong[0]!r} to leave out; they are {', '.join((*SPECIAL, *LAYOUTS))}")
    if found.library not in ("numpy", "torch"):
        raise Problem(f"{found.name}: library is 'numpy' or 'torch', not {found.library!r}")
    if extra := set(found.sizes) - set(found.size_names()):
        raise Problem(f"{found.name}: sizes names {sorted(extra)[0]!r}, but the sizes are {', '.join(found.size_names()) or '(none)'}")


def load(name: str | os.PathLike[str]) -> list[Kernel]:
    """The kernels that a Python file declares."""
    file = pathlib.Path(name)
    if not file.is_file():
        raise Problem(f"there is no file {file}")
    if file.suffix != ".py":
        raise Problem(f"{file} is no Python file. The declaration of a kernel is one: see `cudasim verify --help`")
    DECLARED.clear()
    if file.resolve() in LOADED:  # again, as in a notebook: the kernels may have changed
        ptx_of.cache_clear()
    LOADED.add(file.resolve())
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # inspect looks for the annotations' names there
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Problem:
        raise
    except Exception as problem:
        raise Problem(f"{file} cannot be loaded: {type(problem).__name__}: {problem}") from problem
    finally:
        sys.path.remove(str(file.resolve().parent))
    if not DECLARED:
        raise Problem(f"{file} declares no kernel: decorate a reference function with cudasim.verify.kernel")
    return list(DECLARED)
