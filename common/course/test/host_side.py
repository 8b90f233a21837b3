# make test SANITIZE=address,undefined IN=02-context (or SANITIZE=valgrind): the lessons in C++, each lesson's program and its
# check with the solution, with the compiler's sanitizers or under valgrind. Memory that the program itself misuses, what it
# leaks, undefined behaviour: on the host's side. (What kernels do wrong is tests/device_side.py's matter.)
#
# The simulator is the ordinary one (it is judged by its own suites); valgrind, which knows no AVX-512, gets one without where the
# CPU has it. Ends with "N passed, N failed, N skipped", as make test.
import concurrent.futures
import os
import pathlib
import shutil

import checks  # PYTHONPATH: the Makefile
import course
import shadow
import under

VALGRIND = [
    "valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
    "--fair-sched=yes", f"--suppressions={course.ROOT}/tests/valgrind.supp",
]  # fmt: skip
# An allocation that fails is an answer, and lessons ask for absurd sizes.
OPTIONS = {
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


def too_new_for_valgrind():
    return "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")


def ended_well(command, environment):
    """What is wrong, as lines, or None; and why it was skipped, or None."""
    ended = under.run(command, environment)
    if ended is None:
        return None, f"it takes more than {under.LIMIT} s here"
    if ended.returncode == course.SKIPPED:
        return None, course.reason_given(ended.stdout)
    return under.how(ended, 60) if ended.returncode else None, None


def main(tool, parts):
    wrapper = VALGRIND if tool == "valgrind" else []
    if wrapper and not shutil.which("valgrind"):
        print("skipped: valgrind is not installed here. On Debian and Ubuntu: apt-get install valgrind")
        return 0
    reasons = {lesson: under.why_not(lesson) for lesson in course.lessons(parts)}
    able = [lesson for lesson, reason in reasons.items() if not reason]
    targets = {}
    for lesson in able:
        targets[f"{lesson}: the program"] = (lesson, f"build/{lesson}/main")
        targets[f"{lesson}: the check of the solution"] = (lesson, checks.binary_of(lesson, "solution"))
    other_simulator = bool(wrapper) and too_new_for_valgrind()
    folder = shadow.folder(f"host-side-{tool.replace(',', '-')}", [] if other_simulator else ["build/simulator", "build/flags.simulator", "build/parsed/common/simulator"])
    flags = ["SIM_ARCH=-march=x86-64-v3"] if other_simulator else [] if wrapper else [f"HOST_FLAGS=-fsanitize={tool} -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -w"]
    if not shadow.build(folder, ["build/simulator/libcuda.so"] + [target for _, target in targets.values()], flags):
        return 1
    before = os.environ.get("LD_LIBRARY_PATH", "")
    path = {"LD_LIBRARY_PATH": f"{folder}/build/simulator:{before}".rstrip(":")}
    tally = under.Tally(reasons)
    # valgrind runs one thread at a time, so two programs do not disturb each other.
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() if wrapper else 1) as pool:
        came = {
            name: pool.submit(ended_well, [*wrapper, str(folder / target)], {**course.settings(lesson), **os.environ, **OPTIONS, **path})
            for name, (lesson, target) in targets.items()
        }
        for name, future in came.items():
            wrong, why_not = future.result()
            if wrong:
                tally.fail(name, wrong)
            elif why_not:
                tally.skip(name, why_not)
            else:
                tally.passed += 1
    return tally.close(f"the lessons' programs and solutions, {tool}")
