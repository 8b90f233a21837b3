"""Switches a shell over to the simulated GPU, so that nvcc, make and CMake work unchanged:

    eval "$(cudasim activate)"
    nvcc prog.cu -o prog && ./prog
    deactivate

The shell prints which variables have changed, and how to undo it. This works in bash, zsh and other POSIX shells.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from cudasim import places
from cudasim.problem import Problem


def main(words: list[str]) -> int:
    if words:
        raise Problem('activate takes no words. Type: eval "$(cudasim activate)"')
    if sys.stdout.isatty():
        print('A program cannot change the shell that has started it, so let the shell read what this command prints:\n\n    eval "$(cudasim activate)"')
        return 1
    try:
        compiler = os.path.dirname(places.nvcc())
    except Problem as why:  # the user may have programs that are compiled already
        print(f"cudasim: {why}", file=sys.stderr)
        compiler = ""
    print(f"_simulated_folders={shlex.quote(':'.join(map(str, places.libraries())))}")
    print(f"_simulated_nvcc={shlex.quote(compiler)}")
    if compiler and (other := shutil.which("nvcc")) and os.path.dirname(other) != compiler:  # one that is too new
        print("_simulated_first=yes")
    print(places.ACTIVATE.read_text(encoding="utf-8"), end="")
    return 0
