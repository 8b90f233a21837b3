"""Builds square_plus/_C.abi3.so. pyproject.toml cannot say how to run nvcc, so this file does."""

import os
import sysconfig

import torch
from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

# A PyTorch without CUDA has no CUDA libraries to link with. The extension then contains the CPU implementation only.
# SQUARE_PLUS_CUDA=0 has the same effect.
WITH_CUDA = torch.version.cuda is not None and CUDA_HOME is not None and os.environ.get("SQUARE_PLUS_CUDA") != "0"

# The oldest PyTorch that the library runs with is 2.10, whatever version compiles it.
STABLE = ["-DTORCH_TARGET_VERSION=0x020a000000000000"]

# With Python's limited API, PyTorch's Python library is not linked. A free-threaded Python does not have it, and setuptools raises an error.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")


class AnyPython(bdist_wheel):
    """The library calls nothing of Python, and Python does not import it, so it fits every Python from 3.10 on, free-threaded or not."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py310", "none", super().get_tag()[2]


sources = ["csrc/cpu.cpp"] + (["csrc/cuda.cu"] if WITH_CUDA else [])
extension = (CUDAExtension if WITH_CUDA else CppExtension)(
    "square_plus._C",
    sources,
    depends=["csrc/op.hpp", "csrc/cuda.cu"],  # so that every source distribution contains them
    extra_compile_args={"cxx": ["-O2", "-g0", *STABLE], "nvcc": ["-O2", "-DUSE_CUDA", *STABLE]},
    py_limited_api=LIMITED,
)
setup(
    version="1.0" + os.environ.get("SQUARE_PLUS_LABEL", ""),  # such as +cu130, see lesson 05-13
    ext_modules=[extension],
    cmdclass={"build_ext": BuildExtension, "bdist_wheel": AnyPython if LIMITED else bdist_wheel},
)
