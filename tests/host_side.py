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
import subprocess
import sys
import tempfile

import checks  # PYTHONPATH: the Makefile
import course

LIMIT = 300  # seconds for one program; valgrind takes up to a hundred times as long as the program alone
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


def shadow(tool, shared):
    """A folder that looks like the repository, with a build/ of its own for what is built with other flags; `shared`: of our build/."""
    folder = course.ROOT / "build" / f"host-side-{tool.replace(',', '-')}"
    (folder / "build" / "parsed" / "common").mkdir(parents=True, exist_ok=True)
    for name in [entry.name for entry in course.ROOT.iterdir() if not entry.name.startswith(".") and entry.name != "build"] + shared:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(course.ROOT / name)
    return folder


def build(folder, targets, flags):
    """Builds them in the folder; false if one could not be built, which make has then told."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("INSIDE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    make = [os.environ.get("MAKE_COMMAND", "make"), "--no-print-directory", "-C", str(folder)]
    return subprocess.run(make + flags + targets, env=inherited, check=False).returncode == 0


def ended_well(command, environment):
    """(None, None) or what is wrong, or why it was skipped."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            ended = course.run_limited(command, LIMIT, cwd=empty, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return None, f"it takes more than {LIMIT} s here"
    if ended.returncode == course.SKIPPED:
        return None, course.reason_given(ended.stdout)
    if ended.returncode == 0:
        return None, None
    said = ended.stdout.strip().splitlines()
    return "\n".join([course.how_it_ended(ended.returncode)] + said[-60:]), None


def main(tool, parts):
    under = VALGRIND if tool == "valgrind" else []
    if under and not shutil.which("valgrind"):
        print("skipped: valgrind is not installed here. On Debian and Ubuntu: apt-get install valgrind")
        return 0
    chosen = course.lessons(parts)
    able = [lesson for lesson in chosen if not course.is_python(lesson) and not course.why_not(lesson, for_check=True)]
    targets = {}
    for lesson in able:
        targets[f"{lesson}: the program"] = (lesson, f"build/{lesson}/main")
        targets[f"{lesson}: the check of the solution"] = (lesson, checks.binary_of(lesson, "solution"))
    other_simulator = bool(under) and too_new_for_valgrind()
    folder = shadow(tool, [] if other_simulator else ["build/simulator", "build/flags.simulator", "build/parsed/common/simulator"])
    flags = ["SIM_ARCH=-march=x86-64-v3"] if other_simulator else [] if under else [f"HOST_FLAGS=-fsanitize={tool} -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -w"]
    if not build(folder, ["build/simulator/libcuda.so"] + [target for _, target in targets.values()], flags):
        return 1
    before = os.environ.get("LD_LIBRARY_PATH", "")
    path = {"LD_LIBRARY_PATH": f"{folder}/build/simulator:{before}".rstrip(":")}
    passed, failed, skipped = 0, 0, [(lesson, "its program is Python") for lesson in chosen if lesson not in able]
    # valgrind runs one thread at a time, so two programs do not disturb each other.
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() if under else 1) as pool:
        came = {
            name: pool.submit(ended_well, [*under, str(folder / target)], {**course.settings(lesson), **os.environ, **OPTIONS, **path})
            for name, (lesson, target) in targets.items()
        }
        for name, future in came.items():
            wrong, why_not = future.result()
            if wrong:
                failed += 1
                print(f"FAILED: {name}\n" + "\n".join("        " + line for line in wrong.splitlines()), flush=True)
            elif why_not:
                skipped.append((name, why_not))
            else:
                passed += 1
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped: the lessons' programs and solutions, {tool}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
