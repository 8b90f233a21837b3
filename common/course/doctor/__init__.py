"""make doctor: what this machine has for CUDA, which libraries win, what does not fit together, and what to type.

    python3 -m course doctor            status 0: all is well, 1: something is broken, 2: there is no GPU
    python3 -m course doctor --json     the same for scripts
    python3 -m course doctor --root D   examines a machine whose files are below folder D (an unpacked image, a test)

It installs nothing and changes nothing. machine.py is the machine that is examined; elf.py, loader.py, catalog.py, python.py,
toolkits.py, libraries.py and driver.py find out about its parts; findings.py collects them; verdicts.py judges nine typical tasks;
report.py prints.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil

from course import ROOT, device, environment, possible
from course.facts import facts
from course.lessons import Lesson, lessons


def main(words: list[str]) -> int:
    environment.use()
    from course.doctor import elf, findings, report, verdicts
    from course.doctor.machine import Machine

    parser = argparse.ArgumentParser(prog="doctor", description="What this machine has for CUDA, and what follows from it.")
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.add_argument("--root", default="/", help="the folder with the machine's files (default: this machine)")
    wish = parser.parse_args(words)
    device.wished_device()
    if not os.path.isdir(wish.root):
        parser.error(f"there is no folder {wish.root}")
    machine = Machine(wish.root)
    made = facts() if machine.is_real else {}
    toolkits = [os.path.realpath(ROOT / made["CUDA_ROOT"])] if made.get("CUDA_ROOT") else []
    packages = [os.path.dirname(os.path.realpath(ROOT / made["TORCH_ROOT"]))] if made.get("TORCH_ROOT") else []
    found = findings.look(machine, toolkits, packages)
    judged = verdicts.judge(found)
    if wish.json:
        print(json.dumps(report.as_json(found, judged), indent=2, ensure_ascii=False))
    else:
        lines = report.as_text_lines(found, judged, course_rows(made) if machine.is_real else [])
        print("\n".join(lines + (last_words(made) if machine.is_real else [])))
        if not elf.CAN_READ_LIBRARIES:
            print("\nNot examined: the names and search paths inside libraries, and what PyTorch's package requires. That needs pyelftools and")
            print("packaging, which `make walk` fetches.")
    return verdicts.exit_status(found, judged)


def course_rows(made: dict[str, str]) -> list[tuple[str, str]]:
    """What the course itself needs besides."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    free = shutil.disk_usage(ROOT).free // 2**30
    rows = [("room", f"{os.cpu_count()} cores, {memory} GiB memory, {free} GiB free on disk")]
    missing = made.get("WITHOUT_CATCH2") or "not looked for yet; `make check` and `make test` look for it"
    where = f" in {os.path.realpath(ROOT / 'build' / 'catch2')}" if made.get("CATCH_FLAGS") else ""
    rows.append(("Catch2", f"{made['CATCH_VERSION']}.x{where}" if made.get("CATCH_VERSION") else missing))
    try:
        chosen = device.choose_device()
    except SystemExit as refused:
        return rows + [("lessons", str(refused.code).replace("`make doctor` explains why; ", ""))]
    built = chosen.kind == "gpu" or (device.SIMULATOR / "libcuda.so.1").exists()
    name = chosen.name if built else "the simulated GPU, which `make run` builds first"
    return rows + [("lessons", f"run on: {name} ({chosen.why})")]


def last_words(made: dict[str, str]) -> list[str]:
    if not made:
        return ["", "Nothing was set up yet: make run finds or fetches what is missing, and announces each download."]
    why = {lesson: possible.why_not(lesson) for lesson in lessons()}
    skipped = whole_chapters([lesson for lesson in why if why[lesson] and why[lesson] != possible.TORCH_UNKNOWN])
    told = ["", "Lessons that are skipped here: " + ", ".join(skipped)] if skipped else []
    if possible.TORCH_UNKNOWN in why.values():
        told += ["", "The course has not looked for PyTorch yet: `make 05-extension` uses the one of your `python3`, or a private copy."]
    return told


def whole_chapters(chosen: list[Lesson]) -> list[str]:
    """Their names, but the name of a chapter stands for all its lessons."""
    whole = {lesson.chapter for lesson in chosen if set(lessons([lesson.chapter])) <= set(chosen)}
    return sorted(whole) + [lesson.name for lesson in chosen if lesson.chapter not in whole]
