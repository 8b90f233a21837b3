"""A plug-in for pytest: the fixture `cudasim` and the marker of the same name run a test's CUDA code on the simulated GPU with its checks.

def test_saxpy(cudasim):                      compiles and runs a program; a finding, or a status other than 0, fails the test
    assert "sum = 30" in cudasim.run("saxpy.cu", "test_saxpy.cu", arguments=["10"]).output

@pytest.mark.cudasim                          Python code that calls CUDA: the test runs in a process of its own, on the simulator
def test_add(): ...
"""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
import pathlib
import pickle
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

import cudasim as package
from cudasim import compiling, places, running
from cudasim.problem import DoesNotCompile, Problem

MARKER = "cudasim(checks='memory,race,init,sync', timeout=300): run the test in a process of its own, on the simulated GPU with these checks"
LIMIT = 300.0  # seconds


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


# ---- The fixture


class Simulator:
    """Runs programs for one test. Names of files are looked for beside the test, and then in the folder in which pytest was started."""

    def __init__(self, folder: pathlib.Path, programs: pathlib.Path, built: dict[tuple[str, ...], pathlib.Path]):
        self._folder, self._programs, self._built = folder, programs, built

    def path(self, name: str | os.PathLike[str]) -> str:
        for path in (self._folder / name, pathlib.Path(name)):
            if path.exists():
                return str(path.absolute())
        raise Problem(f"there is no file {name}, neither in {self._folder} nor in {pathlib.Path.cwd()}")

    def compile(self, *sources: str | os.PathLike[str], options: Sequence[str] = ()) -> pathlib.Path:
        """The program that nvcc makes of these sources, in the folder of the test. It is compiled once, however many tests need it."""
        words = [*options, f"-I{self._folder}", *map(self.path, sources)]
        program = self._built.get(tuple(words))
        if program is None:
            program = self._programs / f"{pathlib.Path(sources[-1]).stem}-{len(self._built)}"
            compiling.compile(words, program, quiet=True)
            self._built[tuple(words)] = program
        return program

    def run(
        self,
        *sources: str | os.PathLike[str],
        arguments: Sequence[str] = (),
        options: Sequence[str] = (),
        checks: str = "all",
        timeout: float = LIMIT,
        fails: bool = True,
        extra: Mapping[str, str] | None = None,
    ) -> running.Result:
        """Compiles sources, or takes a program that is compiled, and runs it. The test fails if something is found, or if the status is not 0;
        with fails=False, the result says so."""
        __tracebackhide__ = True
        with as_failures():
            is_source = pathlib.Path(sources[0]).suffix in compiling.SOURCES
            command = [self.compile(*sources, options=options)] if is_source else [self.path(sources[0]), *(os.fspath(each) for each in sources[1:])]
            result = running.run([*command, *arguments], checks=checks, timeout=timeout, extra=extra)
        if fails and not result.is_clean:
            pytest.fail(described(result, timeout), pytrace=False)
        return result

    def verify(self, file: str | os.PathLike[str], *names: str) -> None:
        """Compares the kernels that a file declares, or those with these names, with their references, as `cudasim verify` does."""
        __tracebackhide__ = True
        with as_failures():
            from cudasim.verify import load, verify

            kernels = load(pathlib.Path(self.path(file)))
            if wrong := set(names) - {kernel.name for kernel in kernels}:
                raise Problem(f"{file} declares no kernel {sorted(wrong)[0]}")
            reports = [verify(kernel) for kernel in kernels if not names or kernel.name in names]
        if bad := [str(report) for report in reports if not report.is_clean]:
            pytest.fail("\n".join(bad), pytrace=False)


@contextlib.contextmanager
def as_failures() -> Iterator[None]:
    """What is not possible fails the test with its sentence."""
    __tracebackhide__ = True
    try:
        yield
        return
    except DoesNotCompile as why:
        sentence = f"{why}\n{why.errors}"
    except Problem as why:
        sentence = str(why)
    except ModuleNotFoundError as missing:
        sentence = f"cudasim verify needs {missing.name}. Type: pip install {missing.name}"
    raise pytest.fail.Exception(sentence, pytrace=False) from None


def reported(count: int, errors: str) -> str:
    return f"the simulated GPU reports {count} finding{'s' if count > 1 else ''}:\n{errors.strip()}"


def described(result: running.Result, timeout: float) -> str:
    if result.findings:
        return reported(len(result.findings), result.errors)
    how = f"did not end within {timeout:g} seconds" if result.status == running.TIMED_OUT else f"ended with status {result.status}"
    return f"{pathlib.Path(result.command[0]).name} {how}:\n{(result.output + result.errors).strip() or '(it printed nothing)'}"


@pytest.fixture(scope="session")
def cudasim_programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, dict[tuple[str, ...], pathlib.Path]]:
    """Where the programs of this session are, and which there are."""
    return tmp_path_factory.mktemp("cudasim"), {}


@pytest.fixture
def cudasim(request: pytest.FixtureRequest, cudasim_programs: tuple[pathlib.Path, dict[tuple[str, ...], pathlib.Path]]) -> Iterator[Simulator]:
    yield Simulator(request.path.parent, *cudasim_programs)


# ---- The marker


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    marker = pyfuncitem.get_closest_marker("cudasim")
    if marker is None:
        return None
    __tracebackhide__ = True
    try:
        checks, timeout = settings(*marker.args, **marker.kwargs)
    except TypeError as problem:
        pytest.fail(f"the marker cudasim: {problem}", pytrace=False)
    if loaded := driver_in_process():
        pytest.fail(
            f"this process has already loaded the driver {loaded}, so a test in it cannot use the simulated GPU. Call CUDA in tests with the "
            "marker cudasim only, and not while modules are imported",
            pytrace=False,
        )
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    in_own_process(pyfuncitem.obj, arguments, checks, timeout)
    return True


def settings(checks: str = "memory,race,init,sync", timeout: float = LIMIT) -> tuple[str, float]:
    """What the marker takes. Leaks are not looked for: Python packages keep their modules and contexts until the process ends."""
    return checks, timeout


def driver_in_process() -> str:
    maps = pathlib.Path("/proc/self/maps").read_text(errors="replace")
    return next((line.split()[-1] for line in maps.splitlines() if "/libcuda.so" in line), "")


def in_own_process(function: Any, arguments: dict[str, Any], checks: str, timeout: float) -> None:
    """Calls a test function in a fork of this process, and fails, skips or passes as it does there. A finding fails it, too."""
    __tracebackhide__ = True
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as errors:
        libraries = places.libraries()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.dup2(errors.fileno(), 2)
            outcome = outcome_of(function, arguments, checks, libraries)
            sys.stdout.flush()
            sys.stderr.flush()
            with open(writer, "wb") as pipe:
                pickle.dump(outcome, pipe)
            os._exit(0)
        os.close(writer)
        kind, text = received(reader, child, timeout)
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    found = package.findings(said)
    if found:
        text = reported(len(found), said) + (f"\n\n{text}" if kind == "failed" else "")
        pytest.fail(text, pytrace=False)
    sys.stderr.write(said)
    if kind == "skipped":
        pytest.skip(text)
    if kind == "xfailed":
        pytest.xfail(text)
    if kind == "failed":
        pytest.fail(text, pytrace=False)


def outcome_of(function: Any, arguments: dict[str, Any], checks: str, libraries: list[pathlib.Path]) -> tuple[str, str]:
    """In the fork: the simulator becomes the driver of this process, and of those that it starts."""
    try:
        path = ":".join([*map(str, libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        os.environ.update(LD_LIBRARY_PATH=path, CUDASIM_CHECK=checks, TRITON_LIBCUDA_PATH=str(libraries[-1]))
        # A library that asks for libcuda.so.1 by its name gets the one that is loaded already.
        for name in ("libcuda.so.1", "libcudart.so.12", "libcudart.so.13"):
            for file in (folder / name for folder in libraries if (folder / name).exists()):
                ctypes.CDLL(str(file))
        function(**arguments)
        ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()  # so that all kernels have been checked; without a context, it does nothing
    except pytest.skip.Exception as why:
        return "skipped", str(why)
    except pytest.xfail.Exception as why:
        return "xfailed", str(why)
    except BaseException as problem:
        shown = traceback.format_exception(type(problem), problem, problem.__traceback__.tb_next if problem.__traceback__ else None)
        return "failed", "".join(shown).strip()
    return "passed", ""


def received(reader: int, child: int, timeout: float) -> tuple[str, str]:
    data, until = b"", time.monotonic() + timeout
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            return "failed", f"the test did not end within {timeout:g} seconds"
        if not (chunk := os.read(reader, 1 << 20)):
            break
        data += chunk
    os.close(reader)
    _, status = os.waitpid(child, 0)
    if data:
        kind, text = pickle.loads(data)
        return kind, text
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        return "failed", f"the test crashed: {number.name} ({signal.strsignal(number)})"
    return "failed", f"the test ended its process with status {os.WEXITSTATUS(status)}"
