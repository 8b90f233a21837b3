"""Where the simulator's libraries and the CUDA compiler are: in the installed package, or in the build folder of the repository."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

from cudasim.problem import Problem

HERE = pathlib.Path(__file__).resolve().parent
IS_INSTALLED = (HERE / "lib").is_dir()
ROOT = HERE if IS_INSTALLED else HERE.parents[3]
# The runtime and the driver: folders for LD_LIBRARY_PATH and LIBRARY_PATH.
LIBRARIES = [HERE / "lib"] if IS_INSTALLED else [ROOT / "build/runtime", ROOT / "build/simulator"]
NEWEST = "13.0"  # The CUDA version whose driver the simulator is: it refuses PTX of newer compilers.
ACTIVATE = HERE / "activate.sh" if IS_INSTALLED else ROOT / "common/runtime/activate.sh"


def version() -> str:
    if not IS_INSTALLED:
        return (ROOT / "common/VERSION").read_text(encoding="utf-8").strip()
    return next(iter(importlib.metadata.distributions(name="cudasim", path=[str(HERE.parent)]))).version


def about_others() -> str:
    """A sentence if another version could be meant: one that is installed beside this one, or that is active in this shell."""
    found = {str(each.locate_file("cudasim")): each.version for each in importlib.metadata.distributions(name="cudasim")}
    others = [f"{number} in {folder}" for folder, number in found.items() if folder != str(HERE)]
    if others and IS_INSTALLED:
        return f"several versions of cudasim are installed. This is {version()} in {HERE}; there is also {', '.join(others)}. To keep one, type: pip uninstall cudasim"
    active = os.environ.get("SIMULATED_GPU")
    if active and active != ":".join(map(str, LIBRARIES)):
        return f"another simulated GPU is active in this shell: {active}. This command uses its own, {version()} in {HERE}"
    return ""


def libraries() -> list[pathlib.Path]:
    """The folders of the libraries. In the repository, make builds them when they are first needed."""
    if IS_INSTALLED or all((folder / name).exists() for folder, name in zip(LIBRARIES, ("libcudart.so.13", "libcuda.so.1"))):
        return LIBRARIES
    if subprocess.run(["make", "-C", str(ROOT), "simulator"], stdout=sys.stderr, check=False).returncode:
        raise Problem("the simulated GPU could not be built")
    return LIBRARIES


def nvcc() -> str:
    """The nvcc on the PATH, or else the one that came with this package or with the repository. Newer ones than the simulator write PTX that it refuses."""
    found = shutil.which("nvcc")
    if found and not is_too_new(found):
        return found
    # pip has put NVIDIA's packages beside this one, or, with another option, where packages of this Python are.
    packages = dict.fromkeys([HERE.parent, *(pathlib.Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))])
    roots = [root for folder in packages for root in sorted(folder.glob("nvidia/cu*"))] if IS_INSTALLED else [ROOT / "build/toolkit"]
    own = [str(root / "bin/nvcc") for root in roots if os.access(root / "bin/nvcc", os.X_OK)]
    if fitting := [each for each in own if not is_too_new(each)]:
        return fitting[0]
    if newer := own[0] if own else found:
        what = f"{newer} is nvcc {release(newer)}, but the simulator supports only CUDA {NEWEST} and older"
    else:
        what = (
            "there is no nvcc, neither on the PATH nor in this Python environment"
            if IS_INSTALLED
            else "there is no nvcc on the PATH, and none in build/toolkit"
        )
    raise Problem(f"{what}. Type: {f'pip install {requirements()}' if IS_INSTALLED else 'make simulator'}")


def requirements() -> str:
    """NVIDIA's packages that this one needs, as words for a shell."""
    wanted = next(iter(importlib.metadata.distributions(name="cudasim", path=[str(HERE.parent)]))).requires or []
    return " ".join(f"'{name}'" for name in wanted if name.startswith("nvidia-"))


@functools.lru_cache(None)
def release(compiler: str) -> str:
    """The version of an nvcc, such as 13.0; nothing if it does not start."""
    try:
        said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return said.rpartition("release ")[2].partition(",")[0]


def is_too_new(compiler: str) -> bool:
    return [int(number) for number in re.findall(r"\d+", release(compiler))] > [int(number) for number in NEWEST.split(".")]
