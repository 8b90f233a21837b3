"""make test SANITIZE=checks 04-kernels (or SANITIZE=compute-sanitizer): what the lessons' kernels do wrong, and what is never freed.

On the simulator, its own checks look for it (CUDASIM_CHECK=all), on a GPU the four tools of compute-sanitizer. Each lesson's program runs, and
on the simulator its check with the solution, too (on a GPU these would take longer than everything else).

Faults that a lesson shows on purpose are listed here, and must be found; no others may be. What compute-sanitizer says about calls that return
an error is left out: lessons make such calls on purpose. Ends with "N passed, N failed, N skipped", as make test.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess

from course import ROOT, judge, under
from course.build import Build
from course.device import choose_device
from course.lessons import has_kernels, is_python, lessons
from course.process import SKIPPED, reason_given

# What each lesson's program shows on purpose: as the simulator's report calls it, and as compute-sanitizer does.
INTENDED = {
    "02-context/04-ownership": (["not released"], ["Leaked"]),
    "02-context/02-scope": (["not released"], ["Leaked"]),
    "02-context/09-two-contexts": (["illegal address"], ["Invalid __global__ write", "Leaked"]),
    "03-memory/13-leaks": (["not released"], ["Leaked"]),
    "04-kernels/03-vector-add": (["illegal address"], ["Invalid __global__ read"]),
    # Of volatile words, which the simulator takes for atomic.
    "04-kernels/08-warps": ([], ["Warning: Race reported between Read access at void hand_over<(bool)0>"]),
    # racecheck does not follow an order that passes through __syncwarp and one lane's arrival at an mbarrier, or through two mbarriers; the
    # fourth pair of accesses is to different words. The simulator's check accepts all of them.
    "04-kernels/24-scan-and-histogram": (
        [],
        [
            "Error: Race reported between Read access at scan_parts(",
            "Error: Race reported between Write access at sum_tiles(",
            "Error: Race reported between Write access at load_tiles(",
            "Error: Race reported between Read access at Tile<(int)4>::combine_warps(",
        ],
    ),
    "04-kernels/10-errors-come-late": (["illegal address"], ["Invalid __global__ write", "Warp assert", "Leaked"]),
    "04-kernels/17-mini-runtime": (["not released"], []),  # a runtime keeps its module and the primary context until the end
}
# The check of the exercise finds these even in a correct solution: destroying a context frees what is left in it.
INTENDED_BY_CHECKS = {
    "02-context/03-current": ["not released"],
    "02-context/04-ownership": ["not released"],
    "02-context/05-primary": ["not released"],
    "02-context/02-scope": ["not released"],
    "02-context/07-runtime-interop": ["not released"],
    "02-context/09-two-contexts": ["not released"],
    "03-memory/13-leaks": ["not released"],
    "04-kernels/01-first-launch": ["illegal address"],
    "04-kernels/10-errors-come-late": ["illegal address"],
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


def watched(command, environment, tool):
    """(findings, how it failed, as lines, or None, why it was skipped or None) of a program under one of compute-sanitizer's tools, or (None) on the simulator."""
    wrapper = ["compute-sanitizer", "--tool", tool, "--print-limit", "20", *TOOLS[tool]] if tool else []
    ended = under.run(wrapper + command, environment, subprocess.STDOUT if tool else subprocess.PIPE)
    if ended is None:
        return [], [f"it did not end within {under.LIMIT} s"], None
    if ended.returncode == SKIPPED:
        return [], None, reason_given(ended.stdout)
    if tool and NOTHING_SEEN in ended.stdout:
        return [], None, "it starts other processes that use the driver, or does not use the driver"
    found = of_compute_sanitizer(ended.stdout) if tool else of_simulator(ended.stderr)
    return found, under.how(ended, 40) if ended.returncode else None, None


def tools_for(lesson, device):
    """Without kernels of its own, a lesson's program can only forget to give something back."""
    if device.kind == "simulator":
        return [None]
    return list(TOOLS) if has_kernels(lesson) else ["memcheck"]


def unexpected(found, intended):
    """The findings that are not intended, each once."""
    return [finding for finding in dict.fromkeys(found) if not finding.startswith(tuple(intended))]


def judge_findings(found, intended, by_all):
    """What is wrong with these findings, as lines. `intended`: the beginnings of what is to be found; each tool finds its own sort of
    mistake, so that they have to be in what all of them have found."""
    missing = [one for one in intended if not any(finding.startswith(one) for finding in by_all)]
    return [f"unexpected: {finding}" for finding in unexpected(found, intended)] + [f"missing: {one}" for one in missing]


def intended_of(lesson, device, name="the program"):
    return INTENDED.get(lesson, ([], []))[device.kind == "gpu"] if name == "the program" else INTENDED_BY_CHECKS.get(lesson, [])


def case_of(lesson, variant, device):
    """On the simulator, an answer whose results are right is looked at once more, with every check on: a test case of its own. On a GPU it is
    None; who has compute-sanitizer can have it look at the check that make has built."""
    if device.kind != "simulator" or is_python(lesson):
        return None
    environment = dict(device.environment_for(lesson), CUDASIM_CHECK=os.environ.get("CUDASIM_CHECK") or "all")
    found, _, _ = watched([str(ROOT / judge.binary_of(lesson, variant))], environment, None)
    case = judge.Case(CASE)
    case.failure = "\n".join(unexpected(found, intended_of(lesson, device, "the answer's check"))) or None
    return case


def main(wish, parts):
    device = choose_device()
    print(device.headline(), flush=True)
    if (wish == "compute-sanitizer") != (device.kind == "gpu"):
        print("skipped: " + ("compute-sanitizer needs a GPU" if device.kind == "simulator" else "these checks need the simulator: DEVICE=simulator"))
        return 0
    if device.kind == "gpu" and not shutil.which("compute-sanitizer"):
        print("skipped: compute-sanitizer is not on the PATH. It is in the folder bin of the CUDA toolkit")
        return 0
    reasons = {lesson: under.why_not(lesson) for lesson in lessons(parts)}
    able = [lesson for lesson, reason in reasons.items() if not reason]
    binaries = {(lesson, "the program"): f"build/{lesson}/main" for lesson in able}
    if device.kind == "simulator":
        binaries.update({(lesson, "the solution's check"): judge.binary_of(lesson, "solution") for lesson in able})
    if Build(list(binaries.values())).failed:
        return 1
    tally = under.Tally(reasons)
    # A GPU's programs mostly wait for each other and for the tool; the simulator's take the cores.
    with concurrent.futures.ThreadPoolExecutor(max_workers=12 if device.kind == "gpu" else os.cpu_count()) as pool:
        work = {}
        for (lesson, name), binary in binaries.items():
            environment = {**device.environment_for(lesson), "CUDASIM_CHECK": "all"}
            for tool in tools_for(lesson, device):
                work[lesson, name, tool] = pool.submit(watched, [str(ROOT / binary)], environment, tool)
        by_all = {}  # by lesson and name
        for (lesson, name, _), future in work.items():
            by_all.setdefault((lesson, name), []).extend(future.result()[0])
        for (lesson, name, tool), future in work.items():
            found, wrong, why_not = future.result()
            told = f"{lesson}: {name}" + (f" under {tool}" if tool else "")
            if why_not:
                tally.skip(told, why_not)
                continue
            intended = intended_of(lesson, device, name)
            problems = judge_findings(found, intended, by_all[lesson, name])
            # Under compute-sanitizer, memory usage and error codes differ from what the lesson expects.
            otherwise = tool and (intended or judge.looks_at_free_memory(lesson))
            problems += wrong if wrong and not otherwise else []
            if problems:
                tally.fail(told, problems)
            else:
                tally.passed += 1
    return tally.close("what the lessons' kernels do, with every check on")
