"""The C++ compiler, which a person must install, and the folders that it writes to."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

from course import ROOT, fetch
from course.fetch import Refused, output, say


def compiler_asked() -> str:
    return os.environ.get("CXX", "").strip() or "g++"


def check_temporary_folder() -> None:
    """A compiler that cannot write its temporary files names neither the folder nor the reason."""
    folder = pathlib.Path(os.environ.get("TMPDIR") or "/tmp")
    probe = folder / f"cuda-from-the-driver-up.{os.getpid()}"
    try:
        probe.write_bytes(bytes(65536))
    except OSError as problem:
        why = f"{problem.strerror}, with {fetch.free_megabytes(folder)} MB free" if folder.is_dir() else "there is no such folder"
        advice = "To use another folder, type: make … TMPDIR=/another/folder"
        raise Refused(f"The compilers cannot write their temporary files to {folder}: {why}. {advice}") from None
    finally:
        if probe.exists():
            probe.unlink()


def check_build_folder() -> None:
    """Before anything is fetched: can what is built be kept here, and started?"""
    probe = ROOT / "build" / f"probe.{os.getpid()}"
    try:
        probe.parent.mkdir(exist_ok=True)
        probe.touch(mode=0o755)
    except OSError as problem:
        advice = "Change its owner, or copy the course to a folder of your own."
        raise Refused(f"Cannot write to the folder {probe.parent}: {problem.strerror}. {advice}") from None
    starts = os.access(probe, os.X_OK)
    probe.unlink()
    if not starts:
        raise Refused(f"No program can be started in {probe.parent}: its file system is mounted noexec. Move the course to another file system.")


def shares_library(compiler: str) -> bool:
    """Without a shared libstdc++, a compiler puts a copy into every library. Two in one process, PyTorch's and ours, crash."""
    return output(*compiler.split(), "-print-file-name=libstdc++.so").startswith("/")


def find_compiler(compiler: str) -> dict[str, str]:
    others = [path for path in map(shutil.which, ("g++", "clang++")) if path]
    version = output(*compiler.split(), "--version")
    if not version:
        advice = "sudo apt-get install g++   (or name the one you have: make CXX=clang++ …)"
        advice = f"make CXX={os.path.basename(others[0])} … (which is installed), or install {compiler.split()[0]}" if others else advice
        raise Refused(f"There is no C++ compiler called {compiler.split()[0]}. Type: {advice}")
    small = '#include <concepts>\n#include <string>\nstd::integral auto one(std::string) { return 1; }\nint main() { return one(""); }\n'
    ran = subprocess.run([*compiler.split(), *"-std=c++20 -x c++ - -o /dev/null".split()], input=small, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        why = next((line for line in ran.stderr.splitlines() if "error" in line.lower()), "it gives no reason")
        raise Refused(f"{compiler} does not compile a small C++20 program: {why}. Type: sudo apt-get install g++   (11 or newer)")
    instead = "" if shares_library(compiler) else next(filter(shares_library, others), "")
    if instead:
        say(f"Note: {compiler} has no shared libstdc++, which a library for PyTorch needs: {instead} is used instead.")
        version = output(instead, "--version")
    return {"COMPILER": version.splitlines()[0], "CXX_INSTEAD": instead}
