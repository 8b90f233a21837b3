"""Runs CUDA programs on a simulated GPU.

result = cudasim.run_source(["prog.cu"], ["100"])     compiles prog.cu, and runs it with all checks
result = cudasim.run(["./prog", "100"], checks="race")
result.status, result.findings, result.output, result.errors
"""

from typing import Any

from cudasim.compiling import compile
from cudasim.findings import Finding, findings
from cudasim.problem import DoesNotCompile, Problem
from cudasim.running import Result, run, run_source


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext cudasim` in a notebook calls: it adds the magics %%cuda and %%cuda_see."""
    from cudasim import notebook

    notebook.load(shell)


__all__ = ["DoesNotCompile", "Finding", "Problem", "Result", "compile", "findings", "run", "run_source"]
