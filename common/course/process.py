"""Runs programs that learners may have written, and says how they ended."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from course import bounds

# A program that lacks something not every machine has (NVRTC, a second device) prints one line and ends with this status.
SKIPPED = 77
LOOK = 0.1  # seconds between two looks at a program's processes
RESTORE = "`git status` names it, and `git checkout` with that name restores it."  # advice about a file that was deleted


def reason_given(printed: str) -> str:
    """The last line of a program that ended with SKIPPED: 'skipped: there is no NVRTC here'."""
    lines = printed.strip().splitlines() or ["it gave no reason"]
    return lines[-1].removeprefix("skipped: ")


def how_it_ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by signal {-status} ({signal.strsignal(-status)})"  # as a shell says it: Segmentation fault


def ending(ended: subprocess.CompletedProcess[str], last: int) -> list[str]:
    """How a program ended, and the last lines that it wrote."""
    return [how_it_ended(ended.returncode)] + (ended.stdout + (ended.stderr or "")).strip().splitlines()[-last:]


def run_limited(command: Sequence[str | os.PathLike[str]], limit: float, tasks: int | None = None, **how: Any) -> subprocess.CompletedProcess[str]:
    """subprocess.run for a learner's program: after `limit` seconds, or if it has more than `tasks` processes (bounds.OF_LEARNERS), it is stopped
    together with every process that it started."""
    bound = bounds.way_for_learners()(tasks or bounds.OF_LEARNERS)
    try:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True, preexec_fn=bound.enter, **how)
        with running:
            try:
                printed, errors = communicate(running, bound, limit)
            finally:
                bound.kill(running.pid)
    finally:
        bound.close()
    return subprocess.CompletedProcess(command, running.returncode, printed, errors)


def communicate(running: subprocess.Popen[str], bound: Any, limit: float) -> tuple[str, str | None]:
    """What the program writes. Looks now and then whether it has too many processes; it is then stopped, and its errors say so."""
    bound.process, end = running.pid, time.monotonic() + limit
    while True:
        try:
            return running.communicate(timeout=max(0, min(LOOK, end - time.monotonic())))
        except subprocess.TimeoutExpired as late:
            if bound.is_full():
                bound.kill(running.pid)
                printed, errors = running.communicate()
                told = f"It was stopped, because it ran more than {bound.tasks} processes at the same time."
                return (printed, f"{errors}\n{told}") if errors is not None else (f"{printed or ''}\n{told}", None)
            if time.monotonic() >= end:
                late.timeout = limit
                raise


def git(words: Sequence[str], folder: pathlib.Path) -> bytes | None:
    """What git prints, or None if it cannot tell: it is not installed, or this is not a repository, or the repository is another user's."""
    try:
        told = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return told.stdout if told.returncode == 0 else None
