# make test SANITIZE=address,undefined (or thread): the simulator and the suites with the compiler's sanitizers, built in a folder of their own,
# build/sanitize-…. Ends with 1 if a suite fails or a sanitizer has something to say.
#
# Where chapters or lessons are named, or valgrind instead of the compiler's, it is tests/host_side.py that works; for checks (the
# simulator's own) and compute-sanitizer, tests/device_side.py.
#
#   tests/sanitize.py SANITIZERS [SUITE… | LESSON…]     SUITE: simulator conformance instructions, if none is named all three
import os
import subprocess
import sys

import course  # PYTHONPATH: the Makefile
import device_side
import host_side
import shadow

SUITES = ["simulator", "conformance", "instructions"]


def run(suite, folder, environment):
    """Whether a suite passes, and nothing is found. What it wrote stands in build/<suite>.log, and the end of it here."""
    log = folder / "build" / f"{suite}.log"
    with open(log, "w", encoding="utf-8") as written:
        ended = subprocess.run([f"build/tests/{suite}/check"], cwd=folder, env=environment, stdout=written, stderr=subprocess.STDOUT, check=False)
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    print("\n".join(said[-2 if ended.returncode == 0 else -100 :]), flush=True)
    return ended.returncode == 0


def main(sanitizers, suites):
    # The driver's interface is C: a program may hand over any number where an enumerator is wanted, and the tests do. The
    # compilers give every number of the underlying type a meaning (nothing is built with -fstrict-enums).
    flags = f"-fsanitize={sanitizers} -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1"
    folder = shadow.folder(f"sanitize-{sanitizers.replace(',', '-')}")
    if not shadow.build(folder, [f"build/tests/{suite}/check" for suite in suites], [f"CXXFLAGS={flags}", f"LDFLAGS={flags}"]):
        return 1
    environment = {**os.environ, **host_side.OPTIONS, "LD_LIBRARY_PATH": "build/simulator", "CUDA_INCLUDE": ""}
    right = True
    for suite in suites:
        print(f"tests/{suite} with -fsanitize={sanitizers}", flush=True)
        right &= run(suite, folder, environment)
    return 0 if right else 1


if __name__ == "__main__":
    tool, *parts = sys.argv[1:]
    if tool in ("checks", "compute-sanitizer"):
        sys.exit(device_side.main(tool, parts))
    if tool == "valgrind" or any((course.ROOT / part).is_dir() for part in parts):
        sys.exit(host_side.main(tool, parts))
    sys.exit(main(tool, parts or SUITES))
