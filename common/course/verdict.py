"""The verdict on an answer: one object, made by one function. make check, make learn, make grade and make test show it, each in its way."""

from __future__ import annotations

import dataclasses
import enum
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course import ROOT, cases, faults, possible
from course.cases import ANY, Case
from course.complaints import condensed, first_error, missing_c_linkage, syntax_error
from course.device import Device
from course.lessons import Answer, Lesson
from course.places import Place, conflict_in, place, place_in, place_of_called
from course.process import run_limited

LIMIT = 20  # seconds for one exercise: a person is waiting
LONGER = 120  # if PyTorch has to be imported first
ON_GPU = 60  # creating a context takes the driver up to a second, and much longer where others use the GPU, too
BUDGET = "200000000"  # instructions, a few seconds' worth: then the simulator stops an endless kernel and names its line


class Kind(str, enum.Enum):
    SOLVED = "solved"
    FAILED = "failed"  # a test case fails
    COMPILE = "does not compile"
    MISSING = "missing"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    CONFLICT = "conflict"  # it contains a merge conflict
    SKIPPED = "skipped"  # it cannot be judged on this machine
    STOPPED = "stopped"  # it used more than it may
    FORGED = "forged"  # it has written a report of its own
    REFUSED = "refused"  # there is no such device
    BROKEN = "broken"  # the judge itself ended with an error


# What a kind means, where that is a sentence.
SENTENCES = {
    Kind.MISSING: "{file} is missing.",
    Kind.EMPTY: "{file} is empty.",
    Kind.UNREADABLE: "{file} could not be read: {why}.",
    Kind.CONFLICT: "{file}:{line} begins a merge conflict: git pull changed lines that you had changed, too.",
    Kind.SKIPPED: "The exercise cannot be judged here: {why}.",
    Kind.REFUSED: "The exercise was not judged: {why}",
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    kind: Kind
    why: str = ""  # in a few words; of a compiler, its first error
    said: str = ""  # all that a compiler said, or the judge that broke
    cases: tuple[Case, ...] = ()
    waiting: int = 0  # test cases that were not run, because an earlier one failed
    place: Place | None = None  # of the failure, in the learner's file
    device: str = ""
    build_seconds: float = 0.0
    judge_seconds: float = 0.0

    @property
    def is_solved(self) -> bool:
        return self.kind == Kind.SOLVED

    @property
    def failing(self) -> list[Case]:
        return [case for case in self.cases if case.failure]

    @property
    def passed(self) -> list[str]:
        return [case.name for case in self.cases if not case.failure]

    def sentence(self, file: str) -> str:
        """What it means, if that is a sentence; otherwise nothing."""
        return SENTENCES.get(self.kind, "").format(file=file, why=self.why, line=self.place.line if self.place else 0)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(told: dict[str, Any]) -> Verdict:
        kept = {**told, "kind": Kind(told["kind"]), "cases": tuple(Case(**case) for case in told["cases"])}
        return Verdict(**{**kept, "place": Place(**told["place"]) if told["place"] else None})


@dataclasses.dataclass(frozen=True)
class How:
    """How answers are judged."""

    device: Device
    limit: int = cases.LIMIT  # seconds
    until: str = ""  # the test case with which to begin, or ANY; if it fails, the others need not be run
    run: Callable[..., Any] = run_limited  # runs a program
    run_python: Callable[..., Any] | None = None  # runs tests in Python, if not in the same way
    environment: Mapping[str, str] | None = None  # of the programs, if it is not the lesson's
    more: Sequence[Path] = ()  # files of tests in Python, besides the check's
    examine: Callable[[list[Case]], list[Case]] = lambda found: found  # looks through the test cases before their faults are looked for


def limit_for(lesson: Lesson, device: Device) -> int:
    return LONGER if lesson.is_python else ON_GPU if device.kind == "gpu" else LIMIT


def obstacle(answer: Answer) -> Verdict | None:
    """Why a file cannot be judged; None if it can."""
    try:
        content = answer.source.read_bytes()
    except FileNotFoundError:
        return Verdict(Kind.MISSING)
    except OSError as problem:
        return Verdict(Kind.UNREADABLE, problem.strerror or "")
    if not content.strip():
        return Verdict(Kind.EMPTY)
    if b"\0" in content:
        return Verdict(Kind.UNREADABLE, "it contains zero bytes, so it is not a text file")
    if number := conflict_in(content):
        return Verdict(Kind.CONFLICT, place=place(answer.source, number))
    reason = possible.why_not(answer.lesson, for_check=True)
    return Verdict(Kind.SKIPPED, reason) if reason else None


def judge(answer: Answer, how: How, build: Callable[[], str | None]) -> Verdict:
    """The verdict. `build` makes what is judged, unless that has been done, and returns what a compiler complains of."""
    if wrong := obstacle(answer):
        return wrong
    begun = time.monotonic()
    complaint = syntax_error(answer.source) or build()
    seconds = time.monotonic() - begun
    if complaint:
        where = place_in(complaint, answer.source)
        return Verdict(Kind.COMPILE, first_error(complaint, answer.source), condensed(complaint, answer.source.name), place=where, build_seconds=seconds)
    found = judged_cases(answer, how)
    spent = time.monotonic() - begun - seconds
    failing = next((case for case in found if case.failure), None)
    verdict = Verdict(Kind.SOLVED, cases=tuple(found), device=how.device.name, build_seconds=seconds, judge_seconds=spent)
    if not failing:
        return verdict
    where = place_in(failing.failure or "", answer.source) or place_of_called(answer, failing.name)
    waiting = set(names_of(answer, how)) - {case.name for case in found} if how.until == ANY else ()
    return dataclasses.replace(verdict, kind=Kind.FAILED, why=failing.name, place=where, waiting=len(waiting))


def judged_cases(answer: Answer, how: How) -> list[Case]:
    """The test cases of the check. A kernel's results may be right by luck, so the simulator runs it once more, with all checks on, if it has
    passed everything. For other exercises it does so if CUDASIM_CHECK is set."""
    until = how.until if how.until != faults.CASE else ""
    if answer.lesson.is_python:
        environment = {**environment_of(answer, how), "ANSWER": str(answer.source if answer.source.suffix == ".py" else ROOT / answer.target)}
        found = cases.run_pytest(answer.lesson.check, environment, how.limit, until or None, how.more, how.run_python or how.run)
    else:
        found = cases.run_cases(ROOT / answer.target, environment_of(answer, how), limit=how.limit, until=until or None, run=how.run)
    for case in found:
        case.failure = missing_c_linkage(answer.ptx, case.failure or "") or case.failure
    found = how.examine(found)
    is_tried = answer.has_kernels or os.environ.get("CUDASIM_CHECK")
    if is_tried and not answer.lesson.is_python and how.device.kind == "simulator" and not any(case.failure for case in found):
        found.append(faults.case_of(answer, environment_of(answer, how), how.limit * 3, how.run))
    return found


def environment_of(answer: Answer, how: How) -> dict[str, str]:
    return dict(how.environment) if how.environment is not None else {**how.device.environment_for(answer.lesson), "COURSE_FRAMES": "yes"}


def names_of(answer: Answer, how: How) -> list[str]:
    """The names of all test cases of the check."""
    if answer.lesson.is_python:
        return cases.names_in_python(answer.lesson.check_files)
    return cases.case_names(ROOT / answer.target, environment_of(answer, how))
