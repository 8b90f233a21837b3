"""Compares kernels with references in NumPy or PyTorch: at the edges of their sizes, with special values, and with all checks.

    cudasim verify kernels.py                    all kernels that this file declares
    cudasim verify kernels.py saxpy              one of them
    cudasim verify --report found.json kernels.py     also writes what was found to a file of JSON
    cudasim verify --full kernels.py             also shows the simulator's reports, each once
    cudasim verify --seconds 120 kernels.py      how long one case may take; the default is 60

kernels.py declares each kernel by its reference:

    from cudasim.verify import In, InOut, Scalar, Size, kernel

    @kernel("saxpy.cu", block=256, grid="n")
    def saxpy(n: Size, a: Scalar("float32"), x: In("float32", "n"), y: InOut("float32", "n")):
        return a * x + y

The status is 0 if all cases pass, and 1 if not, or if there is nothing to run.
"""

from __future__ import annotations

import json
import pathlib

from cudasim.commands.program import own_options
from cudasim.problem import Problem

OPTIONS = {"--report": "the name of a JSON file", "--seconds": "how long one case may take"}


def main(words: list[str]) -> int:
    is_full = "--full" in words
    options, words = own_options([word for word in words if word != "--full"], OPTIONS)
    if not words:
        raise Problem("name the Python file that declares the kernels: cudasim verify kernels.py. The command cudasim verify --help shows one")
    try:
        limit = float(options.get("--seconds", 60))
    except ValueError:
        raise Problem(f"--seconds is a number, not {options['--seconds']}") from None
    try:
        from cudasim.verify import load, verify
    except ModuleNotFoundError as missing:
        raise Problem(f"cudasim verify needs {missing.name}. Type: pip install {missing.name}") from None
    kernels = load(pathlib.Path(words[0]))
    names = [kernel.name for kernel in kernels]
    if wrong := [word for word in words[1:] if word not in names]:
        raise Problem(f"{words[0]} declares no kernel {wrong[0]}. It declares: {', '.join(names)}")
    reports = []
    for kernel in kernels:
        if kernel.name in words[1:] or not words[1:]:
            reports.append(verify(kernel, limit))
            print(reports[-1].in_full() if is_full else reports[-1], flush=True)
    if file := options.get("--report"):
        try:
            pathlib.Path(file).write_text(json.dumps([report.as_json() for report in reports], indent=2) + "\n", encoding="utf-8")
        except OSError as why:
            raise Problem(f"the report cannot be written to {file}: {why.strerror}") from None
    return 0 if all(report.is_clean for report in reports) else 1
