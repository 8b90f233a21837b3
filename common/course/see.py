"""make see 04-21: the film of a kernel, in build/see/04-21.html. It shows what each warp of one block did, step by step.

    make see 04-21               the kernels of a lesson's program
    make see 04-21 EXERCISE=1    those of the exercise and of the solution, as make check runs them
    make see PROGRAM=./a.out     those of any program; ARGS= are its arguments
    make see 04-21 ONLY="kernel=tiled block=(1,0,0) launch=2"

The simulator records (CUDASIM_FILM), and common/film shows it: the page needs no other file and no network.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import shlex
import subprocess
import zlib

from course import ROOT, build
from course.device import choose_device
from course.facts import facts
from course.lessons import Lesson, named
from course.possible import why_not

SEEN = ROOT / "build" / "see"
PAGE = ROOT / "common" / "film"
LARGEST = 2_000_000  # bytes of a page
STEPS = (4000, 2000, 1000, 500, 250, 100)  # of a launch: as many as fit on a page
LIMIT = 120  # seconds
CHECKS = "race,init,sync"
# Their kernels execute so many instructions that the checks for races and uninitialized memory would take a minute.
LONG = ("matmul",)


class NoFilm(Exception):
    """Why there is no film: a sentence."""


# ---- Recording -------------------------------------------------------------------------------------------------------------


def record(command: list[str], environment: dict[str, str], file: pathlib.Path, only: str) -> list[dict]:
    """The films of a program that runs on the simulator."""
    file.unlink(missing_ok=True)
    wanted = {"CUDASIM_FILM": str(file), "CUDASIM_FILM_ONLY": f"{only} limit={STEPS[0]}", "CUDASIM_CHECK": environment.get("CUDASIM_CHECK", CHECKS)}
    try:
        ran = subprocess.run(command, env={**environment, **wanted}, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise NoFilm(f"{command[0]} did not end within {LIMIT} seconds. ONLY='kernel=NAME' records less.") from None
    except OSError as problem:
        raise NoFilm(f"{command[0]} cannot be started: {problem.strerror}.") from None
    films = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    file.unlink(missing_ok=True)
    complaints = [line for line in ran.stderr.splitlines() if line.startswith("cudasim: CUDASIM_FILM")]
    if complaints:
        raise NoFilm(complaints[0].removeprefix("cudasim: ").replace("CUDASIM_FILM_ONLY", "ONLY"))
    if not films:
        why = "it ended with status " + str(ran.returncode) + " and" if ran.returncode else "it"
        raise NoFilm(f"{pathlib.Path(command[0]).name} launched no kernel to show: {why} printed: {(ran.stderr or ran.stdout).strip()[-300:] or 'nothing'}")
    return films


def shortened(film: dict, steps: int) -> dict:
    """The same film with fewer steps. What was found later belongs to the last of them."""
    cut = max(0, len(film["steps"]) - steps)
    events = [event for event in film["events"] if event[0] < steps]
    findings = [[min(at, steps - 1), *what] for at, *what in film["findings"]]
    return {**film, "steps": film["steps"][:steps], "events": events, "findings": findings, "cut": film["cut"] + cut}


def labelled(films: list[dict], run: str = "") -> list[dict]:
    """Names that the page shows, each once: tiled, tiled (2nd launch), exercise: tiled."""
    seen: dict[str, int] = {}
    for film in films:
        label = f"{run}: {film['kernel'].split('(')[0]}" if run else film["kernel"].split("(")[0]
        label += f", launch {film['launch']}" if film["launch"] > 1 else ""
        seen[label] = seen.get(label, 0) + 1
        film["label"] = label if seen[label] == 1 else f"{label} [{seen[label]}]"
    return films


# ---- The page --------------------------------------------------------------------------------------------------------------


def own_sources(films: list[dict]) -> dict[str, list[str]]:
    """The lines of the sources, by the names that the page shows; the films' files get these names. A toolkit's headers are not shown."""
    toolkit = os.path.realpath(facts().get("TOOLKIT", "") or "/nonexistent")
    sources: dict[str, list[str]] = {}
    for film in films:
        named = []
        for file in film["files"]:
            path = pathlib.Path(os.path.realpath(file))
            shown = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
            named.append(shown)
            if file and path.is_file() and not path.is_relative_to(toolkit):
                sources[shown] = path.read_text(encoding="utf-8", errors="replace").splitlines()
        film["files"] = named
    used = {film["files"][place] for film in films for statement in film["statements"] for place in (statement[3], statement[5]) if place < len(film["files"])}
    return {name: lines for name, lines in sources.items() if name in used}


def page(title: str, films: list[dict]) -> str:
    data = json.dumps({"films": films, "sources": own_sources(films)}, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(data.encode(), 9)).decode()
    parts = {"TITLE": title.replace("&", "&amp;").replace("<", "&lt;"), "STYLE": (PAGE / "film.css").read_text(encoding="utf-8")}
    parts |= {"SCRIPT": (PAGE / "film.js").read_text(encoding="utf-8"), "DATA": packed}
    whole = (PAGE / "film.html").read_text(encoding="utf-8")
    for name, what in parts.items():
        whole = whole.replace(f"@{name}@", what)
    return whole


def film(name: str, title: str, runs: list[tuple[str, list[str], dict[str, str]]], only: str = "") -> pathlib.Path:
    """Records runs, (label, command, environment) each, and writes build/see/<name>.html with as many steps as fit."""
    SEEN.mkdir(parents=True, exist_ok=True)
    recorded = [each for label, command, environment in runs for each in labelled(record(command, environment, SEEN / f"{name}.film", only), label)]
    for steps in STEPS:
        films = [shortened(each, steps) for each in recorded]
        made = page(title, films)
        if len(made.encode()) <= LARGEST:
            break
    else:
        raise NoFilm(f"The film of {name} is larger than {LARGEST // 1_000_000} MB even with {steps} steps per kernel. ONLY='kernel=NAME' records one of them.")
    out = SEEN / f"{name}.html"
    out.write_text(made, encoding="utf-8")
    cut = [each for each in films if each["cut"]]
    print(f"The film is in {out.relative_to(ROOT)} ({len(made) // 1000} KB). Open it in a browser. It shows: {', '.join(each['label'] for each in films)}")
    if cut:
        print(f"The first {steps} steps of each kernel are shown; the rest was cut off for: {', '.join(each['label'] for each in cut)}")
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
