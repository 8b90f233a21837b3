"""Runs programs that learners may have written, and says how they ended."""

import contextlib
import os
import signal
import subprocess

# A program that lacks something not every machine has (NVRTC, a second device) prints one line and ends with this status.
SKIPPED = 77
RESTORE = "`git status` names it, and `git checkout` with that name restores it."  # advice about a file that was deleted


def reason_given(printed):
    """The last line of a program that ended with SKIPPED: 'skipped: there is no NVRTC here'."""
    lines = printed.strip().splitlines() or ["it gave no reason"]
    return lines[-1].removeprefix("skipped: ")


def how_it_ended(status):
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by signal {-status} ({signal.strsignal(-status)})"  # as a shell says it: Segmentation fault


def run_limited(command, limit, **how):
    """subprocess.run for a learner's program: after `limit` seconds, it is stopped together with every process that it started."""
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True, **how)
    with running:
        try:
            printed, errors = running.communicate(timeout=limit)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, running.returncode, printed, errors)


def git(words, folder):
    """What git prints, or None if it cannot tell: it is not installed, or this is not a repository, or the repository is another user's."""
    try:
        told = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return told.stdout if told.returncode == 0 else None
