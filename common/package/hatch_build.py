"""Puts the simulator's libraries into the wheel. The environment says which:

(nothing)                 compiles them for this machine, with its C++ compiler
CUDASIM_TARGET=aarch64    compiles them with zig for that processor (or x86_64) and every Linux with glibc 2.28 or newer
CUDASIM_BUILT=build       takes those that make has built for this machine, in the folder build of the repository
"""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = pathlib.Path(__file__).resolve().parent
# The sources: in the repository, or in the source distribution.
ROOT = HERE if (HERE / "common/simulator").is_dir() else HERE.parents[1]
VERSION = (ROOT / "common/VERSION").read_text(encoding="utf-8").strip()

HEADERS = ["nvidia-cuda-runtime==13.0.*", "nvidia-cuda-crt==13.0.*", "nvidia-cuda-nvcc==13.0.*", "nvidia-cuda-profiler-api==13.0.*"]
ZIG = "ziglang==0.15.2"
GLIBC = "2.28"
# The loader of glibc 2.33 and newer prefers the library in the folder of the level that the processor has.
LEVELS = {"x86_64": {".": "-mcpu=x86_64", "glibc-hwcaps/x86-64-v3": "-mcpu=x86_64_v3"}, "aarch64": {".": ""}}


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def dependencies(self) -> list[str]:
        if os.environ.get("CUDASIM_BUILT"):
            return []
        return [*HEADERS, *([ZIG] if os.environ.get("CUDASIM_TARGET") else [])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # it uses what make builds in the repository
            return
        target, built = os.environ.get("CUDASIM_TARGET", ""), os.environ.get("CUDASIM_BUILT", "")
        platform = f"manylinux_{GLIBC.replace('.', '_')}_{target}" if target else sysconfig.get_platform().replace("-", "_").replace(".", "_")
        files = in_build(ROOT / built) if built else compiled(target)
        build_data |= {"pure_python": False, "tag": f"py3-none-{platform}"}
        include = {str(file): f"cudasim/lib/{name}" for file, name in files.items()}
        build_data["force_include"] |= {**include, str(ROOT / "common/runtime/activate.sh"): "cudasim/activate.sh"}


def in_build(folder: pathlib.Path, level: str = ".") -> dict[pathlib.Path, str]:
    """The libraries that make has built in a folder, and their names in the package."""
    runtimes = {folder / "runtime" / name: name for name in ("libcudart.so.12", "libcudart.so.13")} if level == "." else {}
    return {folder / "simulator/libcuda.so.1": f"{level}/libcuda.so.1".removeprefix("./"), **runtimes}


def compiled(target: str) -> dict[pathlib.Path, str]:
    """The same, compiled here: in build/wheel of the repository, where make finds what is up to date."""
    files: dict[pathlib.Path, str] = {}
    folder = pathlib.Path("build/wheel", target or "native")
    settings = [f"CUDA_INCLUDE={headers(folder)}", "SANITIZE=", "LDFLAGS=-s", *([f"CXX={zig(folder, target)}"] if target else [])]
    for level, flags in LEVELS.get(target, {".": ""}).items():
        out = folder / (pathlib.Path(level).name or "base")
        make("simulator", "library", [*settings, f"OUT={out}", *([f"SIM_ARCH={flags}"] if target else [])])
        if level == ".":
            make("runtime", "libraries", [*settings, f"OUT={out}/runtime"])
        files |= in_build(ROOT / out, level)
    return files


def zig(folder: pathlib.Path, target: str) -> pathlib.Path:
    """A script that is the C++ compiler. make builds everything again if the name of its compiler changes, and the environment's folder has no fixed name."""
    script = folder / "c++"
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "ziglang", "c++", "-target", f"{target}-linux-gnu.{GLIBC}", "-include", str(HERE / "zig.hpp")]
    (ROOT / script).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    (ROOT / script).chmod(0o755)
    return script


def make(part: str, goal: str, settings: list[str]) -> None:
    subprocess.run(["make", f"-j{os.cpu_count()}", "-f", f"common/{part}/Makefile", goal, *settings], cwd=ROOT, check=True)


def headers(folder: pathlib.Path) -> str:
    """The folder of cuda.h: a copy of those in the build's environment, whose folder has another name each time, or that of a toolkit."""
    asked = os.environ.get("CUDA_INCLUDE")
    own = next(pathlib.Path(sysconfig.get_paths()["purelib"]).glob("nvidia/cu13/include"), None)
    if asked or not own:
        return asked or str(ROOT / "build/toolkit/include")
    return str(shutil.copytree(own, ROOT / folder / "include", dirs_exist_ok=True))
