"""Kernels in Triton: compiled for each case as Triton itself would, which depends on alignments and on numbers that are 1 or multiples of 16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudasim.problem import Problem
from cudasim.verify.compiled import ENTRY, Compiled
from cudasim.verify.data import scalar_value
from cudasim.verify.declare import Array, Kernel, Scalar, evaluate

if TYPE_CHECKING:
    from cudasim.verify.data import Prepared

CAPABILITY, WARP = 90, 32  # of the simulated device
PAGE = 4096  # an address that is as aligned as that of an allocation


class Argument:
    """An array, as Triton looks at it when it compiles."""

    def __init__(self, array: Array, first: int, is_empty: bool):
        self.dtype, self.address = f"torch.{array.type.name}", 0 if is_empty else PAGE + first

    def data_ptr(self) -> int:
        return self.address

    @staticmethod
    def ptr_range() -> int:
        return 0


def simulated() -> Any:
    """What Triton asks of a driver in order to compile."""
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class Driver(DriverBase):
        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", CAPABILITY, WARP)

        def get_active_torch_device(self) -> Any:
            return None

        def get_benchmarker(self) -> Any:
            return None

        def get_current_device(self) -> int:
            return 0

        def get_current_stream(self, device: int) -> int:
            return 0

    return Driver()


def check(kernel: Kernel) -> None:
    function = kernel.source
    if not hasattr(function, "warmup") or not hasattr(function, "params"):
        raise Problem(f"{kernel.name}: {function!r} is neither the name of a .cu file nor a function with @triton.jit")
    declared = [each.name for each in kernel.parameters]
    runtime = [each.name for each in function.params if not each.is_constexpr and each.name not in kernel.constants]
    constants = [each.name for each in function.params if each.is_constexpr]
    if len(declared) != len(runtime):
        raise Problem(f"the Triton function {function.__name__} has the parameters {', '.join(runtime)}, but the reference declares {', '.join(declared)}")
    if missing := [name for name in constants if name not in kernel.constants]:
        raise Problem(f"{kernel.name}: the Triton function needs a value of {missing[0]}: kernel(…, constants={{'{missing[0]}': 256}})")


def compiled(kernel: Kernel, prepared: Prepared) -> Compiled:
    from triton.runtime import driver

    check(kernel)
    driver.set_active(simulated())
    sizes, by_name = prepared.case.sizes, {}
    runtime = [each.name for each in kernel.source.params if each.name not in kernel.constants and not each.is_constexpr]
    for name, each in zip(runtime, kernel.parameters):
        if isinstance(each, Array):
            layout = prepared.layouts[each.name]
            by_name[name] = Argument(each, layout.first, layout.count == 0)
        else:
            value = prepared.scalars[each.name]
            by_name[name] = scalar_value(each.type, value) if isinstance(each, Scalar) else value
    constants = {name: evaluate(value, sizes) for name, value in kernel.constants.items()}
    try:
        made = kernel.source.warmup(grid=prepared.grid, **by_name, **constants, **kernel.compile_options)
    except Exception as problem:
        raise Problem(f"Triton cannot compile {kernel.name}: {type(problem).__name__}: {problem}") from problem
    ptx = made.asm["ptx"]
    # A number that is 1 becomes a constant, so that the kernel has no such parameter.
    kept = {name for name, type in made.src.signature.items() if type != "constexpr"}
    passed = tuple(each.name for name, each in zip(runtime, kernel.parameters) if name in kept)
    block = (made.metadata.num_warps * WARP, 1, 1)
    return Compiled(ptx.encode(), ENTRY.findall(ptx)[0], passed, block, made.metadata.shared, adds_pointers=True)
