"""What the trainer wants done in a process of its own: it prepares a lesson, runs its program, or judges the exercise.

    python3 -m course work prepare|run|judge LESSON     prints one object of JSON: a Ran, or a Verdict

`prepare` builds the lesson's program and the parts of its check that no answer changes. `run` runs the program. `judge` builds the exercise
and stops at the first test case that fails.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

from course import ROOT, build, possible, text, verdict
from course.cases import ANY
from course.complaints import shortened, without_make
from course.device import choose_device
from course.job import Ran
from course.lessons import Lesson, named
from course.process import how_it_ended, run_limited
from course.verdict import How, Kind, Verdict

RUN_LIMIT = 120  # seconds for a lesson's program
LINES = 200  # of a program's output that are kept


def prepare(lesson: Lesson) -> Ran:
    """Builds in advance; whether the exercise itself compiles does not matter here."""
    if reason := possible.why_not(lesson):
        return Ran("skipped", why=reason)
    targets = build.program_targets(lesson)
    if not possible.why_not(lesson, for_check=True):
        targets = targets + lesson.exercise.targets
    build.call(["-k", "wanted", f"WANTED={' '.join(targets)}", "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Ran("prepared")


def run(lesson: Lesson) -> Ran:
    if reason := possible.why_not(lesson):
        return Ran("skipped", why=reason)
    built = build.call(["wanted", f"WANTED={' '.join(build.program_targets(lesson))}", "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if built.returncode != 0:
        return Ran("does not compile", said=shortened(without_make(built.stderr), 12))
    device = choose_device()
    try:
        ended = run_limited(lesson.program(), RUN_LIMIT, env=device.environment_for(lesson), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        how, printed = "" if ended.returncode == 0 else how_it_ended(ended.returncode), ended.stdout + ended.stderr
    except subprocess.TimeoutExpired as stopped:
        how, printed = f"did not end within {RUN_LIMIT} seconds and was stopped", (stopped.stdout or b"").decode(errors="replace")
    section = dict(text.sections(lesson.text)).get("Run", "") if device.kind == "simulator" else ""
    return Ran("ran", output=tuple(printed.splitlines()[:LINES]), how=how, recorded=tuple(text.recorded(section)))


def judge(lesson: Lesson) -> Verdict:
    if wrong := verdict.obstacle(lesson.exercise):
        return wrong
    os.environ.setdefault("CUDASIM_BUDGET", verdict.BUDGET)
    device = choose_device()
    how = How(device, verdict.limit_for(lesson, device), until=ANY)
    # On a GPU, the driver starts while the compiler works; not where a check compares the memory that is free before and after.
    with contextlib.nullcontext() if lesson.check_looks_at_free_memory else device.held():
        return verdict.judge(lesson.exercise, how, lambda: build_exercise(lesson))


def build_exercise(lesson: Lesson) -> str | None:
    """Builds what an edit changes; what compilers complain of, or None."""
    as_it_is = ["-o", build.SIMULATOR] if (ROOT / build.SIMULATOR).exists() else []  # it was built when the trainer began
    targets = f"WANTED={' '.join(lesson.exercise.targets)}"
    built = build.call([*as_it_is, "wanted", targets, "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if built.returncode == 0:
        return None
    return without_make(built.stderr) or "make ended with an error and said nothing"


def main(words: list[str]) -> int:
    does: dict[str, Callable[[Lesson], Ran | Verdict]] = {"prepare": prepare, "run": run, "judge": judge}
    if len(words) != 2 or words[0] not in does:
        sys.exit("python3 -m course work prepare|run|judge LESSON")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the learner's program is stopped on the way out
    (lesson,) = named(words[1:])
    told: Ran | Verdict
    try:
        told = does[words[0]](lesson)
    except SystemExit as refused:  # a sentence about the device
        if not isinstance(refused.code, str):
            raise
        told = Verdict(Kind.REFUSED, refused.code) if words[0] == "judge" else Ran("refused", why=refused.code)
    json.dump(dataclasses.asdict(told), sys.stdout)
    return 0
