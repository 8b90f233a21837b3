# make bench: runs the lessons that measure, on the device at hand, and keeps what they said in build/bench/:
#   results.json   device, driver, toolkit, date, and each lesson's rows as numbers
#   results.md     the same to read, with a picture of each output
#   03-05.svg …    those pictures
# A lesson measures if its text says of a shown output that measured numbers vary in it.
import datetime
import json
import os
import re
import subprocess
import sys
import time

import course
import picture
import text

RESULTS = course.ROOT / "build" / "bench"
LIMIT = 600  # seconds for one lesson


def measures(lesson):
    """Whether the lesson's text shows output in which measured numbers vary."""
    readme = course.ROOT / lesson / "README.md"
    blocks = text.blocks(readme.read_text(encoding="utf-8")) if readme.exists() else []
    return any(block.kind == "console" and "measured" in block.notes.get("varies", []) for block in blocks)


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


def number_of(lesson):
    """'03-memory/05-pageable-vs-pinned' is 03-05."""
    return "-".join(part[:2] for part in lesson.split("/"))


def run(lesson, device):
    """Runs a lesson's program; returns what is kept of it."""
    start = time.time()
    try:
        ended = subprocess.run(
            course.program(lesson),
            env=device.environment_for(lesson),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
        )
        status, printed = ended.returncode, ended.stdout
    except subprocess.TimeoutExpired:
        status, printed = None, ""
    lines = [line.rstrip() for line in printed.rstrip("\n").splitlines()]
    return {
        "lesson": lesson,
        "title": course.heading(lesson),
        "status": status,
        "seconds": round(time.time() - start, 2),
        "rows": rows(lines),
        "output": lines,
    }


def version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


def markdown(facts, lessons):
    told = ["# What was measured", ""]
    told += ["| | |", "| --- | --- |"] + [f"| {name} | {value} |" for name, value in facts.items()] + [""]
    told += ["| lesson | seconds | ended |", "| --- | --- | --- |"]
    for lesson in lessons:
        told.append(f"| {lesson['title']} | {lesson['seconds']:.1f} | {ending(lesson)} |")
    for lesson in lessons:
        told += ["", f"## {lesson['title']}", "", f"![What it printed]({number_of(lesson['lesson'])}.svg)", ""]
        told += ["```console", f"$ make {lesson['lesson']}"] + lesson["output"] + ["```"]
    return "\n".join(told) + "\n"


def ending(lesson):
    if lesson["status"] is None:
        return f"did not end within {LIMIT} seconds"
    if lesson["status"] == course.SKIPPED:
        return "skipped"
    return "well" if lesson["status"] == 0 else course.how_it_ended(lesson["status"])


def main(chosen):
    device = course.choose_device()
    print(device.headline(), flush=True)
    lessons = [lesson for lesson in chosen if measures(lesson)]
    RESULTS.mkdir(parents=True, exist_ok=True)
    results = []
    for count, lesson in enumerate(lessons, start=1):
        print(f"{count:3} of {len(lessons)}  {course.heading(lesson)} … ", end="", flush=True)
        reason = course.why_not(lesson)
        if reason:
            print(f"skipped: {reason}")
            continue
        results.append(run(lesson, device))
        print(f"{results[-1]['seconds']:.1f} s, ended {ending(results[-1])}" if results[-1]["status"] == 0 else ending(results[-1]))
        shown = picture.svg(f"make {lesson}", results[-1]["output"])
        (RESULTS / f"{number_of(lesson)}.svg").write_text(shown + "\n", encoding="utf-8")
    if not results:
        print("nothing was measured: " + ("no lesson here could run" if lessons else "none of these lessons measures") + "; what was kept stays")
        return 0
    facts = {
        "device": device.name,
        "driver for CUDA": version(device.driver_version),
        "toolkit": version(int(course.setup()["CUDA_VERSION"] or 0)),
        "cores of the host": os.cpu_count(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }
    kept = json.dumps({**facts, "lessons": results}, indent=1, ensure_ascii=False)
    (RESULTS / "results.json").write_text(kept + "\n", encoding="utf-8")
    (RESULTS / "results.md").write_text(markdown(facts, results), encoding="utf-8")
    print(f"kept in {RESULTS.relative_to(course.ROOT)}/: results.md, results.json and a picture of each")
    return 1 if any(result["status"] not in (0, course.SKIPPED) for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
