# make test SANITIZE=address,undefined (or thread): the simulator and the suites with the compiler's sanitizers, built in a folder of their own,
# build/sanitize-…. Ends with 1 if a suite fails or a sanitizer has something to say.
#
# Where chapters or lessons are named, or valgrind instead of the compiler's, it is tests/host_side.py that works; for checks (the
# simulator's own) and compute-sanitizer, tests/device_side.py.
#
#   tests/sanitize.py SANITIZERS [SUITE… | LESSON…]     if none is named, all SUITES
import os
import sys
import time

import checks
import course  # PYTHONPATH: the Makefile
import device_side
import host_side
import shadow
import under

# Not tests/programs and tests/compilers: they are about other people's programs, which would have to be built with sanitizers, too.
SUITES = ["simulator", "conformance", "checks", "profile", "common", "fuzz", "instructions"]
LIMIT = 3 * 3600  # seconds for a suite, and for a program that one of its cases starts: what takes a minute may take an hour


def judge(suite, folder, environment, tally):
    """Runs a suite; a case that a sanitizer ends fails with its report, and the others run without it."""
    start, failed, passed = time.time(), tally.failed, tally.passed
    for case in checks.run_cases(folder / "build" / "tests" / suite / "check", environment, folder, LIMIT):
        if case.failure:
            tally.fail(f"{suite}: {case.name}", case.failure.splitlines()[-100:])
        elif case.skipped:
            tally.skip(f"{suite}: {case.name}", case.skipped)
        else:
            tally.passed += 1
    print(f"tests/{suite}: {tally.passed - passed} passed, {tally.failed - failed} failed, in {time.time() - start:.0f} s", flush=True)


def main(sanitizers, suites):
    # The driver's interface is C: a program may hand over any number where an enumerator is wanted, and the tests do. The
    # compilers give every number of the underlying type a meaning (nothing is built with -fstrict-enums).
    # g++ warns of the library's own std::regex where it is compiled for a sanitizer.
    flags = f"-fsanitize={sanitizers} -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1 -Wno-maybe-uninitialized"
    folder = shadow.folder(f"sanitize-{sanitizers.replace(',', '-')}")
    if not shadow.build(folder, [f"build/tests/{suite}/check" for suite in suites], [f"CXXFLAGS={flags}", f"LDFLAGS={flags}"]):
        return 1
    paths = {"LD_LIBRARY_PATH": f"{folder}/build/simulator", "CUDA_INCLUDE": course.setup()["CUDA_INCLUDE"], "CONFORMANCE_LIMIT": str(LIMIT)}
    tally = under.Tally({})
    for suite in suites:
        judge(suite, folder, {**os.environ, **host_side.OPTIONS, **paths}, tally)
    return tally.close(f"with -fsanitize={sanitizers}")


if __name__ == "__main__":
    tool, *parts = sys.argv[1:]
    if tool in ("checks", "compute-sanitizer"):
        sys.exit(device_side.main(tool, parts))
    if tool == "valgrind" or any((course.ROOT / part).is_dir() for part in parts):
        sys.exit(host_side.main(tool, parts))
    sys.exit(main(tool, parts or SUITES))
