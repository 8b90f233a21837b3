"""make test SANITIZE=checks 04-kernels (or SANITIZE=compute-sanitizer): what the lessons' kernels do wrong, and what is never freed.

Each lesson's program runs, and on the simulator its check with the solution, too (on a GPU these would take longer than everything else).
Ends with "N passed, N failed, N skipped", as make test.
"""

import concurrent.futures
import os
import shutil

from course import ROOT
from course.build import Build
from course.device import choose_device
from course.faults import TOOLS, intended_of, judge_findings, watched
from course.lessons import lessons
from course.test.tally import Tally, why_not


def tools_for(lesson, device):
    """Without kernels of its own, a lesson's program can only forget to give something back."""
    if device.kind == "simulator":
        return [None]
    return list(TOOLS) if lesson.has_kernels else ["memcheck"]


def main(wish, parts):
    device = choose_device()
    print(device.headline(), flush=True)
    if (wish == "compute-sanitizer") != (device.kind == "gpu"):
        print("skipped: " + ("compute-sanitizer needs a GPU" if device.kind == "simulator" else "these checks need the simulator: DEVICE=simulator"))
        return 0
    if device.kind == "gpu" and not shutil.which("compute-sanitizer"):
        print("skipped: compute-sanitizer is not on the PATH. It is in the folder bin of the CUDA toolkit")
        return 0
    reasons = {lesson: why_not(lesson) for lesson in lessons(parts)}
    able = [lesson for lesson, reason in reasons.items() if not reason]
    binaries = {(lesson, "the program"): lesson.built()[0] for lesson in able}
    if device.kind == "simulator":
        binaries.update({(lesson, "the solution's check"): lesson.solution.target for lesson in able})
    if Build(list(binaries.values())).failed:
        return 1
    tally = Tally(reasons)
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
            found, wrong, skipped = future.result()
            told = f"{lesson}: {name}" + (f" under {tool}" if tool else "")
            if skipped:
                tally.skip(told, skipped)
                continue
            intended = intended_of(lesson, device, name)
            problems = judge_findings(found, intended, by_all[lesson, name])
            # Under compute-sanitizer, memory usage and error codes differ from what the lesson expects.
            otherwise = tool and (intended or lesson.looks_at_free_memory)
            problems += wrong if wrong and not otherwise else []
            if problems:
                tally.fail(told, problems)
            else:
                tally.passed += 1
    return tally.close("what the lessons' kernels do, with every check on")
