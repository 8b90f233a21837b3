"""Work in the background of the trainer: one command of this package at a time, in a process of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO, Any

from course import ROOT
from course.lessons import Lesson
from course.verdict import Kind, Verdict


@dataclasses.dataclass(frozen=True)
class Ran:
    """What came of a lesson's program."""

    kind: str  # ran, prepared, does not compile, skipped, refused, broken
    why: str = ""  # it was skipped or refused
    said: str = ""  # by a compiler, or by the process that broke
    output: tuple[str, ...] = ()
    how: str = ""  # it ended, if not well
    recorded: tuple[str, ...] = ()  # what a GPU printed, where the text explains its figures and the simulator's are others

    @staticmethod
    def from_json(told: dict[str, Any]) -> Ran:
        return Ran(**told)


def command(*words: str) -> tuple[list[str], dict[str, str]]:
    """The words that start one of our own commands, and the environment for it. What that command starts gets the user's own PYTHONPATH."""
    own = {"USERS_PYTHONPATH": os.environ.get("PYTHONPATH", ""), "PYTHONPATH": str(ROOT / "common"), "PYTHONUTF8": "1"}
    return [sys.executable, "-B", "-m", "course", *words], {**os.environ, **own}


class Job:
    """One run of work.py, in a session of its own: the terminal's signals do not reach it, and all of it can be stopped."""

    def __init__(self, what: str, lesson: Lesson, content: bytes = b""):
        self.what, self.lesson, self.content = what, lesson, content
        self.begun, self.said = time.monotonic(), b""
        self.stopped = 0.0  # when it was told to end
        self.errors: IO[bytes] = tempfile.TemporaryFile()
        words, environment = command("work", what, lesson.name)
        self.process = subprocess.Popen(
            words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
            start_new_session=True, close_fds=False,
        )  # fmt: skip
        assert self.process.stdout
        self.output = self.process.stdout
        os.set_blocking(self.output.fileno(), False)

    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def has_ended(self) -> bool:
        """Reads what has been printed; true at its end."""
        try:
            while some := os.read(self.output.fileno(), 65536):
                self.said += some
        except BlockingIOError:
            return False
        return True

    def result(self) -> Verdict | Ran:
        """What it found out. A verdict that could not be reached is one, too."""
        self.process.wait()
        self.output.close()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip()
        self.errors.close()
        kind: type[Verdict] | type[Ran] = Verdict if self.what == "judge" else Ran
        try:
            return kind.from_json(json.loads(self.said))
        except ValueError:
            last = "\n".join(said.splitlines()[-12:])
            return Verdict(Kind.BROKEN, said=last) if self.what == "judge" else Ran("broken", said=last)

    def stop(self) -> None:
        """Ends it and all that it has started. If it is called again 3 seconds later, it does so by force."""
        is_late = bool(self.stopped) and time.monotonic() - self.stopped > 3
        if is_late or not self.stopped:
            self.stopped = self.stopped or time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL if is_late else signal.SIGTERM)
