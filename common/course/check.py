"""make check: judges the learner's exercises, lesson by lesson, and says in a sentence what is still wrong."""

from __future__ import annotations

import contextlib
import os
import re
import sys

from course import ROOT, build, history, verdict
from course.cases import Case
from course.device import Device, choose_device
from course.lessons import Lesson, beside, is_edited, is_learners, named
from course.possible import why_not
from course.process import RESTORE
from course.verdict import How, Kind, Verdict


def indented(text: str, by: str = "      ") -> str:
    return "\n".join(by + line for line in text.splitlines())


def without_the_place_of_a_crash(failure: str) -> str:
    """Catch2 knows only which of its lines ran before a crash, so the same crash is reported differently in each case."""
    return re.sub(r"^after .*?:\d+: ", "", failure, flags=re.MULTILINE)


def show(lesson: Lesson, found: Verdict, in_full: bool) -> None:
    """Prints the verdict on one exercise. One that was not begun gets details only if `in_full`."""
    place = lesson.exercise.source.relative_to(ROOT)
    if found.is_solved:
        print(f"{lesson}   solved", flush=True)
    elif found.kind == Kind.COMPILE:
        print(f"{lesson}   does not compile yet: {place}\n{indented(found.said)}", flush=True)
    elif sentence := found.sentence(str(place)):
        print(f"{lesson}   {sentence}", flush=True)
    elif not in_full and is_edited(lesson.exercise.source) is False:
        print(f"{lesson}   not begun: {place}", flush=True)
    else:
        print(f"{lesson}   not yet: {place}")
        alike: dict[str, list[Case]] = {}  # a failure that several cases share is printed once
        for case in found.failing:
            alike.setdefault(without_the_place_of_a_crash(case.failure or ""), []).append(case)
        for those in alike.values():
            print("\n".join(f"   - {case.name}" for case in those))
            print(indented(those[0].failure or ""), flush=True)


def judge(lesson: Lesson, built: build.Build, device: Device, in_full: bool) -> bool:
    """Judges one exercise and shows the verdict; true if it is solved."""
    answer = lesson.exercise
    found = verdict.judge(answer, How(device, verdict.limit_for(lesson, device)), lambda: built.complaint(answer.target))
    show(lesson, found, in_full)
    if found.is_solved and is_learners(answer.source):
        with contextlib.suppress(OSError):  # for make progress and make learn; a folder that cannot be written is no reason to fail
            history.note_attempt(lesson, answer.source.read_bytes(), solved=True)
    return found.is_solved


def main(words: list[str]) -> int:
    chosen = named(words)
    lessons = [lesson for lesson in chosen if lesson.exercise.source.exists()]
    for lesson in [lesson for lesson in chosen if lesson not in lessons]:
        print(f"{lesson}   has no exercise. If its file was deleted, {RESTORE}")
    if not lessons:
        return 1
    reasons = {lesson: why_not(lesson, for_check=True) for lesson in lessons}
    able = [lesson for lesson, reason in reasons.items() if not reason]
    built = build.Build([build.SIMULATOR, *(target for lesson in able for target in lesson.exercise.targets)] if able else [])
    if build.SIMULATOR in built.failed:
        sys.exit(f"The simulated GPU could not be built, so no program can be linked:\n{built.complaint(build.SIMULATOR)}")
    os.environ.setdefault("CUDASIM_BUDGET", verdict.BUDGET)
    device = choose_device()
    print(device.headline(), flush=True)
    solved = []
    for lesson in lessons:
        if reasons[lesson]:
            print(f"skipped: {lesson}: {reasons[lesson]}")
        elif judge(lesson, built, device, len(lessons) == 1):
            solved.append(lesson)
    return summary(able, solved)


def summary(able: list[Lesson], solved: list[Lesson]) -> int:
    """Prints how many are solved and what to do next; the command's status."""
    if not able:
        return 0
    print(f"\n{len(solved)} of {len(able)} exercises solved")
    if len(solved) == len(able):
        after = beside(able[-1], 1)
        print(f"Next: {after.heading}: {after}/README.md" if after else "That was the last lesson.")
        return 0
    unsolved = [lesson for lesson in able if lesson not in solved]
    if len(able) > 1:
        print(f"To see what is still missing in one of them: make check {unsolved[0]}")
    else:
        print(f"{unsolved[0]}/README.md has a folded hint below the exercise.")
    print("An unsolved exercise makes this command fail, so make reports an error.", flush=True)
    return 1
