# make doctor: what this machine has, what follows from it, and what to type. Installs nothing, changes nothing.
#
#   python3 common/doctor.py            status 0: all well, 1: something is broken, 2: no GPU
#   python3 common/doctor.py --json     the same for machines
#   python3 common/doctor.py --root D   of a machine whose files lie below folder D (an unpacked image, a test)
from __future__ import annotations

import argparse
import json
import os
import shutil
import sys

import course
from diagnosis import findings, report, verdicts
from diagnosis.machine import Machine


def setup() -> dict[str, str]:
    """What common/setup.sh found; empty before the first run."""
    try:
        return course.setup()
    except OSError:
        return {}


def course_rows(found: findings.Findings, made: dict[str, str]) -> list[tuple[str, str]]:
    """What the course itself needs besides."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    free = shutil.disk_usage(course.ROOT).free // 2**30
    rows = [("room", f"{os.cpu_count()} cores, {memory} GiB memory, {free} GiB free on disk")]
    version = made.get("CATCH_VERSION")
    missing = made.get("WITHOUT_CATCH2") or "not looked for yet: `make check` or `make test` sees to it"
    rows.append(("Catch2", f"{version}.x {made.get('CATCH_FLAGS', '').replace('-isystem ', 'in ')}".strip() if version else missing))
    try:
        device = course.choose_device()
    except SystemExit as refused:
        return rows + [("lessons", str(refused.code).replace("`make doctor` says more; ", ""))]
    built = device.kind == "gpu" or (course.SIMULATOR / "libcuda.so.1").exists()
    name = device.name if built else "the simulated GPU, which `make run` builds first"
    return rows + [("lessons", f"run on: {name} ({device.why})")]


def in_short(lessons: list[str]) -> list[str]:
    """The same, but a chapter that is whole goes by its name."""
    whole = {lesson.split("/")[0] for lesson in lessons}
    whole = {chapter for chapter in whole if set(course.lessons([chapter])) <= set(lessons)}
    return sorted(whole) + [lesson for lesson in lessons if lesson.split("/")[0] not in whole]


def last_words(made: dict[str, str]) -> list[str]:
    if not made:
        return ["", "Nothing was set up yet: make run sees to what is missing, and says what it fetches."]
    why = {lesson: course.why_not(lesson) for lesson in course.lessons()}
    skipped = in_short([lesson for lesson in why if why[lesson] and why[lesson] != course.TORCH_UNKNOWN])
    told = ["", "Lessons that are skipped here: " + ", ".join(skipped)] if skipped else []
    if course.TORCH_UNKNOWN in why.values():
        told += ["", "The course has not looked for PyTorch yet: `make 05-extension` takes what `python3` has, or a private copy."]
    return told


def main() -> int:
    parser = argparse.ArgumentParser(prog="doctor.py", description="What this machine has for CUDA, and what follows from it.")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--root", default="/", help="the folder that holds the machine's files (default: this machine)")
    wish = parser.parse_args()
    course.wished_device()
    if not os.path.isdir(wish.root):
        parser.error(f"there is no folder {wish.root}")
    machine = Machine(wish.root)
    made = setup() if machine.is_real else {}
    toolkits = [made["CUDA_ROOT"]] if made.get("CUDA_ROOT") else []
    found = findings.look(machine, toolkits, [made["TORCH_PATH"]] if made.get("TORCH_PATH") else [])
    judged = verdicts.judge(found)
    if wish.json:
        print(json.dumps(report.as_json(found, judged), indent=2, ensure_ascii=False))
    else:
        rows = course_rows(found, made) if machine.is_real else []
        print("\n".join(report.as_text_lines(found, judged, rows) + (last_words(made) if machine.is_real else [])))
    return verdicts.exit_status(found, judged)


if __name__ == "__main__":
    sys.exit(main())
