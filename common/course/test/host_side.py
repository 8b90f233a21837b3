"""make test SANITIZE=address,undefined 02-context (or SANITIZE=valgrind): the lessons in C++, on the host's side.

Each lesson's program, and its check with the solution, runs with the compiler's sanitizers or under valgrind, which find memory that the
program itself misuses, leaks, and undefined behavior. (kernels.py is about what kernels do wrong.) The simulator is the ordinary one,
since its own suites judge it. Ends with "N passed, N failed, N skipped", as make test.
"""

import concurrent.futures
import os
import shutil
import subprocess
import tempfile

from course import ROOT
from course.build import SIMULATOR
from course.faults import LIMIT
from course.lessons import lessons
from course.process import SKIPPED, ending, reason_given, run_limited
from course.test import shadow
from course.test.tally import Tally, why_not

VALGRIND = [
    "valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
    "--fair-sched=yes", f"--suppressions={ROOT}/tests/valgrind.supp",
]  # fmt: skip
# A failed allocation is a result that lessons handle: some ask for absurd sizes.
OPTIONS = {
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


def ended_well(command, environment):
    """What is wrong, as lines, or None; and why it was skipped, or None."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            ended = run_limited(command, LIMIT, cwd=empty, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return None, f"it takes more than {LIMIT} s here"
    if ended.returncode == SKIPPED:
        return None, reason_given(ended.stdout)
    return ending(ended, 60) if ended.returncode else None, None


def main(tool, parts):
    wrapper = VALGRIND if tool == "valgrind" else []
    if wrapper and not shutil.which("valgrind"):
        print("skipped: valgrind is not installed here. On Debian and Ubuntu: apt-get install valgrind")
        return 0
    reasons = {lesson: why_not(lesson) for lesson in lessons(parts)}
    able = [lesson for lesson, reason in reasons.items() if not reason]
    targets = {}
    for lesson in able:
        targets[f"{lesson}: the program"] = (lesson, lesson.built()[0])
        targets[f"{lesson}: the check of the solution"] = (lesson, lesson.solution.target)
    folder = shadow.folder(f"host-side-{tool.replace(',', '-')}", ["build/simulator"])
    sanitizers = f"-fsanitize={tool} -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -w"
    wanted = [SIMULATOR] + [target for _, target in targets.values()]
    if not shadow.build_in(folder, wanted, [] if wrapper else [f"HOST_FLAGS={sanitizers}"]):
        return 1
    before = os.environ.get("LD_LIBRARY_PATH", "")
    path = {"LD_LIBRARY_PATH": f"{folder}/build/simulator:{before}".rstrip(":")}
    tally = Tally(reasons)
    # valgrind runs one thread at a time, so two programs do not disturb each other.
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() if wrapper else 1) as pool:
        came = {
            name: pool.submit(ended_well, [*wrapper, str(folder / target)], {**lesson.settings, **os.environ, **OPTIONS, **path})
            for name, (lesson, target) in targets.items()
        }
        for name, future in came.items():
            wrong, skipped = future.result()
            if wrong:
                tally.fail(name, wrong)
            elif skipped:
                tally.skip(name, skipped)
            else:
                tally.passed += 1
    return tally.close(f"the lessons' programs and solutions, {tool}")
