"""Lessons' programs under a tool such as valgrind: how one is run, and what came of them all."""

import subprocess
import tempfile

from course import possible
from course.lessons import is_python
from course.process import how_it_ended, run_limited

LIMIT = 300  # seconds for one program; valgrind takes up to a hundred times as long as the program alone


def why_not(lesson):
    """Why a lesson's program and check are not run under a tool; nothing if they are."""
    return "its program is Python" if is_python(lesson) else possible.why_not(lesson, for_check=True)


def run(command, environment, stderr=subprocess.STDOUT):
    """How a program ended, in a folder of its own; None if it did not end within LIMIT."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            return run_limited(command, LIMIT, cwd=empty, env=environment, stdout=subprocess.PIPE, stderr=stderr)
        except subprocess.TimeoutExpired:
            return None


def how(ended, last):
    """How a program that failed ended, and the last lines that it wrote."""
    return [how_it_ended(ended.returncode)] + (ended.stdout + (ended.stderr or "")).strip().splitlines()[-last:]


class Tally:
    """Passed, failed and skipped. Failures are printed at once, skips at the end."""

    def __init__(self, skipped):
        """skipped: {name: reason}, a reason may be empty: it is not."""
        self.passed = self.failed = 0
        self.skipped = [(name, why) for name, why in skipped.items() if why]

    def fail(self, name, lines):
        self.failed += 1
        print(f"FAILED: {name}\n" + "\n".join("        " + line for line in lines), flush=True)

    def skip(self, name, why):
        self.skipped.append((name, why))

    def close(self, what):
        """The last line; 0, or 1 if anything failed."""
        for name, why in self.skipped:
            print(f"skipped: {name}: {why}")
        print(f"{self.passed} passed, {self.failed} failed, {len(self.skipped)} skipped: {what}")
        return 1 if self.failed else 0
