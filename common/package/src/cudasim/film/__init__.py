"""Films of kernels: the simulator records what each warp of a block does (CUDASIM_FILM), and a page plays the recording.

The page is one HTML file, which needs no other file and no network. `make see` of the course uses this module, too.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import signal
import subprocess
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cudasim.problem import Problem

HERE = pathlib.Path(__file__).resolve().parent
LARGEST = 2_000_000  # bytes of a page
STEPS = (4000, 2000, 1000, 500, 250, 100)  # of a launch: as many as fit on a page
LIMIT = 120  # seconds
CHECKS = "race,init,sync"

Film = dict[str, Any]  # as the simulator writes it: common/simulator/README.md, "Films"


class NoFilm(Problem):
    """Why there is no film: a sentence."""


# ---- Recording -------------------------------------------------------------------------------------------------------------


def record(command: Sequence[str], environment: Mapping[str, str], file: pathlib.Path, only: str, option: str = "ONLY") -> list[Film]:
    """The films of a program that runs on the simulator. `option` is how the user chooses what is recorded. Each film has the program's status."""
    file.unlink(missing_ok=True)
    wanted = {"CUDASIM_FILM": str(file), "CUDASIM_FILM_ONLY": f"{only} limit={STEPS[0]}", "CUDASIM_CHECK": environment.get("CUDASIM_CHECK", CHECKS)}
    try:
        ran = subprocess.run(command, env={**environment, **wanted}, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise NoFilm(f"{command[0]} did not end within {LIMIT} seconds. {option}='kernel=NAME' records less.") from None
    except OSError as problem:
        raise NoFilm(f"{command[0]} cannot be started: {problem.strerror}.") from None
    films = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    file.unlink(missing_ok=True)
    complaints = [line for line in ran.stderr.splitlines() if line.startswith("cudasim: CUDASIM_FILM")]
    if complaints:
        raise NoFilm(complaints[0].removeprefix("cudasim: ").replace("CUDASIM_FILM_ONLY", option))
    if not films:
        printed = (ran.stderr or ran.stdout).strip()[-300:]
        why = (f" It ended with status {ran.returncode}." if ran.returncode else "") + (f" It printed: {printed}" if printed else "")
        raise NoFilm(f"{pathlib.Path(command[0]).name} launched no kernel to show.{why}")
    return [{**film, "status": ran.returncode} for film in films]


def shortened(film: Film, steps: int) -> Film:
    """The same film with fewer steps. What was found later belongs to the last of them."""
    cut = max(0, len(film["steps"]) - steps)
    events = [event for event in film["events"] if event[0] < steps]
    findings = [[min(at, steps - 1), *what] for at, *what in film["findings"]]
    return {**film, "steps": film["steps"][:steps], "events": events, "findings": findings, "cut": film["cut"] + cut}


def labelled(films: list[Film], run: str = "") -> list[Film]:
    """Names that the page shows, each once: tiled, tiled (2nd launch), exercise: tiled."""
    seen: dict[str, int] = {}
    for film in films:
        label = f"{run}: {film['kernel'].split('(')[0]}" if run else film["kernel"].split("(")[0]
        label += f", launch {film['launch']}" if film["launch"] > 1 else ""
        seen[label] = seen.get(label, 0) + 1
        film["label"] = label if seen[label] == 1 else f"{label} [{seen[label]}]"
    return films


# ---- The page --------------------------------------------------------------------------------------------------------------


def own_sources(films: list[Film], root: pathlib.Path, toolkit: str) -> dict[str, list[str]]:
    """The lines of the sources, by the names that the page shows; the films' files get these names, which begin at `root` if they are in it. The
    toolkit's headers are not shown."""
    sources: dict[str, list[str]] = {}
    for film in films:
        named = []
        for file in film["files"]:
            path = pathlib.Path(os.path.realpath(root / file))
            shown = str(path.relative_to(root)) if path.is_relative_to(root) else path.name
            named.append(shown)
            if file and path.is_file() and not path.is_relative_to(toolkit):
                sources[shown] = path.read_text(encoding="utf-8", errors="replace").splitlines()
        film["files"] = named
    used = {film["files"][place] for film in films for statement in film["statements"] for place in (statement[3], statement[5]) if place < len(film["files"])}
    return {name: lines for name, lines in sources.items() if name in used}


def page(title: str, films: list[Film], sources: dict[str, list[str]]) -> str:
    data = json.dumps({"films": films, "sources": sources}, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(data.encode(), 9)).decode()
    text: Callable[[str], str] = lambda name: (HERE / name).read_text(encoding="utf-8")
    parts = {"TITLE": title.replace("&", "&amp;").replace("<", "&lt;"), "STYLE": text("film.css"), "SCRIPT": text("film.js"), "DATA": packed}
    whole: str = text("film.html")
    for name, what in parts.items():
        whole = whole.replace(f"@{name}@", what)
    return whole


def fitted(title: str, recorded: list[Film], root: pathlib.Path, toolkit: str, option: str = "ONLY") -> tuple[str, str]:
    """A page with as many steps as fit, and which kernels it shows: a sentence or two."""
    sources = own_sources(recorded, root.resolve(), os.path.realpath(toolkit or "/nonexistent"))
    for steps in STEPS:
        films = [shortened(each, steps) for each in recorded]
        made = page(title, films, sources)
        if len(made.encode()) <= LARGEST:
            break
    else:
        raise NoFilm(
            f"The film of {title} is larger than {LARGEST // 1_000_000} MB even with {steps} steps per kernel. {option}='kernel=NAME' records one of them."
        )
    told = f"It shows: {', '.join(each['label'] for each in films)}"
    if cut := [each["label"] for each in films if each["cut"]]:
        told += f"\nThe first {steps} steps of each kernel are shown; the rest was cut off for: {', '.join(cut)}"
    for status in sorted({each["status"] for each in films} - {0}):
        told += f"\nThe program ended with {f'the signal {signal.Signals(-status).name}' if status < 0 else f'status {status}'}."
    return made, told
