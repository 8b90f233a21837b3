"""A plug-in for pytest, with which course/cases.py runs the tests of lessons in Python and those under tests/tools and tests/doctor.

It writes what came of each test into the file that $TOLD names, a line of JSON at a time. It leaves out the tests in $DONE, begins with $FIRST and
stops if that one fails (*: any). After a test in which a kernel faults it ends the program, because every later call would fail. The fixture
`answer` is the learner's module, or the path of the library or the PTX that was built from the learner's C++ or CUDA.
"""

import importlib.util
import json
import os
import re
import sys

import pytest

# What the simulator reports, and the driver's words for what a context does not survive.
REPORT = re.compile(r"^========= simulated GPU: .*\n(?:  .*\n)*", re.MULTILINE)
FAULT = re.compile(r"illegal memory access|illegal instruction|misaligned address|launch failure|launch timed out|device-side assert", re.IGNORECASE)
faulty = False


def sentence(node):
    """The test's name is a sentence; those that pytest repeats with other parameters are one."""
    return node.split("::")[-1].split("[")[0].removeprefix("test_").replace("_", " ")


def tell(node, outcome, why=""):
    with open(os.environ["TOLD"], "a", encoding="utf-8") as told:
        told.write(json.dumps([sentence(node), outcome, why]) + "\n")


def pytest_collection_modifyitems(items):
    done = json.loads(os.environ.get("DONE", "[]"))
    items[:] = [item for item in items if sentence(item.nodeid) not in done]
    items.sort(key=lambda item: sentence(item.nodeid) != os.environ.get("FIRST"))


def pytest_runtest_logstart(nodeid):
    tell(nodeid, "begins")


def pytest_runtest_logreport(report):
    global faulty
    if report.skipped:
        tell(report.nodeid, "skipped", report.longrepr[2].removeprefix("Skipped: "))
    elif report.failed:
        told = in_short(report)
        tell(report.nodeid, "failed", told)
        faulty = faulty or REPORT.search(told + "\n") or FAULT.search(told)
    elif report.when == "teardown":
        tell(report.nodeid, "ends")
    if faulty and report.when == "teardown":
        tell(report.nodeid, "faulty")
        os._exit(1)
    if report.failed and os.environ.get("FIRST") in (sentence(report.nodeid), "*"):
        pytest.exit("that is enough", 1)


def pytest_collectreport(report):
    if report.failed:
        tell("test_the_tests_can_be_loaded", "failed", str(report.longrepr))


def in_short(report):
    """The assertion's lines, without the test's source above them, and what the simulated GPU had to report."""
    lines = report.longreprtext.splitlines()
    told = [line[1:].strip() for line in lines if line.startswith("E ") and not line[1:].strip().startswith("+")]
    place = getattr(report.longrepr, "reprcrash", None)
    return "\n".join(([f"{os.path.basename(place.path)}:{place.lineno}:"] if place else []) + (told or lines[-3:]) + REPORT.findall(report.capstderr)).rstrip()


@pytest.fixture(scope="session")
def answer():
    file = os.environ["ANSWER"]
    if not file.endswith(".py"):
        return file
    spec = importlib.util.spec_from_file_location("answer", file)
    module = sys.modules["answer"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
