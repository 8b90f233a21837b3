# Three bugs that PyTorch's allocator and its asynchronous launches hide, each with what makes it visible and with its repair.
import os
import pathlib
import re
import shutil
import subprocess
import sys

import torch

from common.built import built

FAULTS = str(pathlib.Path(__file__).resolve().with_name("faults.py"))
SEES_A_GPU = torch.cuda.is_available()
# The checker is a tool of the CUDA toolkit; the simulated GPU checks every access itself. The padding keeps allocations apart: otherwise, the
# address past the end of one allocation may be the first address of the next, and an access to it is not an error.
CHECKER = ["compute-sanitizer", "--tool", "memcheck", "--padding", "64"] if shutil.which("compute-sanitizer") else []
OURS, PYTORCH = "ours", "pytorch"


def run(*words: str, checker: bool = False, **variables: str) -> tuple[str, str]:
    """What the faulty program prints (nothing if it fails), and everything that was reported about it."""
    command = [*(CHECKER if checker else []), sys.executable, FAULTS, *words]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    printed = [line for line in ended.stdout.splitlines() if not line.startswith("=========")]
    return (printed[-1] if printed and ended.returncode == 0 else ""), ended.stdout + ended.stderr


def row(name: str, *cells: str) -> None:
    print(" | ".join([f"{name:33}", *cells]), flush=True)


def bounds(name: str, *words: str, **variables: str) -> bool:
    """Whether the checker reports the fault. The program runs without it first, and then with it."""
    neighbor, _ = run("bounds", *words, **variables)
    _, report = run("bounds", *words, checker=True, **variables)
    place = re.search(r"kernels\.cu:\d+", report)
    row(name, f"{neighbor or 'the program fails':17}", place[0] if place else "nothing")
    return bool(place)


def main() -> int:
    skipped = [] if SEES_A_GPU else ["skipped: PyTorch sees no GPU here"]

    row("a write past the end", f"{'the next tensor':17}", "the checker reports")
    hidden = bounds("our allocator, caching", OURS, "caching")
    found = bounds("our allocator, not caching", OURS)
    if SEES_A_GPU:
        hidden |= bounds("PyTorch, caching", PYTORCH, "caching")
        found &= bounds("PyTorch, not caching", PYTORCH, "caching", PYTORCH_NO_CUDA_MEMORY_CACHING="1")
    else:
        row("PyTorch", *skipped)
    right = found and not hidden

    print()
    row("an index outside the table", "the call that reports it")
    whose = PYTORCH if SEES_A_GPU else OURS
    later, report = run("index", whose)
    row("assert", later)
    first, _ = run("index", whose, CUDA_LAUNCH_BLOCKING="1")
    row("assert, launches blocking", first)
    place = re.search(r"kernels\.cu:\d+: .*(thread: .*)", report)
    row("the kernel prints", place[1] if place else "nothing")
    if SEES_A_GPU and pathlib.Path(built(__file__, "dsa.so")).exists():
        row("CUDA_KERNEL_ASSERT2", run("index", PYTORCH, "dsa", PYTORCH_USE_CUDA_DSA="1")[0])
    else:
        row("CUDA_KERNEL_ASSERT2", *skipped or ["skipped: it was not built, see lesson 05-04"])
    right &= later.startswith("cuCtxSynchronize") and first.startswith("cuLaunchKernel") and place is not None

    print()
    row("freed while a stream reads it", "2 x for x = 1")
    for whose, name, repair in (OURS, "our allocator", "free after waiting"), (PYTORCH, "PyTorch", "record_stream"):
        if whose == PYTORCH and not SEES_A_GPU:
            row(name, *skipped)
            continue
        wrong, _ = run("lifetime", whose)
        row(name, wrong)
        repaired, _ = run("lifetime", whose, "repaired")
        row(f"{name}, {repair}", repaired)
        right &= wrong == "100" and repaired == "2"
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
