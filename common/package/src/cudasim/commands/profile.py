"""Runs a program, and prints for each kernel what it executed: instructions, memory transactions, bank conflicts, divergence.

    cudasim profile prog.cu arguments…                compiles prog.cu, and prints a table for each kernel
    cudasim profile -o numbers.json ./prog            also writes the numbers to a file of JSON
    cudasim profile -o numbers.csv ./prog             writes them in the form of ncu --csv

The simulator counts; it does not predict the time that a GPU would take.
"""

from __future__ import annotations

import pathlib

from cudasim.commands.program import own_options, ready, tell_crash
from cudasim.problem import Problem
from cudasim.running import start

OPTIONS = {"-o": "a file that ends in .json or .csv", "--output": "a file that ends in .json or .csv"}


def main(words: list[str]) -> int:
    options, words = own_options(words, OPTIONS)
    file = options.get("-o") or options.get("--output") or ""
    if file and not file.endswith((".json", ".csv")):
        raise Problem(f"the name {file} must end in .json or in .csv")
    if file and not pathlib.Path(file).absolute().parent.is_dir():
        raise Problem(f"there is no folder {pathlib.Path(file).parent}")
    with ready(words) as command:
        return tell_crash(command, start(command, {"CUDASIM_PROFILE": str(pathlib.Path(file).absolute()) if file else "1"}))
