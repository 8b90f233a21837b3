"""make bench-simulator and make fuzz: the simulator's speed, and its loader fed with random PTX."""

import os
import subprocess
import sys
from collections.abc import Sequence

from course import ROOT, build
from course.facts import facts


def bench(words: Sequence[str] = ()) -> int:
    """Kernels of many kinds through the driver API and, with PoCL, a compiler for the same CPU, through OpenCL.

    With CUDASIM_CHECK, through the driver API only, with that check and without."""
    others = [] if os.environ.get("CUDASIM_CHECK") else ["build/bench/opencl", "common/bench/kernels.cl"]
    if not build.build(["build/bench/driver", "build/bench/kernels.ptx", *others[:1]]):
        return 2
    command = [sys.executable, "common/bench/compare.py", "build/bench/driver", *others]
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ, LD_LIBRARY_PATH=str(ROOT / "build/simulator")), check=False).returncode


def fuzz(words: Sequence[str] = ()) -> int:
    """The PTX loader under libFuzzer, for FUZZ_SECONDS."""
    try:
        subprocess.run(["clang++", "--version"], capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        print("skipped: make fuzz needs clang++ and its libFuzzer. On Debian and Ubuntu: apt-get install clang")
        return 0
    if build.call(["-f", "common/simulator/Makefile", "fuzz", "SANITIZE=", "CUDA_INCLUDE=" + facts()["CUDA_INCLUDE"]]).returncode:
        return 2
    return subprocess.run(["tests/fuzz/loader.sh", os.environ.get("FUZZ_SECONDS", "60")], cwd=ROOT, check=False).returncode
