# Three bugs that PyTorch's allocator and its asynchronous launches hide, each with what makes it visible and with its repair.
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import torch

from common.built import ROOT, built
from common.driver import cu

FAULTS = str(pathlib.Path(__file__).resolve().with_name("faults.py"))
SEES_A_GPU = torch.cuda.is_available()
OURS, PYTORCH = "ours", "pytorch"


def find_checker() -> list[str] | None:
    """The words that put a program under a checker. The simulated GPU checks every access itself, so it needs none. None: no checker was found.

    Without padding, the address past the end of one allocation may be the first address of the next, and an access to it is not an error.
    """
    device = ctypes.create_string_buffer(100)
    cu.cuDeviceGetName(device, 100, 0)
    if device.value.startswith(b"Simulated"):
        return []
    toolkits = [os.environ.get("CUDA_HOME"), str(ROOT / "build" / "toolkit")]  # the second is the one that set-up has found
    folders = [os.environ.get("PATH", ""), *(f"{toolkit}/bin" for toolkit in toolkits if toolkit)]
    tool = shutil.which("compute-sanitizer", path=os.pathsep.join(folders))
    return [tool, "--tool", "memcheck", "--padding", "64"] if tool else None


CHECKER = find_checker()


def run(*words: str, checker: bool = False, **variables: str) -> tuple[str, str]:
    """What the faulty program prints (nothing if it fails), and everything that was reported about it."""
    command = [*(CHECKER if checker and CHECKER else []), sys.executable, FAULTS, *words]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    printed = [line for line in ended.stdout.splitlines() if not line.startswith("=========")]
    return (printed[-1] if printed and ended.returncode == 0 else ""), ended.stdout + ended.stderr


def row(name: str, *cells: str) -> None:
    print(" | ".join([f"{name:33}", *cells]), flush=True)


def bounds(name: str, *words: str, **variables: str) -> bool | None:
    """Whether the checker reports the fault; None without a checker. The program runs without it first, and then with it."""
    neighbor, _ = run("bounds", *words, **variables)
    neighbor = f"{neighbor or 'the program fails':17}"
    if CHECKER is None:
        row(name, neighbor, "skipped: compute-sanitizer is neither on the PATH nor in the CUDA toolkit")
        return None
    _, report = run("bounds", *words, checker=True, **variables)
    place = re.search(r"kernels\.cu:\d+", report)
    row(name, neighbor, place[0] if place else "nothing")
    return bool(place)


def main() -> int:
    skipped = [] if SEES_A_GPU else ["skipped: PyTorch sees no GPU here"]

    row("a write past the end", f"{'the next tensor':17}", "the checker reports")
    caching = [bounds("our allocator, caching", OURS, "caching")]
    not_caching = [bounds("our allocator, not caching", OURS)]
    if SEES_A_GPU:
        caching.append(bounds("PyTorch, caching", PYTORCH, "caching"))
        not_caching.append(bounds("PyTorch, not caching", PYTORCH, "caching", PYTORCH_NO_CUDA_MEMORY_CACHING="1"))
    else:
        row("PyTorch", *skipped)
    right = True not in caching and False not in not_caching

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
        row("CUDA_KERNEL_ASSERT2", *skipped or ["skipped: it was not built, see lesson 05-05"])
    right &= later.startswith("cuCtxSynchronize") and first.startswith("cuLaunchKernel") and place is not None

    print()
    row("a temporary freed too early", "2 x for x = 1")
    for whose, name, repairs in (OURS, "our allocator", ["wait_stream"]), (PYTORCH, "PyTorch", ["wait_stream", "record_stream"]):
        if whose == PYTORCH and not SEES_A_GPU:
            row(name, *skipped)
            continue
        wrong, _ = run("lifetime", whose)
        row(name, wrong)
        right &= wrong == "100"
        for repair in repairs:
            repaired, _ = run("lifetime", whose, repair)
            row(f"{name}, {repair}", repaired)
            right &= repaired == "2"
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
