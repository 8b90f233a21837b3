# Triton's compiler without a GPU, for lessons 05-08 and 05-14. Triton compiles a kernel for the GPU that its active driver reports. PyTorch, which
# Triton would ask, doesn't see the simulated GPU, so we report the device that the driver API has.
from __future__ import annotations

import os
import pathlib
from typing import Any

os.environ.setdefault("TRITON_CACHE_DIR", str(pathlib.Path(__file__).parents[1] / "build" / "triton"))

import torch
import triton
from triton.backends.compiler import GPUTarget

from common import driver


class OfTheDriverApi:
    """The three questions that Triton's compiler has for the active driver."""

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        capability = 10 * driver.attribute(75, 0) + driver.attribute(76, 0)  # COMPUTE_CAPABILITY_MAJOR, _MINOR
        return GPUTarget("cuda", capability, 32)


if not torch.cuda.is_available():
    triton.runtime.driver.set_active(OfTheDriverApi())


def compiled(kernel: Any, *arguments: object, **constants: object) -> Any:
    """The version of the kernel that Triton would launch for these arguments: its PTX is in asm["ptx"]."""
    found = kernel.warmup(*arguments, grid=(1,), **constants)
    if driver.is_too_new(found.asm["ptx"]):
        found = kernel.warmup(*arguments, grid=(1,), ptx_version=driver.ptx_version(), **constants)
    return found
