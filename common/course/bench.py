"""make bench: runs the lessons that measure, on the device at hand, and keeps what they said in build/bench/:
  results.json   device, driver, toolkit, date, and each lesson's rows as numbers
  results.md     the same to read, with a picture of each output
  03-04.svg …    those pictures
  03-04.json …   one lesson's record: device, driver, toolkit, date, rows and output
  03-04-plot.svg …  its plot, where the lesson has a plot.py (common/plots.py) and Python has matplotlib
With RECORD=1 in the environment, the record and the plot of a lesson that has a plot.py also go into its folder, under
the device's name: h200.json and h200.svg. The simulator's times are never recorded there.

A lesson measures if its text says of a shown output that measured numbers vary in it.
"""

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from course import ROOT, picture, text
from course.device import choose_device
from course.facts import facts as facts_of_setup
from course.interpreter import for_python, python
from course.lessons import every, named
from course.possible import why_not
from course.process import SKIPPED, how_it_ended

RESULTS = ROOT / "build" / "bench"
LIMIT = 600  # seconds for one lesson


def measures(lesson):
    """Whether the lesson's text shows output in which measured numbers vary."""
    return any(block.kind == "console" and "measured" in block.notes.get("varies", []) for block in text.blocks(lesson.text))


def rows(lines):
    """The rows of an output's tables as [{label, values}]; the headings between them are left out. A table is drawn with bars,
    'label | 1.5 ms | 2.25', or in columns, 'kernel   an idea   1.5   2.25 ███': there a row has two numbers at least."""
    found = []
    drawn = any("|" in line for line in lines)
    for line in lines:
        if drawn:
            label, _, rest = line.partition("|")
            words, values = [label], re.findall(r"(?<![\w.])\d+(?:\.\d+)?", rest)
        else:
            cells = re.split(r"\s{2,}", line.rstrip(" █").strip())
            values = [cell for cell in cells[1:] if re.fullmatch(r"\d+(\.\d+)?", cell)]
            words = [cell for cell in cells if cell not in values + ["-"]] if len(values) > 1 else []
        label = " ".join(" ".join(words).split())
        if values and label:
            found.append({"label": label, "values": [float(value) for value in values]})
    return found


def tables(lines):
    """The rows of every table, each with the first line of its table; empty lines separate tables."""
    blocks = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [{"table": block[0].strip(), **row} for block in blocks for row in rows(block)]


def run(lesson, device):
    """Runs a lesson's program; returns what is kept of it."""
    start = time.time()
    try:
        ended = subprocess.run(
            lesson.program(),
            env=device.environment_for(lesson),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
        )
        status, printed = ended.returncode, ended.stdout
    except subprocess.TimeoutExpired:
        status, printed = None, ""
    lines = [line.rstrip() for line in printed.rstrip("\n").splitlines()]
    return {
        "lesson": lesson.name,
        "title": lesson.heading,
        "status": status,
        "seconds": round(time.time() - start, 2),
        "rows": tables(lines),
        "output": lines,
    }


def record(facts, result):
    """What is kept of one lesson: enough to draw its plot, and to name the device in the caption."""
    kept = {name: facts[name] for name in ("device", "driver", "toolkit", "date")}
    if every()[result["lesson"]].is_python:
        kept["pytorch"] = facts_of_setup()["TORCH"]
    return {**kept, **{name: result[name] for name in ("lesson", "title", "rows", "output")}}


def plot(lesson, kept, out):
    """Draws a record with the lesson's plot.py. Returns a sentence if there is no plot."""
    command = [python(), str(lesson.plot), str(kept), str(out)]
    drawn = subprocess.run(command, env={**os.environ, **for_python()}, capture_output=True, text=True, check=False)
    said = drawn.stderr.strip().splitlines()
    return None if drawn.returncode == 0 else said[-1] if said else "plot.py failed"


def short_name(device):
    """'NVIDIA H200' is h200."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower().replace("nvidia", "")).strip("-")


def driver_release(device):
    """'580.159.04', as the driver's tools or the kernel report it; the driver API only has a CUDA version."""
    if device.kind != "gpu":
        return "none"
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False)
        if asked.returncode == 0 and asked.stdout.strip():
            return asked.stdout.split()[0]
    except OSError:
        pass
    loaded = pathlib.Path("/proc/driver/nvidia/version")
    found = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", loaded.read_text(encoding="utf-8")) if loaded.exists() else None
    return found[0] if found else f"for CUDA {version(device.driver_version)}"


def version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


def markdown(facts, lessons):
    told = ["# What was measured", ""]
    told += ["| | |", "| --- | --- |"] + [f"| {name} | {value} |" for name, value in facts.items()] + [""]
    told += ["| lesson | seconds | ended |", "| --- | --- | --- |"]
    for lesson in lessons:
        told.append(f"| {lesson['title']} | {lesson['seconds']:.1f} | {ending(lesson)} |")
    for lesson in lessons:
        number = every()[lesson["lesson"]].number
        told += ["", f"## {lesson['title']}", "", f"![What it printed]({number}.svg)", ""]
        told += [f"![Its plot]({number}-plot.svg)", ""] if (RESULTS / f"{number}-plot.svg").exists() else []
        told += ["```console", f"$ make {lesson['lesson']}"] + lesson["output"] + ["```"]
    return "\n".join(told) + "\n"


def ending(lesson):
    if lesson["status"] is None:
        return f"did not end within {LIMIT} seconds"
    if lesson["status"] == SKIPPED:
        return "skipped"
    return "well" if lesson["status"] == 0 else how_it_ended(lesson["status"])


def keep(result, facts, device):
    """Writes a lesson's record and its plot; with RECORD=1, into the lesson's folder too."""
    lesson, stem = every()[result["lesson"]], short_name(device.name)
    written, drawn = RESULTS / f"{lesson.number}.json", RESULTS / f"{lesson.number}-plot.svg"
    written.write_text(json.dumps(record(facts, result), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    drawn.unlink(missing_ok=True)
    if not lesson.plot or result["status"] != 0:
        return
    if reason := plot(lesson, written, drawn):
        print(f"     {reason}")
    if os.environ.get("RECORD", "0") in ("", "0"):
        return
    if device.kind != "gpu":
        print("     Nothing is recorded in the lesson's folder, because these times are the simulator's. RECORD=1 needs a GPU.")
        return
    for made, name in ((written, f"{stem}.json"), (drawn, f"{stem}.svg")):
        if made.exists():
            shutil.copyfile(made, lesson.folder / name)
            print(f"     recorded in {lesson}/{name}")


def main(words):
    device = choose_device()
    print(device.headline(), flush=True)
    lessons = [lesson for lesson in named(words) if measures(lesson)]
    RESULTS.mkdir(parents=True, exist_ok=True)
    facts = {
        "device": device.name,
        "driver": driver_release(device),
        "driver for CUDA": version(device.driver_version),
        "toolkit": version(int(facts_of_setup()["CUDA_VERSION"] or 0)),
        "cores of the host": os.cpu_count(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }
    results = []
    for count, lesson in enumerate(lessons, start=1):
        print(f"{count:3} of {len(lessons)}  {lesson.heading} … ", end="", flush=True)
        reason = why_not(lesson)
        if reason:
            print(f"skipped: {reason}")
            continue
        results.append(run(lesson, device))
        print(f"{results[-1]['seconds']:.1f} s, ended {ending(results[-1])}" if results[-1]["status"] == 0 else ending(results[-1]))
        keep(results[-1], facts, device)
        shown = picture.svg(f"make {lesson}", results[-1]["output"])
        (RESULTS / f"{lesson.number}.svg").write_text(shown + "\n", encoding="utf-8")
    if not results:
        print("nothing was measured: " + ("no lesson here could run" if lessons else "none of these lessons measures anything") + "; earlier results are kept")
        return 0
    kept = json.dumps({**facts, "lessons": results}, indent=1, ensure_ascii=False)
    (RESULTS / "results.json").write_text(kept + "\n", encoding="utf-8")
    (RESULTS / "results.md").write_text(markdown(facts, results), encoding="utf-8")
    print(f"kept in {RESULTS.relative_to(ROOT)}/: results.md, results.json and an image for each lesson")
    return 1 if any(result["status"] not in (0, SKIPPED) for result in results) else 0
