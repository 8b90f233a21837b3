"""The data of a case, and what the reference makes of it."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import numpy as np

from cudasim.problem import Problem
from cudasim.verify.cases import Case
from cudasim.verify.declare import Array, In, InOut, Kernel, Scalar, Size, Stride, evaluate
from cudasim.verify.dtypes import SMALLEST_NORMAL, Type
from cudasim.verify.memory import Layout, layout_of


@dataclasses.dataclass
class Prepared:
    """A case with all that a launch needs. `skipped`: why there is nothing to run."""

    case: Case
    layouts: dict[str, Layout]
    stored: dict[str, np.ndarray]  # of each array that the kernel reads, as it is in memory
    scalars: dict[str, Any]
    expected: dict[str, np.ndarray]  # of each array that the kernel writes: values
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    skipped: str = ""


def bounds(array: Array, sizes: dict[str, int]) -> tuple[Any, Any]:
    if array.values is not None:
        low, high = array.values
        return evaluate(low, sizes), evaluate(high, sizes)
    if array.type.is_float:
        return -1.0, 1.0
    if array.type.name == "bool":
        return 0, 2
    return (0 if array.type.name.startswith("u") else -100), 101


def data_of(array: Array, case: Case, random: np.random.Generator) -> np.ndarray:
    """The values of an array, before they are rounded to its type."""
    shape = array.shape_for(case.sizes)
    low, high = bounds(array, case.sizes)
    if not array.type.is_float:
        return random.integers(low, max(int(low) + 1, int(high)), shape)
    values = random.uniform(low, high, shape)
    if case.data == "random" or case.special_in not in ("", array.name) or not values.size:
        return values
    is_free = array.values is None
    flat = values.reshape(-1)
    if case.data == "nan":
        flat[random.integers(flat.size)] = np.nan
    elif case.data == "infinities":
        flat[random.integers(flat.size)] = np.inf
        flat[random.integers(flat.size)] = -np.inf
    elif case.data == "denormals" and (is_free or low <= 0 <= high):
        values = random.uniform(-1 if is_free else 0, 1, shape) * SMALLEST_NORMAL[array.type.name]
    elif case.data == "zeros" and low <= 0 <= high:
        values = np.where(random.integers(2, size=shape) == 1, 0.0, -0.0)
    elif case.data == "ones" and low <= 1 <= high:
        values = np.ones(shape)
    elif case.data in ("large", "negative") and is_free:
        values = random.uniform(0.5, 1, shape) * (100 if array.type.name == "float16" else 10_000) * (1 if case.data == "large" else -1)
    return values


def scalar_of(scalar: Scalar, random: np.random.Generator, sizes: dict[str, int]) -> Any:
    if scalar.value is not None:
        return evaluate(scalar.value, sizes)
    low, high = (evaluate(each, sizes) for each in scalar.values or ((-1.0, 1.0) if scalar.type.is_float else (0, 101)))
    return float(random.uniform(low, high)) if scalar.type.is_float else int(random.integers(low, max(low + 1, high)))


def prepare(kernel: Kernel, case: Case) -> Prepared:
    random = np.random.default_rng(zlib.crc32(f"{kernel.name}: {case}".encode()))
    layouts = {array.name: layout_of(kernel, array, case) for array in kernel.arrays}
    stored = {array.name: array.type.store(data_of(array, case, random)) for array in kernel.arrays if isinstance(array, (In, InOut))}
    scalars: dict[str, Any] = {}
    for each in kernel.parameters:
        if isinstance(each, Scalar):
            scalars[each.name] = each.type.store(np.asarray(scalar_of(each, random, case.sizes)))
        elif isinstance(each, Size):
            scalars[each.name] = int(evaluate(each.of, case.sizes))
        elif isinstance(each, Stride):
            scalars[each.name] = layouts[each.array].strides[each.dimension]
    found = Prepared(case, layouts, stored, scalars, {}, kernel.grid_for(case.sizes), kernel.extents(case.sizes), int(evaluate(kernel.shared, case.sizes)))
    if 0 in found.grid:
        found.skipped = "the declared grid has no blocks, and CUDA refuses such a launch"
        return found
    try:
        found.expected = expected(kernel, found)
    except Problem:
        raise
    except Exception as problem:
        if all(size > 0 for size in case.sizes.values()):
            raise Problem(f"{kernel.name}: the reference fails for {case}: {type(problem).__name__}: {problem}") from problem
        found.skipped = f"the reference is not defined for it ({type(problem).__name__}: {problem})"
    return found


def expected(kernel: Kernel, prepared: Prepared) -> dict[str, np.ndarray]:
    """What the reference returns, as float64 or whole numbers, rounded to the types of the outputs."""
    arguments = [argument(kernel, each, prepared) for each in kernel.parameters]
    with np.errstate(all="ignore"):
        returned = kernel.reference(*arguments)
    results = returned if isinstance(returned, (tuple, list)) else (returned,)
    if len(results) != len(kernel.outputs):
        raise Problem(f"{kernel.name}: the reference returns {len(results)} results, but {len(kernel.outputs)} parameters are Out or InOut")
    found = {}
    for array, result in zip(kernel.outputs, results):
        values = np.asarray(result.detach().cpu().numpy() if hasattr(result, "detach") else result)
        shape = array.shape_for(prepared.case.sizes)
        if values.size != np.prod(shape, dtype=np.int64):
            raise Problem(f"{kernel.name}: for {prepared.case}, the reference returns {values.shape} for {array.name}, whose shape is {shape}")
        found[array.name] = array.type.load(array.type.store(values.reshape(shape)))
    return found


def argument(kernel: Kernel, parameter: Any, prepared: Prepared) -> Any:
    """A parameter as the reference gets it. Floating-point numbers are float64, so that the reference is more exact than the kernel."""
    if isinstance(parameter, Array):
        shape = parameter.shape_for(prepared.case.sizes)
        stored = prepared.stored.get(parameter.name)
        values = parameter.type.load(stored).copy() if stored is not None else np.zeros(shape, "float64" if parameter.type.is_float else parameter.type.stored)
        return as_tensor(values) if kernel.library == "torch" else values
    value = prepared.scalars[parameter.name]
    return scalar_value(parameter.type, value) if isinstance(parameter, Scalar) else value


def scalar_value(type: Type, stored: np.ndarray) -> Any:
    return type.load(stored).item()


def as_tensor(values: np.ndarray) -> Any:
    try:
        import torch
    except ImportError:
        raise Problem("a declaration says library='torch', but PyTorch is not installed. Type: pip install torch") from None
    return torch.from_numpy(values)
