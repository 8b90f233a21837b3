"""The suites: folders of tests/ that belong to no lesson. Most are a program in C++; pytest runs those that are Python."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import subprocess
import tempfile
import time
from collections.abc import Callable

from course import ROOT, build, cases
from course.device import Device
from course.facts import facts
from course.possible import why_no_pytest, why_no_suites
from course.process import run_limited

Proofs = list[tuple[str, object, "str | None"]]  # name, why it failed, why it was skipped
TESTS = re.compile(r"test_.*\.py|rooms\.py")  # rooms.py also runs without pytest
# What tests in Python need besides pytest, for set-up.
NEEDS = {"tools": ("tools", "book", "browser"), "style": ("style",), "package": ("package", "notebook")}
OF_TESTS = 100_000  # processes of the tests of a suite: some of them count what is in bounds of their own
LONGEST_FIRST = ("test_pages.py", "test_grading.py", "test_learn.py")
# What QUICK=1 leaves out: the book and a browser, the trainer, a class to grade, made-up machines for set-up; and suites that compile much.
LONG = ("test_pages.py", "test_learn.py", "test_grading.py", "test_plots.py", "test_setup.py", "test_environment.py")
LONG_SUITES = ("compilers", "package", "programs", "runtime")


def in_cpp() -> list[str]:
    return sorted({path.parent.name for path in (ROOT / "tests").glob("[a-z]*/*.cpp")})


def in_python() -> list[str]:
    return sorted({path.parent.name for path in (ROOT / "tests").glob("[a-z]*/*.py") if TESTS.fullmatch(path.name)})


def suites() -> list[str]:
    return sorted({*in_cpp(), *in_python()})


def python_files(suite: str) -> list[pathlib.Path]:
    """The files of tests in a suite; those that take longest come first."""
    files = sorted(path for path in (ROOT / "tests" / suite).glob("*.py") if TESTS.fullmatch(path.name))
    return sorted(files, key=lambda file: LONGEST_FIRST.index(file.name) if file.name in LONGEST_FIRST else len(LONGEST_FIRST))


def target(suite: str) -> str:
    return f"build/tests/{suite}/check"


def timed(prove: Callable[[], Proofs]) -> tuple[Proofs, float]:
    """What a group proves, and how many seconds it took."""
    begun = time.monotonic()
    return prove(), time.monotonic() - begun


def run_python(place: pathlib.Path) -> Proofs:
    """The tests of a file, or of a folder, that pytest runs."""
    if reason := why_no_pytest():
        return [(str(place.relative_to(ROOT)), None, reason)]
    environment = {**build.as_typed(), "PYTHONPATH": os.pathsep.join([str(ROOT / "common"), str(ROOT)]), "TMPDIR": executable_place()}
    found = cases.run_pytest(place, environment, cases.SUITE_LIMIT, run=functools.partial(run_limited, tasks=OF_TESTS))
    return [(case.name, case.failure, case.skipped) for case in found]


def run_cpp(suite: str, built: build.Build, device: Device) -> Proofs:
    if reason := why_no_suites():
        return [(f"tests/{suite}", None, reason)]
    if target(suite) in built.failed:
        return [(f"tests/{suite}", built.complaint(target(suite)), None)]
    # The toolkit's headers, for tests of what they promise.
    environment = dict(device.environment, CUDA_INCLUDE=facts()["CUDA_INCLUDE"])
    asked = (ROOT / target(suite), environment, ROOT, cases.SUITE_LIMIT)
    found = cases.run_side_by_side(*asked, min(16, os.cpu_count() or 1)) if device.kind == "gpu" else cases.run_cases(*asked)
    return [(f"{suite}: {case.name}", case.failure, case.skipped) for case in found]


def headers() -> Proofs:
    """The headers that lessons include compile alone, in C++17, without a warning, with every compiler that is here."""
    include = facts()["CUDA_INCLUDE"]
    proofs: Proofs = []
    found = sorted(path for path in (ROOT / "common").glob("*.hpp") if path.name != "torch.hpp")  # it is parsed where it is needed
    compilers = dict.fromkeys([os.environ.get("CXX", "g++"), "g++", "clang++"])
    for compiler in [name for name in compilers if subprocess.run(["which", name.split()[0]], capture_output=True, check=False).returncode == 0]:
        for header in found:
            flags = "-std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I.".split() + (["-isystem", include] if include else [])
            source = f'#include "common/{header.name}"\n'
            ended = subprocess.run(compiler.split() + flags + ["-x", "c++", "-"], input=source, cwd=ROOT, capture_output=True, text=True, check=False)
            failed = ended.returncode != 0
            name = f"common/{header.name} compiles alone with {compiler}"
            proofs.append((name, ended.stderr if failed and include else None, facts()["WITHOUT_TOOLKIT"] if failed else None))
    return proofs


def executable_place() -> str:
    """A folder for programs that tests make up: the one for temporary files, unless it is mounted noexec, as on hardened machines."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0o700)
        if os.access(file.name, os.X_OK):
            return tempfile.gettempdir()
    place = ROOT / "build" / "temporary"
    place.mkdir(parents=True, exist_ok=True)
    return str(place)
