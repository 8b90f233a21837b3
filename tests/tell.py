# A plug-in of pytest: writes what came of each test into the file that $TOLD names, a line of JSON as it comes (tests/checks.py reads them),
# and the fixture `answer`: the learner's module, or the path of the library or the PTX that was built from the learner's C++ or CUDA.
import importlib.util
import json
import os
import sys

import pytest


def tell(node, outcome, why=""):
    """The test's name is a sentence; those that pytest repeats with other parameters are one."""
    name = node.split("::")[-1].split("[")[0].removeprefix("test_").replace("_", " ")
    with open(os.environ["TOLD"], "a", encoding="utf-8") as told:
        told.write(json.dumps([name, outcome, why]) + "\n")


def pytest_runtest_logstart(nodeid):
    tell(nodeid, "begins")


def pytest_runtest_logreport(report):
    if report.skipped:
        tell(report.nodeid, "skipped", report.longrepr[2].removeprefix("Skipped: "))
    elif report.failed:
        tell(report.nodeid, "failed", in_short(report))
    elif report.when == "teardown":
        tell(report.nodeid, "ends")


def pytest_collectreport(report):
    if report.failed:
        tell("test_the_tests_can_be_loaded", "failed", str(report.longrepr))


def in_short(report):
    """The assertion's lines, without the test's source above them."""
    lines = report.longreprtext.splitlines()
    told = [line[1:].strip() for line in lines if line.startswith("E ") and not line[1:].strip().startswith("+")]
    place = getattr(report.longrepr, "reprcrash", None)
    return "\n".join(([f"{os.path.basename(place.path)}:{place.lineno}:"] if place else []) + (told or lines[-3:]))


@pytest.fixture(scope="session")
def answer():
    file = os.environ["ANSWER"]
    if not file.endswith(".py"):
        return file
    spec = importlib.util.spec_from_file_location("answer", file)
    module = sys.modules["answer"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
