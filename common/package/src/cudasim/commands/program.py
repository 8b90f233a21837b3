"""What the commands have in common: the words of a command that name a program or its sources, and options before them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator

from cudasim import compiling
from cudasim.problem import Problem

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)
PREFIX = "cudasim-"  # of the folder of a program that was compiled for one run


def own_options(words: list[str], known: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The command's own options, which come first, and the other words. `known`: what the value of each option is."""
    found: dict[str, str] = {}
    while words and words[0].partition("=")[0] in known:
        name, has_value, value = words[0].partition("=")
        if not has_value and len(words) < 2:
            raise Problem(f"{name} needs a value: {known[name]}")
        found[name], words = (value, words[1:]) if has_value else (words[1], words[2:])
    return found, words


@contextlib.contextmanager
def ready(words: list[str]) -> Iterator[list[str]]:
    """The command that runs the user's program, which is compiled if the words name sources."""
    if not words:
        raise Problem("name a program or its sources: cudasim prog.cu. The command cudasim --help shows more")
    if not words[0].startswith("-") and not words[0].endswith(compiling.SOURCES) and is_program(words[0]):
        yield words
        return
    options, arguments = compiling.split(words)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        program = f"{folder}/{pathlib.Path(options[-1]).stem}"
        compiling.compile(options, program)
        yield [program, *arguments]


def is_program(word: str) -> bool:
    return pathlib.Path(word).is_file() or shutil.which(word) is not None


def tell_crash(command: list[str], status: int) -> int:
    """The status, after a sentence about a crash."""
    if crashed(status):
        number = signal.Signals(status - 128)
        name = os.path.basename(command[0])
        is_kept = not os.path.basename(os.path.dirname(command[0])).startswith(PREFIX)
        debug = (
            f"compile the program with -g, and type: cudasim run gdb ./{name}"
            if is_kept
            else f'activate this shell with eval "$(cudasim activate)", compile the program with nvcc -g -o {name}, and type: gdb ./{name}'
        )
        print(
            f"cudasim: {name} ended with the signal {number.name} ({signal.strsignal(number)}). A fault in a kernel is reported above and never ends the "
            f"process, so this happened in host code. To find the place, {debug}",
            file=sys.stderr,
        )
    return status


def crashed(status: int) -> bool:
    return status > 128 and status - 128 in CRASHES
