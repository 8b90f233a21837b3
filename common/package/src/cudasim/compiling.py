"""Compiles CUDA programs so that they run on the simulator."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Sequence

from cudasim import places
from cudasim.closed import why_not
from cudasim.problem import DoesNotCompile, Problem

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a")
# The loader decides which runtime a program gets, and the simulator reads PTX that is not compressed. Reports name lines of the source.
FLAGS = ("-cudart", "shared", "--no-compress")
DEBUG = {"-G", "--device-debug", "-lineinfo", "--generate-line-info", "-c", "-E"}


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options of nvcc with the sources, and the program's arguments: everything after the last of the first sources."""
    first = next((i for i, word in enumerate(words) if word.endswith(SOURCES) and pathlib.Path(word).is_file()), None)
    if first is None:
        raise Problem(f"there is neither a program nor a source file among the words: {' '.join(words)}")
    end = first
    while end < len(words) and words[end].endswith(SOURCES):
        end += 1
    return list(words[:end]), list(words[end:])


def compile(options: Sequence[str | os.PathLike[str]], program: str | os.PathLike[str], *, quiet: bool = False) -> None:
    """Compiles sources to a program. `options` are the words of an nvcc command: options and sources. With `quiet`, what nvcc prints is kept in the
    exception DoesNotCompile instead of shown."""
    words = [os.fspath(word) for word in options]
    for word in words:
        if word.startswith("-l") and (why := why_not("the program", word[2:])):
            raise Problem(why)
    folders = [*map(str, places.libraries()), *filter(None, [os.environ.get("LIBRARY_PATH")])]
    nvcc = places.nvcc()
    # Of NVIDIA's wheels, nvcc does not find the folder of the device runtime, which nvlink needs.
    own = pathlib.Path(nvcc).resolve().parents[1] / "lib"
    search = [f"-L{folder}" for folder in (places.libraries()[-1], own) if folder.is_dir()]
    flags = [*FLAGS, *([] if DEBUG & set(words) else ["-lineinfo"]), *search, "-o", os.fspath(program)]
    command = [nvcc, *words, *flags]
    if not (any(word.startswith(("-ccbin", "--compiler-bindir")) for word in words) or os.environ.get("NVCC_CCBIN") or shutil.which("g++")):
        raise Problem("there is no g++, and nvcc needs it for the host code. On Debian and Ubuntu, type: sudo apt-get install g++")
    ran = subprocess.run(command, env={**os.environ, "LIBRARY_PATH": ":".join(folders)}, capture_output=quiet, text=True, errors="replace", check=False)
    if ran.returncode:
        raise DoesNotCompile("nvcc could not compile the program", ran.returncode, (ran.stderr + ran.stdout) if quiet else "")
