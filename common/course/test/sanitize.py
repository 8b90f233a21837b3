"""make test SANITIZE=…: mistakes in memory, undefined behavior and data races, in the simulator or in the lessons.

address,undefined or thread   the simulator and the suites, built with the compiler's sanitizers in build/sanitize-…
the same with lessons named   the lessons' host side (host_side.py); so does valgrind
checks, compute-sanitizer     what the lessons' kernels do wrong (kernels.py)
"""

import os
import time

from course import ROOT, cases
from course.facts import facts
from course.test import host_side, kernels, shadow
from course.test.tally import Tally

# Not tests/programs and tests/compilers: they are about other people's programs, which would have to be built with sanitizers, too.
SUITES = ["simulator", "conformance", "checks", "profile", "common", "fuzz", "instructions"]
LIMIT = 3 * 3600  # seconds for a suite, and for a program that one of its cases starts: what takes a minute may take an hour


def judge_suite(suite, folder, environment, tally):
    """Runs a suite; a case that a sanitizer ends fails with its report, and the others run without it."""
    start, failed, passed = time.time(), tally.failed, tally.passed
    for case in cases.run_cases(folder / "build" / "tests" / suite / "check", environment, folder, LIMIT):
        if case.failure:
            tally.fail(f"{suite}: {case.name}", case.failure.splitlines()[-100:])
        elif case.skipped:
            tally.skip(f"{suite}: {case.name}", case.skipped)
        else:
            tally.passed += 1
    print(f"tests/{suite}: {tally.passed - passed} passed, {tally.failed - failed} failed, in {time.time() - start:.0f} s", flush=True)


def sanitized(sanitizers, suites):
    # The driver's interface is C: a program may pass any number as an enumerator, and the tests do. The
    # compilers give every number of the underlying type a meaning (nothing is built with -fstrict-enums).
    # g++ warns of the library's own std::regex where it is compiled for a sanitizer.
    flags = f"-fsanitize={sanitizers} -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1 -Wno-maybe-uninitialized"
    folder = shadow.folder(f"sanitize-{sanitizers.replace(',', '-')}")
    if not shadow.build_in(folder, [f"build/tests/{suite}/check" for suite in suites], [f"CXXFLAGS={flags}", f"LDFLAGS={flags}"]):
        return 1
    paths = {"LD_LIBRARY_PATH": f"{folder}/build/simulator", "CUDA_INCLUDE": str(ROOT / facts()["CUDA_INCLUDE"]), "CONFORMANCE_LIMIT": str(LIMIT)}
    tally = Tally({})
    for suite in suites:
        judge_suite(suite, folder, {**os.environ, **host_side.OPTIONS, **paths}, tally)
    return tally.close(f"with -fsanitize={sanitizers}")


def main(words):
    tool, *parts = words
    if tool in ("checks", "compute-sanitizer"):
        return kernels.main(tool, parts)
    if tool == "valgrind" or any((ROOT / part).is_dir() for part in set(parts).difference(SUITES)):  # common is both
        return host_side.main(tool, parts)
    return sanitized(tool, parts or SUITES)
