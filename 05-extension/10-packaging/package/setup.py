"""What pyproject.toml cannot say: the library in C++, the kernels, and for which PyTorch they were built.

SQUARE_PLUS=later pip install .   leaves the compiling to whoever imports the package
"""

import os
import pathlib
import shutil
import subprocess

import torch
from setuptools import setup
from setuptools.command.build_py import build_py
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension

LATER = os.environ.get("SQUARE_PLUS") == "later"
NVCC = shutil.which("nvcc", path=os.path.join(CUDA_HOME, "bin") if CUDA_HOME else None)


class BuildPython(build_py):
    """Copies the package, as ever; then adds what is made."""

    def run(self) -> None:
        super().run()
        package = pathlib.Path(self.build_lib) / "square_plus"
        if not LATER:
            (package / "built_for.txt").write_text(torch.__version__)
            if NVCC:  # PTX: the user's driver compiles it for the user's GPU
                subprocess.run([NVCC, "-ptx", str(package / "kernels.cu"), "-o", str(package / "kernels.ptx")], check=True)


library = CppExtension(
    "square_plus.op",
    ["square_plus/op.cpp"],
    extra_compile_args=["-O2", "-g0", "-w"],
    py_limited_api=True,  # nothing of Python's is in it: op.abi3.so
)
setup(
    ext_modules=[] if LATER else [library],
    cmdclass={"build_py": BuildPython, "build_ext": BuildExtension},
    options={} if LATER else {"bdist_wheel": {"py_limited_api": "cp39"}},
)
