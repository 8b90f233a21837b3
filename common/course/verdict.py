"""Judges one exercise for a program that shows the result: make learn, and make grade.

    python3 -m course verdict prepare|run|judge LESSON     prints one object of JSON

`prepare` builds the lesson's program and the parts of its check that no answer changes. `run` runs the program. `judge` builds the exercise
and stops at the first test case that fails. It looks for the place of the failure in the learner's file.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

from course import ROOT, build, check, possible, text
from course import judge as judging
from course.device import choose_device
from course.lessons import is_python, program
from course.process import how_it_ended, run_limited

RUN_LIMIT = 120  # seconds for a lesson's program
LINES = 200  # of a program's output that are kept


# ---- places in the learner's file ----------------------------------------------------------------------------------------


def line_of(source, number):
    """A line of a file, without its indentation; empty if it does not exist."""
    lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def place(source, number, column=0, exact=True):
    """exact: the failure happened in this line. Otherwise the function that the check called begins here."""
    return {"file": source.name, "line": number, "column": column, "code": line_of(source, number), "exact": exact}


def place_in(said, source):
    """The first place in `source` that a compiler, a report or a traceback names: file:12, file:12:5, file(12), File "file", line 12."""
    name = re.escape(source.name)
    pattern = rf'(?<![\w.-]){name}(?::(\d+)(?::(\d+))?|\((\d+)\)|", line (\d+))'
    for found in re.finditer(pattern, said):
        number = int(next(filter(None, (found.group(1), found.group(3), found.group(4)))))
        if line_of(source, number):
            return place(source, number, int(found.group(2) or 0))
    return None


def definitions(source):
    """{name: line} of the functions that a file defines: C++ and CUDA by the shape of their lines, Python by def and class."""
    found = {}
    for number, line in enumerate(source.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if source.suffix == ".py":
            defined = re.match(r"\s*(?:def|class)\s+(\w+)", line)
        else:
            defined = re.match(r"(?!return\b|using\b)[A-Za-z_][\w:<>,&*\[\]\" ]*?\b(\w+)\s*\([^;{]*(?:\{.*)?$", line)
            defined = defined or re.match(r"(?:class|struct)\s+(\w+)", line)
        if defined and defined.group(1) not in ("if", "for", "while", "switch", "TORCH_LIBRARY", "TORCH_LIBRARY_IMPL"):
            found.setdefault(defined.group(1), number)
    return found


def body_of_case(checks, name):
    """The source of one test case, up to the next."""
    for file in checks:
        lines = file.read_text(encoding="utf-8").splitlines()
        begins = [number for number, line in enumerate(lines) if re.match(r"(?:TEST_CASE|SCENARIO|\s*def test_)", line)] + [len(lines)]
        for begin, end in zip(begins, begins[1:]):
            body = "\n".join(lines[begin:end])
            as_python = "def test_" + re.sub(r"\W", "_", name) + "("
            if f'"{name}"' in re.sub(r'"\s*\n\s*"', "", body) or as_python in body:
                return body
    return ""


def first_named(functions, text):
    """The function that a text names first; None if it names none of them."""
    named = [(found.start(), function) for function in functions if (found := re.search(rf"\b{re.escape(function)}\b", text))]
    return min(named)[1] if named else None


def place_of_called(lesson, source, name):
    """Where the learner's function begins that the test case calls, or that its check declares."""
    check_of = judging.of_lesson(lesson)
    files = sorted(check_of.glob("test_*.py")) if check_of.is_dir() else [check_of]
    defined, declared = definitions(source), "\n".join(file.read_text(encoding="utf-8") for file in files)
    function = first_named(defined, body_of_case(files, name)) or first_named(defined, declared)
    return place(source, defined[function], exact=False) if function else None


def in_words(failure):
    """A failure without the check's own code around it, where that code compares a sentence: the comparison is the details' business."""
    lines = []
    for line in failure.splitlines():
        found = re.fullmatch(r'(\S+:\d+): (?:CHECK|REQUIRE)\( .* \) was "(.+)" == "(?:|all right)"', line)
        lines.append(f"{found.group(2)}   ({found.group(1)})" if found else line)
    if len(lines) > 1 and lines[0].startswith("after ") and re.search(r" during this test case, in \w+\.cpp:\d+", lines[1]):
        del lines[0]  # where the check was; the learner's own line says more
    return "\n".join(lines)


# ---- what can be wrong before anything runs ------------------------------------------------------------------------------


def conflict_in(content):
    """The line of a merge conflict's first marker, or 0."""
    lines = content.decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.startswith("<<<<<<< ") and any(later.startswith(">>>>>>> ") for later in lines[number:]):
            return number
    return 0


def problem_with(source, lesson):
    """Why an exercise's file cannot be judged, as a verdict; None if it can."""
    if source is None:
        return {"kind": "missing"}
    try:
        content = source.read_bytes()
    except OSError as problem:
        return {"kind": "unreadable", "why": problem.strerror}
    if not content.strip():
        return {"kind": "empty"}
    if b"\0" in content:
        return {"kind": "unreadable", "why": "it contains zero bytes, so it is not a text file"}
    if number := conflict_in(content):
        return {"kind": "conflict", "place": place(source, number)}
    reason = possible.why_not(lesson, for_check=True)
    return {"kind": "skipped", "why": reason} if reason else None


# ---- building ------------------------------------------------------------------------------------------------------------


def first_error(said, source):
    """The compiler's first error, a line; of several lines from a linker, the functions that are missing."""
    condensed = check.condensed(said, source.name)
    for line in condensed.splitlines():
        if found := re.search(r"(?:^|[):] ?)(?:fatal )?error ?: (.*)", line.replace("collect2: error: ", "")):
            return found.group(1).strip()
    return next((line.strip() for line in condensed.splitlines() if line.strip()), "it was not built")


def build_exercise(lesson, source):
    """Builds what an edit changes; a verdict if that fails, otherwise None."""
    wrong = judging.syntax_error(source)
    if not wrong:
        as_it_is = ["-o", build.SIMULATOR] if (ROOT / build.SIMULATOR).exists() else []  # it was built when the trainer began
        targets = f"WANTED={' '.join(judging.targets_of(lesson, 'exercise'))}"
        built = build.call([*as_it_is, "wanted", targets, "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if built.returncode == 0:
            return None
        wrong = build.without_make(built.stderr) or "make ended with an error and said nothing"
    error = first_error(wrong, source)
    if source.suffix == ".py":  # the last line says what is wrong
        error = wrong.splitlines()[0].partition(": ")[2] or wrong
    return {"kind": "compile", "error": error, "said": check.shortened(wrong), "place": place_in(wrong, source)}


# ---- judging -------------------------------------------------------------------------------------------------------------


def names_of_tests(lesson):
    """The sentences of a lesson's check in Python, in the order of its files."""
    found = []
    for file in sorted(judging.of_lesson(lesson).glob("test_*.py")):
        found += [name.replace("_", " ") for name in re.findall(r"^def test_(\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE)]
    return found


def cases_until_first(lesson, source, device):
    """(cases up to the first that fails, the names of all cases, what the simulator reported)."""
    limit = check.limit_for(lesson, device)
    if is_python(lesson):
        cases = judging.judge(lesson, "exercise", device, limit, until=judging.ANY)
        return cases, names_of_tests(lesson), ""
    binary, environment = ROOT / judging.binary_of(lesson, "exercise"), {**device.environment_for(lesson), "COURSE_FRAMES": "yes"}
    run = judging.Run(binary, environment, ["--abort"], None, limit)
    cases, names = run.cases, []
    for case in cases:
        case.failure = judging.misses_c_linkage(binary.parent / "exercise.ptx", case.failure or "") or case.failure
    if any(case.failure for case in cases):
        names = judging.case_names(binary, environment)
    elif not cases:
        broken = judging.Case("the test program starts")
        broken.failure = f"it {run.end}\n{run.said}"
        cases = [broken]
    else:
        cases += check.faults_of(lesson, source, device)
    return cases, names, run.said


def last_report(said):
    """The simulator's last report in what a program wrote on stderr."""
    found = re.findall(r"^========= simulated GPU: .*\n(?:  .*\n)*", said + "\n", re.MULTILINE)
    return found[-1].rstrip() if found else ""


def judge(lesson):
    source = judging.answers(lesson).get("exercise")
    if wrong := problem_with(source, lesson):
        return {**wrong, "build_seconds": 0.0}
    os.environ.setdefault("CUDASIM_BUDGET", check.BUDGET)
    device = choose_device()
    # On a GPU, the driver starts while the compiler works; not where a check compares the memory that is free before and after.
    with contextlib.nullcontext() if judging.looks_at_free_memory(lesson) else device.held():
        begun = time.monotonic()
        wrong = build_exercise(lesson, source)
        built = time.monotonic() - begun
        return {**(wrong or judged(lesson, source, device)), "build_seconds": built}


def judged(lesson, source, device):
    """The verdict on an exercise that has been built."""
    begun = time.monotonic()
    cases, names, said = cases_until_first(lesson, source, device)
    result = {"kind": "solved", "device": device.name, "passed": [case.name for case in cases if not case.failure], "judge_seconds": time.monotonic() - begun}
    failing = next((case for case in cases if case.failure), None)
    if failing:
        failure, report = failing.failure, last_report(said)
        if report and report not in failure:
            failure += "\n" + report
        known = [case.name for case in cases]
        result.update(kind="failed", case=failing.name, failure=failure, words=in_words(failure), waiting=len([name for name in names if name not in known]))
        result["place"] = place_in(failure, source) or place_of_called(lesson, source, failing.name)
    return result


# ---- the lesson's program ------------------------------------------------------------------------------------------------


def prepare(lesson):
    """Builds in advance; whether the exercise itself compiles does not matter here."""
    if possible.why_not(lesson):
        return {"kind": "skipped", "why": possible.why_not(lesson)}
    targets = build.program_targets(lesson)
    if not possible.why_not(lesson, for_check=True):
        targets = targets + judging.targets_of(lesson, "exercise")
    build.call(["-k", "wanted", f"WANTED={' '.join(targets)}", "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {"kind": "prepared"}


def recorded(lesson):
    """What a GPU printed, where the text explains its figures and the simulator's are others."""
    readme = ROOT / lesson / "README.md"
    return text.recorded(dict(text.sections(readme.read_text(encoding="utf-8"))).get("Run", "")) if readme.exists() else []


def run(lesson):
    if reason := possible.why_not(lesson):
        return {"kind": "skipped", "why": reason}
    built = build.call(["wanted", f"WANTED={' '.join(build.program_targets(lesson))}", "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if built.returncode != 0:
        return {"kind": "compile", "said": check.shortened(build.without_make(built.stderr), 12)}
    device = choose_device()
    try:
        ended = run_limited(program(lesson), RUN_LIMIT, env=device.environment_for(lesson), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        how, printed = "" if ended.returncode == 0 else how_it_ended(ended.returncode), ended.stdout + ended.stderr
    except subprocess.TimeoutExpired as stopped:
        how, printed = f"did not end within {RUN_LIMIT} seconds and was stopped", (stopped.stdout or b"").decode(errors="replace")
    return {
        "kind": "ran",
        "device": device.name,
        "output": printed.splitlines()[:LINES],
        "how": how,
        "recorded": recorded(lesson) if device.kind == "simulator" else [],
    }


def main(words):
    if len(words) != 2 or words[0] not in ("prepare", "run", "judge"):
        sys.exit("python3 -m course verdict prepare|run|judge LESSON")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the learner's program is stopped on the way out
    try:
        told = {"prepare": prepare, "run": run, "judge": judge}[words[0]](words[1])
    except SystemExit as refused:  # a sentence about the device
        if not isinstance(refused.code, str):
            raise
        told = {"kind": "refused", "why": refused.code}
    json.dump(told, sys.stdout)
    return 0
