# launch() runs a Triton kernel on PyTorch's tensors: with Triton's own launcher on a GPU, and otherwise with the driver API on the simulated GPU.
import contextlib
import ctypes
import functools
import re
from ctypes import byref, c_float, c_int32, c_int64, c_uint64, c_void_p

import torch

from common.driver import Copy, cu, current, primary
from common.triton_ptx import compiled

IN_C = {"i32": c_int32, "i64": c_int64, "u64": c_uint64, "fp32": c_float}
STATIC_SHARED = 48 * 1024  # bytes; a kernel that needs more must say so before the launch
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8  # CUfunction_attribute


def launch(kernel, grid, *arguments, **constants):
    """kernel[grid](*arguments, **constants), for tensors on the GPU or in host memory."""
    if 0 in grid:
        return  # a grid without programs would be an error
    if next(each for each in arguments if isinstance(each, torch.Tensor)).is_cuda:
        kernel[grid](*arguments, **constants)
    else:
        by_driver(compiled(kernel, *arguments, **constants), grid, dict(zip(kernel.arg_names, arguments)))


def by_driver(version, grid, arguments):
    """Launches the PTX that Triton made. Tensors are copied to the device for the time of the launch."""
    metadata = version.metadata
    with contextlib.ExitStack() as until_done:
        until_done.enter_context(current(primary(0)))
        function, parameters = loaded(version.asm["ptx"], metadata.name)
        values = []
        for name, value in arguments.items():
            kind = version.src.signature[name]
            if kind == "constexpr":
                continue  # compiled into the kernel: a constant, or a size that is 1
            if isinstance(value, torch.Tensor):
                values.append(c_void_p(until_done.enter_context(Copy(value)).data_ptr()))
            else:
                values.append(IN_C[kind](value))
        values += [c_void_p()] * (parameters - len(values))  # scratch memory, which these kernels do not use
        pointers = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        if metadata.shared > STATIC_SHARED:
            cu.cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED_SIZE_BYTES, metadata.shared)
        across, down, deep = (*grid, 1, 1)[:3]
        cu.cuLaunchKernel(function, across, down, deep, 32 * metadata.num_warps, 1, 1, metadata.shared, None, pointers, None)


@functools.cache
def loaded(ptx, name):
    """The function, and how many parameters it has."""
    module, function = c_void_p(), c_void_p()
    cu.cuModuleLoadData(byref(module), ptx.encode())
    cu.cuModuleGetFunction(byref(function), module, name.encode())
    return function, len(re.findall(r"^\s*\.param ", ptx, re.MULTILINE))
