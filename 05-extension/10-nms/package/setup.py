"""Builds box_nms/_C.abi3.so, in the same way as the package of lesson 05-05."""

import os
import sysconfig

import torch
from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

# Without CUDA, or with BOX_NMS_CUDA=0, the extension contains the CPU implementation only.
WITH_CUDA = torch.version.cuda is not None and CUDA_HOME is not None and os.environ.get("BOX_NMS_CUDA") != "0"

# The oldest PyTorch that the library runs with is 2.10. Products must not be fused with additions: the GPU does not do so either.
FLAGS = ["-O2", "-g0", "-ffp-contract=off", "-DTORCH_TARGET_VERSION=0x020a000000000000"] + (["-DWITH_CUDA", "-DUSE_CUDA"] if WITH_CUDA else [])

LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")


class AnyPython(bdist_wheel):
    """The library calls nothing of Python, so it fits every Python from 3.10 on."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py310", "none", super().get_tag()[2]


extension = (CUDAExtension if WITH_CUDA else CppExtension)(
    "box_nms._C",
    ["csrc/op.cpp"] + (["csrc/kernels.cu"] if WITH_CUDA else []),
    depends=["csrc/nms.hpp", "csrc/kernels.cu"],  # so that every source distribution contains them
    extra_compile_args={"cxx": FLAGS, "nvcc": ["-O2"]},
    py_limited_api=LIMITED,
)
setup(ext_modules=[extension], cmdclass={"build_ext": BuildExtension, "bdist_wheel": AnyPython if LIMITED else bdist_wheel})
