"""The command `cudasim`."""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sys

from cudasim import commands, places
from cudasim.problem import DoesNotCompile, Problem

NAMES = [module.name for module in pkgutil.iter_modules(commands.__path__) if module.name != "program"]
HELP = """cudasim runs CUDA programs on a simulated GPU.

    cudasim prog.cu arguments…            compiles a program with nvcc, and runs it
    cudasim run ./prog arguments…         runs a program that is compiled already
    cudasim check prog.cu arguments…      runs it with all checks: races, uninitialized memory, barriers, leaks
    cudasim verify kernels.py             compares kernels with references in NumPy or PyTorch
    cudasim profile prog.cu arguments…    counts instructions, memory transactions and bank conflicts
    cudasim see prog.cu arguments…        makes a film of its kernels: one HTML file
    eval "$(cudasim activate)"            switches this shell over, for make and CMake

    cudasim COMMAND --help explains a command. cudasim --version shows what is installed.
"""


def about() -> str:
    """What is installed."""
    lines = [f"cudasim {places.version()} in {places.HERE}"]
    try:
        lines.append(f"nvcc {places.release(places.nvcc()) or 'that does not start'} in {places.nvcc()}")
    except Problem as why:
        lines.append(str(why))
    return "\n".join([*lines, *filter(None, [places.about_others()])])


def call(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(HELP, end="")
        return 0
    if words[0] == "--version":
        print(about())
        return 0
    if others := places.about_others():
        print(f"cudasim: {others}", file=sys.stderr)
    name, rest = (words[0], words[1:]) if words[0] in NAMES else ("run", words)
    module = importlib.import_module(f"cudasim.commands.{name}")
    if rest[:1] in (["-h"], ["--help"]):
        print((module.__doc__ or "").strip())
        return 0
    return int(module.main(rest))


def main() -> int:
    try:
        return call(sys.argv[1:])
    except DoesNotCompile as why:
        print(why.errors, end="", file=sys.stderr)
        return why.status
    except Problem as why:
        print(f"cudasim: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # what reads the output, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main())
