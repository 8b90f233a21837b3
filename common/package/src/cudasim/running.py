"""Runs compiled programs on the simulator, and collects what its checks find."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cudasim import compiling, elf, places
from cudasim.closed import why_not
from cudasim.findings import Finding, findings
from cudasim.problem import Problem

TIMED_OUT = 124  # the status that the command `timeout` gives
PATIENCE = 2  # seconds


@dataclasses.dataclass(frozen=True)
class Result:
    """How a program ended. `status` is what a shell shows: 128 + the number of a signal that ended it, and 124 if its time was over."""

    command: list[str]  # as it was given: a program and its arguments, or sources and theirs
    status: int
    findings: list[Finding]
    output: str  # what it wrote on stdout and stderr, if that was captured
    errors: str
    seconds: float

    @property
    def is_clean(self) -> bool:
        return self.status == 0 and not self.findings

    def as_json(self) -> dict[str, object]:
        return {
            "cudasim": places.version(),
            "command": self.command,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "findings": [finding.as_json() for finding in self.findings],
        }


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables with which a program runs on the simulator."""
    path = ":".join([*map(str, places.libraries()), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    return {**os.environ, "LD_LIBRARY_PATH": path, **(extra or {})}


def explain(program: str) -> None:
    """Raises a Problem if this program cannot work on the simulator."""
    found = elf.read(program)
    if found is None:
        return  # a script, for example
    if found.machine != platform.machine():
        raise Problem(f"{program} is a program for {found.machine}, but this machine is {platform.machine()}. Compile it here: cudasim prog.cu")
    for library in found.libraries:
        if why := why_not(program, library):
            raise Problem(why)
    if ".nv_fatbin" in found.sections and not any(library.startswith("libcudart.so") for library in found.libraries):
        data = pathlib.Path(program).read_bytes()
        if b"cudaGetExportTable" in data or b"libcudart" in data:
            raise Problem(f"{program} contains NVIDIA's runtime, which needs NVIDIA's driver. Link it again with: nvcc -cudart shared")


def located(program: str) -> str:
    """The path of a program, which is in this folder or on the PATH."""
    if "/" not in program and os.access(program, os.X_OK) and pathlib.Path(program).is_file():
        return f"./{program}"
    if found := shutil.which(program):
        return found
    raise Problem(f"there is no program {program}" if not os.path.exists(program) else f"{program} cannot be executed")


def startable(command: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The words of a command whose program was found, and can work on the simulator."""
    program = located(os.fspath(command[0]))
    explain(program)
    return [program, *(os.fspath(word) for word in command[1:])]


def start(command: Sequence[str | os.PathLike[str]], extra: Mapping[str, str] | None = None) -> int:
    """Runs a compiled program as if the user had started it, and returns its status."""
    words = startable(command)
    try:
        return as_shell(subprocess.run(words, env=environment(extra), check=False).returncode)
    except OSError as why:
        raise Problem(f"{words[0]} cannot be started: {why.strerror}") from None


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    checks: str = "all",
    extra: Mapping[str, str] | None = None,
    timeout: float | None = None,
    show: bool = False,
    cwd: str | os.PathLike[str] | None = None,
) -> Result:
    """Runs a compiled program with the simulator's checks. `checks` is a value of CUDASIM_CHECK, and `extra` sets further variables. With `show`, the
    program reads the user's input, and its output is also shown as it comes."""
    words = startable(command)
    variables = environment({**({"CUDASIM_CHECK": checks} if checks else {}), **(extra or {})})
    begun = time.monotonic()
    try:
        running = subprocess.Popen(
            words,
            env=variables,
            cwd=cwd,
            stdin=None if show else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=not show,
        )
    except OSError as why:
        raise Problem(f"{words[0]} cannot be started: {why.strerror}") from None
    output, errors, is_over = _collect(running, timeout, show)
    status = TIMED_OUT if is_over else as_shell(running.returncode)
    return Result([os.fspath(word) for word in command], status, findings(errors), output, errors, time.monotonic() - begun)


def run_source(options: Sequence[str | os.PathLike[str]], arguments: Sequence[str] = (), *, quiet: bool = True, **how: Any) -> Result:
    """Compiles sources, the words of an nvcc command, and runs the program; `how` is passed on to run(). With `quiet`, DoesNotCompile has nvcc's errors."""
    with tempfile.TemporaryDirectory(prefix="cudasim-") as folder:
        program = pathlib.Path(folder, pathlib.Path(options[-1]).stem)
        compiling.compile(options, program, quiet=quiet)
        return dataclasses.replace(run([program, *arguments], **how), command=[*(os.fspath(word) for word in options), *arguments])


def as_shell(status: int) -> int:
    """The status of a program that a signal ended, as a shell reports it."""
    return status if status >= 0 else 128 - status


def _collect(running: subprocess.Popen[bytes], timeout: float | None, show: bool) -> tuple[str, str, bool]:
    """What a program writes on stdout and stderr, and whether its time was over."""
    kept: tuple[list[bytes], list[bytes]] = ([], [])

    def read(stream: Any, chunks: list[bytes], shown: Any) -> None:
        for chunk in iter(lambda: stream.read1(65536), b""):
            chunks.append(chunk)
            if show:
                shown.buffer.write(chunk)
                shown.flush()

    readers = [
        threading.Thread(target=read, args=(stream, chunks, shown), daemon=True)
        for stream, chunks, shown in zip((running.stdout, running.stderr), kept, (sys.stdout, sys.stderr))
    ]
    for reader in readers:
        reader.start()
    is_over = False
    try:
        running.wait(timeout)
    except subprocess.TimeoutExpired:
        is_over = True
    finally:  # also when the user interrupts
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL) if not show else running.kill()
            running.wait()
    for reader in readers:
        reader.join(PATIENCE)  # a process that the program has left behind may keep the pipe open
    output, errors = (b"".join(chunks).decode("utf-8", "replace") for chunks in kept)
    return output, errors, is_over
