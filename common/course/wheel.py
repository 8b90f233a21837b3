"""make wheel: the Python package cudasim (common/package), as it is published: a wheel for each processor, and the sources.

    make wheel                   all of them, in build/wheel
    make wheel TARGET=aarch64    one wheel, or TARGET=sources

They are built in an environment of their own, to which pip fetches the compiler, zig (90 MB), and NVIDIA's headers (50 MB, because some of them are packaged with the compiler).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from course import ROOT, environment

OUT = ROOT / "build" / "wheel"
TARGETS = ("x86_64", "aarch64", "sources")


def main(words: Sequence[str] = ()) -> int:
    wanted = os.environ.get("TARGET", "").split() or TARGETS
    if unknown := set(wanted) - set(TARGETS):
        print(f"TARGET={' '.join(unknown)} is not known. It is one of: {' '.join(TARGETS)}")
        return 1
    for target in wanted:
        kind, settings = ("--sdist", {}) if target == "sources" else ("--wheel", {"CUDASIM_TARGET": target})
        command = [str(environment.ENVIRONMENT / "bin" / "python3"), "-m", "build", kind, "--outdir", str(OUT), "common/package"]
        if status := subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=False).returncode:
            return status
    for file in sorted(OUT.glob("cudasim-*")):
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB")
    return 0
