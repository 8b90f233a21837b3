"""What came of programs that run under a tool such as valgrind."""

from course import possible


def why_not(lesson):
    """Why a lesson's program and check are not run under a tool; nothing if they are."""
    return "its program is Python" if lesson.is_python else possible.why_not(lesson, for_check=True)


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
