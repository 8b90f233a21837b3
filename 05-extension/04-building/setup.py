"""Builds the module `bound` with setuptools: python3 setup.py build_ext. Lesson 05-13 makes a package of an op."""

import pathlib

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

HERE = pathlib.Path(__file__).resolve().parent

setup(
    name="bound",
    ext_modules=[CppExtension("bound", [str(HERE / "square_plus.cpp")], extra_compile_args=["-O2", "-g0", "-w"])],
    cmdclass={"build_ext": BuildExtension},
)
