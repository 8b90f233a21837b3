"""The PTX of a kernel, and what a launch passes to it."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING

from cudasim import places
from cudasim.problem import DoesNotCompile, Problem

if TYPE_CHECKING:
    from cudasim.verify.data import Prepared
    from cudasim.verify.declare import Kernel

ARCHITECTURE = "compute_90"  # the simulated device
ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(")


@dataclasses.dataclass(frozen=True)
class Compiled:
    ptx: bytes
    entry: str
    parameters: tuple[str, ...]  # names, in the kernel's order
    block: tuple[int, int, int]
    shared: int
    adds_pointers: bool = False  # the compiler has added parameters that may be null


@functools.cache
def ptx_of(source: pathlib.Path, options: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="cudasim-") as folder:
        file = pathlib.Path(folder, "kernel.ptx")
        command = [places.nvcc(), "-x", "cu", "-ptx", "-std=c++17", "-lineinfo", f"-arch={ARCHITECTURE}", *options, str(source), "-o", str(file)]
        ran = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, errors="replace", check=False)
        if ran.returncode or not file.exists():
            raise DoesNotCompile(f"nvcc could not compile {source.name}", ran.returncode or 1, ran.stderr + ran.stdout)
        return file.read_bytes()


def entry_of(kernel: Kernel, ptx: bytes) -> str:
    """The kernel's name in the PTX: the only one, or the one with the reference's name."""
    entries: list[str] = ENTRY.findall(ptx.decode("utf-8", "replace"))
    mangled = f"_Z{len(kernel.name)}{kernel.name}"
    fitting = [entry for entry in entries if entry == kernel.name or entry.startswith(mangled)]
    if len(entries) == 1 or len(fitting) == 1:
        return (fitting or entries)[0]
    if not entries:
        raise Problem(f"{kernel.source.name} has no kernel: a __global__ function. A template has to be instantiated explicitly")
    raise Problem(f'{kernel.source.name} has the kernels {", ".join(entries)}, none of them called {kernel.name}. Name one: kernel(…, name="{entries[0]}")')


def compiled(kernel: Kernel, prepared: Prepared) -> Compiled:
    if kernel.is_triton:
        from cudasim.verify import triton_kernel

        return triton_kernel.compiled(kernel, prepared)
    ptx = ptx_of(kernel.source, tuple(kernel.options))
    return Compiled(ptx, entry_of(kernel, ptx), tuple(each.name for each in kernel.parameters), prepared.block, prepared.shared)
