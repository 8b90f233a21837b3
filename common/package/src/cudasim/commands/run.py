"""Compiles a CUDA program and runs it on the simulated GPU.

    cudasim prog.cu arguments…              compiles prog.cu with nvcc, and runs it
    cudasim -O3 -Iinclude a.cu b.cpp 100    options of nvcc come first; what follows the sources are arguments
    cudasim run ./prog arguments…           runs a program that is compiled already
    cudasim run python3 test.py             any program can be started: Python, a debugger, make, a shell

The program ends with its own status. The variables CUDASIM_… of the simulator work as usual.
"""

from __future__ import annotations

from cudasim.commands.program import ready, tell_crash
from cudasim.running import start


def main(words: list[str]) -> int:
    with ready(words) as command:
        return tell_crash(command, start(command))
