"""What make test counts: passed, failed and skipped, in all and in each group, and how long a group takes."""

from __future__ import annotations

import sys
import time

from course.lessons import Lesson

LONGEST = 100  # lines of one failure that are printed


class Count:
    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0
        self.at_start, self.begun = (0, 0, 0), time.monotonic()
        self.notes: list[str] = []
        self.edited: dict[Lesson, list[str]] = {}  # its program's files that were edited

    def note(self, name: str, failure: object = None, skipped: str | None = None) -> None:
        """What came of one proof. What passes is only counted."""
        if failure:
            self.fail(name, failure)
        elif skipped:
            self.skip(name, skipped)
        else:
            self.passed += 1

    def fail(self, name: str, why: object) -> None:
        self.failed += 1
        told = str(why).splitlines()
        if len(told) > LONGEST:
            told[LONGEST:] = [f"… and {len(told) - LONGEST} more lines"]
        self.notes.append(f"FAILED: {name}\n" + "\n".join("        " + line for line in told))

    def skip(self, name: str, why: str) -> None:
        self.skipped += 1
        self.notes.append(f"skipped: {name}: {why}")

    def group(self, name: str, seconds: float | None = None) -> None:
        """Prints the line of the group that has just ended. `seconds`: how long it took, if it did not begin when the last one ended."""
        now = (self.passed, self.failed, self.skipped)
        passed, failed, skipped = (after - before for after, before in zip(now, self.at_start))
        more = (f", {failed} failed" if failed else "") + (f", {skipped} skipped" if skipped else "")
        spent = time.monotonic() - self.begun if seconds is None else seconds
        if passed or failed or skipped:
            print(f"{name:<50} {spent:5.1f} s {passed:5} passed{more}")
        for note in self.notes + self.about_edited():
            print("  " + note)
        sys.stdout.flush()
        self.at_start, self.notes, self.begun = now, [], time.monotonic()

    def about_edited(self) -> list[str]:
        """One sentence for each lesson whose program is edited here, and which is among what has failed."""
        failed = "\n".join(note for note in self.notes if note.startswith("FAILED: "))
        return [
            f"Note: {' and '.join(files)} of {lesson} {'is' if len(files) == 1 else 'are'} edited here, and the lesson's text is about the committed program: "
            f"that may be all that failed. git diff {lesson} shows the edit, git checkout {' '.join(f'{lesson}/{file}' for file in files)} takes it back."
            for lesson, files in self.edited.items()
            if lesson.name in failed
        ]
