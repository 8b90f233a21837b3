"""Builds the op at run time. PyTorch writes a build.ninja, runs g++ if op.cpp or op.hpp has changed, and loads the library."""

import pathlib

import torch
from torch.utils import cpp_extension

from common.built import built

HERE = pathlib.Path(__file__).resolve().parent


def load() -> None:
    folder = pathlib.Path(built(__file__, "just_in_time"))
    folder.mkdir(parents=True, exist_ok=True)
    cpp_extension.load(
        name="op",
        sources=[str(HERE / "op.cpp")],
        extra_cflags=["-O2"],
        build_directory=str(folder),  # the default is ~/.cache/torch_extensions
        is_python_module=False,  # without pybind11: it is loaded as by torch.ops.load_library
    )


if __name__ == "__main__":
    load()
    print(torch.ops.course.square_plus(torch.arange(4.0), torch.ones(1)))
