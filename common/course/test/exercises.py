"""Proves a lesson's exercise: as it came it is rejected, the solution passes, and each wrong solution fails the test case that it names."""

from __future__ import annotations

import os
from collections.abc import Callable

from course import ROOT, faults, verdict
from course.cases import ANY
from course.lessons import Answer, Lesson, is_learners
from course.verdict import How, Kind, Verdict

Proof = tuple[str, "str | None", "str | None"]  # name, why it failed, why it was skipped


def is_begun(lesson: Lesson) -> bool:
    """A learner's unfinished answer may do anything, and is not the course's fault."""
    return "exercise" in lesson.answers and bool(is_learners(lesson.exercise.source))


def missing(lesson: Lesson) -> list[str]:
    """What an exercise lacks before anything can be proven."""
    found = [name for name in ("exercise", "solution") if name not in lesson.answers]
    if not lesson.check.exists():
        found.append(str(lesson.check.relative_to(ROOT)))
    if "Makefile" not in lesson.files:
        found.append("Makefile, a link to ../Makefile: `make check` is to work in the folder")
    if len(lesson.wrong) < 2:
        comment = "#" if lesson.is_python else "//"
        found.append(f'two wrong solutions under tests/{lesson}.wrong, which begin with {comment} Rejected with: "the name of the test case"')
    elif len({answer.rejected_with for answer in lesson.wrong}) < 2:
        found.append("second reason to reject: all wrong solutions name the same test case")
    return found


class Prover:
    """`how`: a How for a test case that is enough, or for none; `complaint`: what compilers say of an answer that was not built."""

    def __init__(self, how: Callable[[str], How], complaint: Callable[[Answer], str | None]):
        self.how, self.complaint = how, complaint

    def proofs(self, lesson: Lesson, quick: bool) -> list[Callable[[], list[Proof]]]:
        """A function for the lesson's exercise, one for its solution and one for each wrong solution, each of which returns proofs. `quick`: only
        for the solution."""
        if lacking := missing(lesson):
            return [lambda: [(f"{lesson}: exercise", "there is no " + " and no ".join(lacking), None)]]
        others = [lambda: [self.unsolved(lesson)], *(lambda answer=answer: [self.wrong(answer)] for answer in lesson.wrong)]
        return [lambda: self.solution(lesson), *([] if quick else others)]

    def judged(self, answer: Answer, until: str = "") -> Verdict:
        return verdict.judge(answer, self.how(until), lambda: self.complaint(answer))

    def unsolved(self, lesson: Lesson) -> Proof:
        name = f"{lesson}: the unsolved exercise compiles and is rejected"
        if is_begun(lesson):
            return name, None, f"{lesson.exercise.source.name} is being worked on; `make check` judges it"
        found = self.judged(lesson.exercise, ANY)
        if found.kind == Kind.FAILED:
            return name, None, None
        if not found.is_solved:
            return name, unjudged(found), None
        skipped = [case.skipped for case in found.cases if case.skipped]
        if os.environ.get("STRICT") and not skipped:
            return name, "it passes as committed", None
        return name, None, skipped[0] if skipped else "it is solved here"

    def solution(self, lesson: Lesson) -> list[Proof]:
        """The solution passes; test cases that are skipped on this machine are reported. In Python, each test counts."""
        name = f"{lesson}: the solution passes"
        assert lesson.solution
        found = self.judged(lesson.solution)
        if not found.cases:
            return [(name, unjudged(found), None)]
        skipped: list[Proof] = [(f"{lesson}: {case.name}", None, case.skipped) for case in found.cases if case.skipped and not case.failure]
        if lesson.is_python:
            return skipped + [(f"{name}: {case.name}", case.failure, None) for case in found.cases if case.failure or not case.skipped]
        return skipped + [(name, "\n".join(f"{case.name}: {case.failure}" for case in found.failing), None)]

    def wrong(self, answer: Answer) -> Proof:
        name, expected = f"{answer.lesson}: the wrong solution {answer.variant} is rejected", answer.rejected_with
        if not expected:
            return name, f'{answer.source.name} must begin with: // Rejected with: "the name of the test case"', None
        if expected == faults.CASE and self.how("").device.kind != "simulator":  # not run: on a GPU, a fence of the block may wait forever
            return name, None, "only the simulator sees what is wrong with it"
        found = self.judged(answer, expected)
        if not found.cases:
            return name, unjudged(found), None
        rejecting = next((case for case in found.cases if case.name == expected), None)
        if rejecting and (rejecting.failure or rejecting.skipped):
            return name, None, None if rejecting.failure else rejecting.skipped
        others = "\n".join(f"{case.name}: {case.failure}" for case in found.failing) or "none: it passes"
        return name, f'"{expected}" must reject it. These did:\n{others}', None


def unjudged(found: Verdict) -> str:
    """Why there are no test cases."""
    return found.said or found.sentence("its file") or found.kind
