"""make see 04-21: the film of a kernel, in build/see/04-21.html. It shows what each warp of one block did, step by step.

    make see 04-21               the kernels of a lesson's program
    make see 04-21 EXERCISE=1    those of the exercise and of the solution, as make check runs them
    make see PROGRAM=./a.out     those of any program; ARGS= are its arguments
    make see 04-21 ONLY="kernel=tiled block=(1,0,0) launch=2"

The simulator records (CUDASIM_FILM), and the package cudasim makes a page of it: common/package/src/cudasim/film.
"""

from __future__ import annotations

import os
import pathlib
import shlex

from course import ROOT, build
from course.device import choose_device
from course.facts import facts
from course.lessons import Lesson, named
from course.possible import why_not
from cudasim.film import CHECKS, NoFilm, fitted, labelled, record

SEEN = ROOT / "build" / "see"
# Their kernels execute so many instructions that the checks for races and uninitialized memory would take a minute.
LONG = ("matmul",)


def film(name: str, title: str, runs: list[tuple[str, list[str], dict[str, str]]], only: str = "") -> pathlib.Path:
    """Records runs, (label, command, environment) each, and writes build/see/<name>.html."""
    SEEN.mkdir(parents=True, exist_ok=True)
    recorded = [each for label, command, environment in runs for each in labelled(record(command, environment, SEEN / f"{name}.film", only), label)]
    made, told = fitted(title, recorded, ROOT, facts().get("TOOLKIT", ""))
    out = SEEN / f"{name}.html"
    out.write_text(made, encoding="utf-8")
    print(f"The film is in {out.relative_to(ROOT)} ({len(made) // 1000} KB). Open it in a browser. {told}")
    return out


# ---- The command -----------------------------------------------------------------------------------------------------------


def of_lesson(lesson: Lesson, device, only: str) -> pathlib.Path:
    if reason := why_not(lesson):
        raise NoFilm(f"{lesson} cannot run here: {reason}.")
    if not lesson.has_kernels and not lesson.is_python:
        raise NoFilm(f"{lesson} has no kernel of its own, so there is nothing to show.")
    environment = device.environment_for(lesson)
    if lesson.own_name in LONG and "CUDASIM_CHECK" not in environment:
        environment = {**environment, "CUDASIM_CHECK": "sync"}
        print(
            f"Races and reads of uninitialized memory are not checked in this lesson, because that takes a minute. To check them: CUDASIM_CHECK={CHECKS} make see {lesson.number}"
        )
    name, title = lesson.number, lesson.heading
    if os.environ.get("EXERCISE", "0") in ("", "0"):
        return film(name, title, [("", [*lesson.program(), *shlex.split(os.environ.get("ARGS", ""))], environment)], only)
    if lesson.is_python:
        raise NoFilm(f"The check of {lesson} is Python, which starts PyTorch; only C++ lessons' exercises can be shown.")
    answers = [lesson.exercise, *filter(None, [lesson.solution])]
    if not build.build([target for answer in answers for target in answer.targets], show_commands=False):
        raise NoFilm(f"{lesson}: the exercise does not compile yet. `make check {name}` shows why.")
    return film(f"{name}-exercise", f"{title}: exercise", [(answer.variant, [str(ROOT / answer.target)], environment) for answer in answers], only)


def main(words: list[str]) -> int:
    before = os.environ.get("DEVICE")
    os.environ["DEVICE"] = "simulator"
    device = choose_device()
    os.environ.update({"DEVICE": before} if before else {})
    only, wished = os.environ.get("ONLY", ""), os.environ.get("PROGRAM", "")
    try:
        if wished:
            command = [os.path.abspath(wished), *shlex.split(os.environ.get("ARGS", ""))]
            film(pathlib.Path(wished).name, pathlib.Path(wished).name, [("", command, device.environment)], only)
        for lesson in named(words):
            of_lesson(lesson, device, only)
    except NoFilm as why:
        print(why)
        return 1
    return 0
