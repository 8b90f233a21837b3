# PTX from elsewhere, in this case from Triton, and the driver API through ctypes.
import ctypes
import re
from ctypes import byref, c_int, c_size_t, c_void_p

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from common.driver import attribute, cu, current, is_too_new, primary, ptx_version


@triton.jit
def forward(x, b, y, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < count)
    tl.store(y + i, value * value + tl.load(b + i, mask=i < count), mask=i < count)


def ptx_of(block):
    """The PTX, the name of the function, and the number of threads that it requires."""
    cu.cuInit(0)
    target = GPUTarget("cuda", 10 * attribute(75, 0) + attribute(76, 0), 32)  # COMPUTE_CAPABILITY_MAJOR, _MINOR
    types = {"x": "*fp32", "b": "*fp32", "y": "*fp32", "count": "i32", "BLOCK": "constexpr"}
    made = triton.compile(ASTSource(forward, types, {"BLOCK": block}), target=target)
    if is_too_new(made.asm["ptx"]):
        made = triton.compile(ASTSource(forward, types, {"BLOCK": block}), target=target, options={"ptx_version": ptx_version()})
    return made.asm["ptx"], made.metadata.name, 32 * made.metadata.num_warps


def run(x, b):
    ptx, name, threads = ptx_of(256)
    y, size = np.empty_like(x), c_size_t(x.nbytes)
    with current(primary(0)):
        module, function, places = c_void_p(), c_void_p(), [c_void_p() for _ in range(3)]
        cu.cuModuleLoadData(byref(module), ptx.encode())
        cu.cuModuleGetFunction(byref(function), module, name.encode())
        for place in places:
            cu.cuMemAlloc_v2(byref(place), size)
        for place, values in zip(places, (x, b)):
            cu.cuMemcpyHtoD_v2(place, c_void_p(values.ctypes.data), size)
        values = [*places, c_int(x.size)]
        values += [c_void_p()] * (len(re.findall(r"^\s*\.param ", ptx, re.MULTILINE)) - len(values))  # for scratch memory
        pointers = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        cu.cuLaunchKernel(function, (x.size + 255) // 256, 1, 1, threads, 1, 1, 0, None, pointers, None)
        cu.cuMemcpyDtoH_v2(c_void_p(y.ctypes.data), places[2], size)
        for place in places:
            cu.cuMemFree_v2(place)
        cu.cuModuleUnload(module)
    return y
