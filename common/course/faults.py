"""Looks for what a kernel does wrong although its results are right: with the simulator's own checks (CUDASIM_CHECK=all), or on a GPU with the
four tools of compute-sanitizer.

Faults that a lesson shows on purpose are listed here, and must be found; no others may be. What compute-sanitizer says about calls that return
an error is left out: lessons make such calls on purpose.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile

from course import ROOT
from course.cases import Case
from course.lessons import Answer
from course.process import SKIPPED, ending, reason_given, run_limited

LIMIT = 300  # seconds for one program under a tool

# What each lesson's program shows on purpose: as the simulator's report calls it, and as compute-sanitizer does.
INTENDED = {
    "ownership": (["not released"], ["Leaked"]),
    "scope": (["not released"], ["Leaked"]),
    "two-contexts": (["illegal address"], ["Invalid __global__ write", "Leaked"]),
    "leaks": (["not released"], ["Leaked"]),
    "vector-add": (["illegal address"], ["Invalid __global__ read"]),
    "warps": ([], ["Warning: Race reported between Read access at void hand_over<(bool)0>"]),  # of volatile words, which the simulator takes for atomic
    # racecheck does not follow an order that passes through __syncwarp and one lane's arrival at an mbarrier, or through two mbarriers; the
    # fourth pair of accesses is to different words. The simulator's check accepts all of them.
    "scan-and-histogram": (
        [],
        [
            "Error: Race reported between Read access at scan_parts(",
            "Error: Race reported between Write access at sum_tiles(",
            "Error: Race reported between Write access at load_tiles(",
            "Error: Race reported between Read access at Tile<(int)4>::combine_warps(",
        ],
    ),
    "errors-come-late": (["illegal address"], ["Invalid __global__ write", "Warp assert", "Leaked"]),
    "mini-runtime": (["not released"], []),  # a runtime keeps its module and the primary context until the end
}
# The check of the exercise finds these even in a correct solution: destroying a context frees what is left in it.
INTENDED_BY_CHECKS = {
    "current": ["not released"],
    "ownership": ["not released"],
    "primary": ["not released"],
    "scope": ["not released"],
    "runtime-interop": ["not released"],
    "two-contexts": ["not released"],
    "leaks": ["not released"],
    "first-launch": ["illegal address"],
    "errors-come-late": ["illegal address"],
}
# What the results of a solution do not show.
CASE = "the simulator finds no fault in how the kernel runs"
TOOLS = {
    "memcheck": ["--leak-check", "full", "--report-api-errors", "no"],
    "racecheck": [],
    "initcheck": [],
    "synccheck": [],
}
NOTHING_SEEN = "terminated before first instrumented API call"


def of_simulator(said):
    """The findings in what a program wrote on stderr: 'illegal address, kernels.cu:12 (line 93 of the PTX)'; of a race both places, and why it is one."""
    found = []
    for line in re.sub(r"\n {11}(?=\S)", " ", said).splitlines():
        if line.startswith("========= simulated GPU: "):
            found.append(line.partition(": ")[2])
        elif found and re.match(r"  (at|when)  ", line) and ", " not in found[-1]:
            found[-1] += ", " + line.split(None, 1)[1]
        elif found and (place := re.match(r"  thread .* at (\S+)", line)):
            found[-1] += (" and " if ", " in found[-1] else ", ") + place.group(1)
        elif found and line.startswith("  why "):
            found[-1] += ": " + line.split(None, 1)[1]
    return found


def of_compute_sanitizer(said):
    """The same of its own report: 'Invalid __global__ read of size 4 bytes, at add_unguarded(…)+0x80 in kernels.cu:12'."""
    found = []
    for line in said.splitlines():
        if re.match(r"========= \S", line) and not re.search(
            r"COMPUTE-SANITIZER|SUMMARY|Target application returned|process didn't terminate|were not printed", line
        ):
            found.append(line.removeprefix("========= "))
        elif found and re.match(r"=========     at ", line) and ", at " not in found[-1]:
            found[-1] += ", " + line.removeprefix("=========").strip()
    return found


def run_watched(command, environment, tool, limit, run):
    """How a program ended under a tool, in an empty folder."""
    wrapper = ["compute-sanitizer", "--tool", tool, "--print-limit", "20", *TOOLS[tool]] if tool else []
    with tempfile.TemporaryDirectory() as empty:
        return run([*wrapper, *command], limit, cwd=empty, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if tool else subprocess.PIPE)


def watched(command, environment, tool):
    """(findings, how it failed, as lines, or None, why it was skipped or None) of a program under one of compute-sanitizer's tools, or (None) on the simulator."""
    try:
        ended = run_watched(command, environment, tool, LIMIT, run_limited)
    except subprocess.TimeoutExpired:
        return [], [f"it did not end within {LIMIT} s"], None
    if ended.returncode == SKIPPED:
        return [], None, reason_given(ended.stdout)
    if tool and NOTHING_SEEN in ended.stdout:
        return [], None, "it starts other processes that use the driver, or does not use the driver"
    found = of_compute_sanitizer(ended.stdout) if tool else of_simulator(ended.stderr)
    return found, ending(ended, 40) if ended.returncode else None, None


def unexpected(found, intended):
    """The findings that are not intended, each once."""
    return [finding for finding in dict.fromkeys(found) if not finding.startswith(tuple(intended))]


def judge_findings(found, intended, by_all):
    """What is wrong with these findings, as lines. `intended`: the beginnings of what is to be found; each tool finds its own sort of
    mistake, so that they have to be in what all of them have found."""
    missing = [one for one in intended if not any(finding.startswith(one) for finding in by_all)]
    return [f"unexpected: {finding}" for finding in unexpected(found, intended)] + [f"missing: {one}" for one in missing]


def intended_of(lesson, device, name="the program"):
    return INTENDED.get(lesson.own_name, ([], []))[device.kind == "gpu"] if name == "the program" else INTENDED_BY_CHECKS.get(lesson.own_name, [])


def case_of(answer: Answer, environment: dict[str, str], limit: int, run=run_limited) -> Case:
    """On the simulator, an answer whose results are right is looked at once more, with every check on: a test case of its own. (On a GPU, who has
    compute-sanitizer can have it look at the check that make has built.)"""
    watching = {**environment, "CUDASIM_CHECK": os.environ.get("CUDASIM_CHECK") or "all"}
    try:
        ended = run_watched([str(ROOT / answer.target)], watching, None, limit, run)
    except subprocess.TimeoutExpired:
        return Case(CASE, f"with all of the simulator's checks, it did not finish within {limit} s")
    return Case(CASE, "\n".join(unexpected(of_simulator(ended.stderr), INTENDED_BY_CHECKS.get(answer.lesson.own_name, []))) or None)
