"""Runs Catch2 programs and pytest tests, and says what came of each test case."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

from course import ROOT
from course.interpreter import python
from course.process import how_it_ended, run_limited

UNFINISHED = "the program ended during this test case"
LIMIT = 300  # seconds for one binary; a case that hangs is stopped and named
SUITE_LIMIT = 1200  # for one of a suite
LISTING = 60  # for one that lists its cases, in which a learner's code may run, too
ALONE = "[alone]"  # the tag of cases that compare a GPU's free memory: no other case may run beside them


@dataclasses.dataclass
class Case:
    """One test case: its name, and why it failed or was skipped (both None: it passed)."""

    name: str
    failure: str | None = None
    skipped: str | None = None


def _as_asked(text, kind):
    """What a CHECK_FALSE was given: Catch2 writes !(done) and !true."""
    negated = kind.endswith("_FALSE") and re.fullmatch(r"!(?:\((.*)\)|(.*))", text, re.DOTALL)
    return (negated.group(1) or negated.group(2)) if negated else text


def _sentence(element):
    """One failed expression, exception or crash, as a line or two."""
    where = f"{element.get('filename', '').removeprefix(str(ROOT) + '/')}:{element.get('line', '')}"
    inner = (element.text or "").strip()
    crash = " ".join((child.text or "").strip() for child in element.iter("FatalErrorCondition"))
    if crash:  # Catch2 knows only which of its own lines it saw last
        return f"after {where}: {crash}, in your code or below it"
    if element.tag == "Expression":
        kind = element.get("type", "CHECK")
        original, expanded = (_as_asked((element.findtext(part) or "").strip(), kind) for part in ("Original", "Expanded"))
        expanded = re.sub(
            r"\n(==|!=|<|>|<=|>=)\n", r" \1 ", re.sub(r"\b0x0+(?=\w)", "0x", expanded)
        )  # long comparisons take three lines, handles begin with zeros
        thrown = " ".join((child.text or "").strip() for child in element if child.tag == "Exception")
        text = f"{where}: {kind}( {original} )"
        if thrown:
            return f"{text} threw: {thrown}"
        if kind.endswith(("_THROWS", "_THROWS_AS")):
            return f"{text}, and nothing was thrown"
        return text if expanded == original else f"{text} was {expanded}"
    return f"{where}: {inner}" if inner else where


def _read(path):
    """The test cases in a Catch2 XML report (2 and 3 write the same), even if it is incomplete."""
    parser = ElementTree.XMLPullParser(["start", "end"])
    with open(path, "rb") as report:
        parser.feed(report.read())
    cases, said, within = [], [], False  # an exception or a crash `within` an expression belongs to its sentence
    try:
        for event, element in parser.read_events():
            if event == "start" and element.tag == "TestCase":
                cases.append(Case(element.get("name")))
                cases[-1].failure, said = UNFINISHED, []
            elif event == "end" and element.tag == "Info":
                said.append((element.text or "").strip())
            elif element.tag == "Expression":
                within = event == "start"
                if not within and element.get("success") != "true":
                    said.append(_sentence(element))
            elif event == "end" and not within and element.tag in ("Exception", "Failure", "FatalErrorCondition"):
                said.append(_sentence(element))
            elif event == "end" and element.tag == "OverallResult":
                cases[-1].failure = None if element.get("success") == "true" else "\n".join(said) or "failed"
    except ElementTree.ParseError:
        pass
    return cases


def _quoted(name):
    """A test case's name in one of Catch2's filters."""
    return '"' + re.sub(r'([\\",])', r"\\\1", name) + '"'


FRAMES = re.compile(r"^frames:\n((?:.*\[0x[0-9a-f]+\]\n?)+)", re.MULTILINE)  # what tests/catch_main.cpp prints of a crash


def without_frames(said, binary):
    """What a test binary wrote on stderr, without the stack of a crash, and the line of the answer that is on that stack: 'exercise.cpp:12'."""
    found = FRAMES.search(said)
    if not found:
        return said, None
    frames = found.group(1).splitlines()
    # The signal's own frame is the second. The one below it has the address of the instruction that crashed, all others return addresses.
    offsets = [(re.match(re.escape(str(binary)) + r"\(\+0x([0-9a-f]+)\)", frame), number == 2) for number, frame in enumerate(frames)]
    addresses = [hex(int(match.group(1), 16) - (0 if is_exact else 1)) for match, is_exact in offsets if match]
    try:
        told = subprocess.run(["addr2line", "-i", "-e", str(binary), *addresses], capture_output=True, text=True, errors="replace", check=False).stdout
    except OSError:
        told = ""
    lines = [line.split(" (")[0] for line in told.splitlines()]
    answer = re.compile(r"(?:.*/)?(?:(?:exercise|solution)\.cpp|[^/]+\.wrong/[^/]+\.cpp):[1-9]\d*")
    place = next((os.path.basename(line) for line in lines if answer.fullmatch(line)), None)
    return FRAMES.sub("", said).strip(), place


class Run:
    """One run of a test binary: the cases it reported, how it ended, what it wrote on stderr; the last case may have ended it.

    `choice`: what Catch2 is told beside it, a filter for the cases or --abort at the first that fails. `run`: run_limited, or what encloses it.
    """

    def __init__(self, binary, environment, choice, current, limit, run=run_limited):
        self.hung = False
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.xml")
            command = [os.path.abspath(binary), "-r", "xml", "-o", report] + choice
            try:
                ended = run(command, limit, env=environment, cwd=current or folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                self.end, self.said = how_it_ended(ended.returncode), ended.stderr.strip()
                killed = ended.returncode < 0
                self.status = ended.returncode
            except subprocess.TimeoutExpired as stopped:
                self.end = f"did not end within {limit} seconds and was stopped"
                self.said, killed, self.hung, self.status = (stopped.stderr or b"").decode(errors="replace").strip(), True, True, None
            self.cases = _read(report) if os.path.exists(report) else []
        self.said, place = without_frames(self.said, os.path.abspath(binary))
        self.culprit = None
        if self.cases and (killed or self.cases[-1].failure == UNFINISHED):
            self.culprit = self.cases[-1]
            told = "" if self.culprit.failure in (None, UNFINISHED) else self.culprit.failure + "\n"
            how = f"the program {self.end} during this test case" + (f", in {place}" if place else "")
            if self.hung:
                how = f"still running after {limit} s: an infinite loop, or a wait that never ends? (later test cases were not run)"
            elif "CUDA_ERROR_LAUNCH_TIMEOUT" in self.said:  # every other case would take as long again
                how, self.hung = "a kernel does not finish (later test cases were not run)", True
            elif re.search("^terminat.* without an active exception$", self.said, re.MULTILINE):  # the C++ library says no more than that
                how += ": was a std::thread not joined?"
            elif self.status == 1 and re.search(r"^\S+:\d+: .* -> CUDA_ERROR_", self.said, re.MULTILINE):
                how += ", as CU_CHECK does; CU_THROW throws an exception instead"
            self.culprit.failure = f"{told}{how}\n{self.said}".strip()
        self.note_skips()
        if choice == ["--abort"]:  # at most one has failed, so what the simulator reports is about it
            self.add_report()
        # Catch2's own: 0 all well, 2 and 4 nothing to do or all skipped.
        if self.cases and self.status not in (None, 0, 2, 4) and not any(case.failure for case in self.cases):
            self.cases.append(Case("the test program exits normally"))
            self.cases[-1].failure = f"all cases passed, then it {self.end}\n{self.said}"

    def add_report(self):
        """Adds the simulator's last report to the failure."""
        reports = re.findall(r"^========= simulated GPU: .*\n(?:  .*\n)*", self.said + "\n", re.MULTILINE)
        for case in self.cases:
            if case.failure and reports and reports[-1].rstrip() not in case.failure:
                case.failure += "\n" + reports[-1].rstrip()

    def note_skips(self):
        """The reasons of the cases that were skipped, which they have written on stderr."""
        for case in self.cases:
            skip = f"SKIPPED: {case.name}: "
            reasons = [line[len(skip) :] for line in self.said.splitlines() if line.startswith(skip)]
            if reasons and not case.failure:
                case.skipped = reasons[0]


ANY = "*"  # for `until`: whichever fails first


def run_cases(binary, environment, current=None, limit=LIMIT, until=None, only=None, run=run_limited):
    """Every test case of a Catch2 binary, run in the folder `current` (none: an empty one, since images are found without it).

    A case that ends the program fails, and the others run without it; one that hangs, longer than `limit` seconds, is the last.
    `until`: the test case to begin with, or ANY; if it fails, the others need not be run. `only`: the one to run.
    """
    finished, culprits = {}, []
    if until:
        first = Run(binary, environment, ["--abort"] if until == ANY else [_quoted(until)], current, limit, run)
        if first.cases and (until == ANY or any(case.failure for case in first.cases)):
            return first.cases
    while True:
        choice = _quoted(only) if only else "".join("~" + _quoted(name) for name in culprits)
        ran = Run(binary, environment, [choice] if choice else [], current, limit, run)
        if not ran.cases and not culprits:
            broken = Case(only or "the test program starts")
            broken.failure = f"{binary} {ran.end}\n{ran.said}"
            return [broken]
        for case in ran.cases:
            finished.setdefault(case.name, case)
        if only or not ran.culprit or ran.hung or ran.culprit.name in culprits:
            return list(finished.values())
        culprits.append(ran.culprit.name)


def run_side_by_side(binary, environment, current, limit, processes):
    """As run_cases, each case in a process of its own, and so many of them at a time. On a GPU, a case mostly waits for the driver: for its
    compiler, or for a context."""
    names = case_names(binary, environment)
    if not names:
        return run_cases(binary, environment, current, limit)  # which says why it does not start
    alone = set(case_names(binary, environment, ALONE))

    def run(name):
        return run_cases(binary, environment, current, limit, only=name)

    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        together = list(pool.map(run, [name for name in names if name not in alone]))
    return [case for cases in together + [run(name) for name in names if name in alone] for case in cases]


def case_names(binary: pathlib.Path, environment: dict[str, str], choice: str = "") -> list[str]:
    """The names of a binary's test cases, or of those that `choice` takes."""
    for listing in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):  # Catch2 2, Catch2 3
        try:
            told = run_limited([binary, *listing, *([choice] if choice else [])], LISTING, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return []
        names = told.stdout.splitlines()
        if names and told.returncode in (0, len(names) % 256):
            return [name for name in names if name.strip()]
    return []


def run_pytest(folder, environment, limit=LIMIT, until=None, more=(), run=run_limited):
    """Every test of a folder's test_*.py, or of one file, and of `more` files, by the sentence that its name is: test_half_types_are_kept is
    "half types are kept".

    tell.py writes each result at once, so a test that ends the program, or hangs, is known by name. Such a test fails, as does one whose kernel
    faults, and the others run without it. A test that hangs, or whose kernel does not end, is the last.
    `until`: the test to begin with, or ANY; if it fails, the others need not be run.
    """
    cases, again = {}, True
    while again and not any(case.failure and until in (case.name, ANY) for case in cases.values()):
        again = _run_pytest([folder, *more], dict(environment, DONE=json.dumps(list(cases)), FIRST=until or ""), limit, cases, run)
    return list(cases.values())


def _run_pytest(places_of_tests, environment, limit, cases, run=run_limited):
    """Adds to `cases`; true if the tests that are left can be run in a new program."""
    hung = False
    with tempfile.TemporaryDirectory() as empty:
        told = os.path.join(empty, "told")
        places = [environment.get("PYTHONPATH", ""), str(ROOT / "common")]
        first = places_of_tests[0]
        command = [python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "course.tell"]
        command += ["--rootdir", *map(str, [first if os.path.isdir(first) else os.path.dirname(first), *places_of_tests])]
        try:
            ended = run(
                command, limit, cwd=empty, env=dict(environment, TOLD=told, PYTHONPATH=os.pathsep.join(filter(None, places))),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            how, said = f"the program {how_it_ended(ended.returncode)} during this test case", ended.stdout.strip()
        except subprocess.TimeoutExpired as stopped:
            how = f"still running after {limit} s: an infinite loop, or a wait that never ends? (later tests were not run)"
            said, hung = (stopped.stdout or b"").decode(errors="replace").strip(), True
        running, faulty = None, False
        for line in open(told, encoding="utf-8") if os.path.exists(told) else []:
            name, outcome, why = json.loads(line)
            case = cases.setdefault(name, Case(name))
            running = name if outcome == "begins" else None
            faulty = outcome == "faulty"
            if outcome == "failed":
                case.failure = case.failure or why
            elif outcome == "skipped":
                case.skipped = why
    if running:
        cases[running].failure = f"{how}\n{said}"
    if not cases:
        cases["the tests start"] = Case("the tests start")
        cases["the tests start"].failure = said or how
    if faulty and "launch timed out" in case.failure:  # every other test would take as long again
        case.failure += "\n(later tests were not run)"
        return False
    return faulty or running and not hung


def names_in_python(files: list[pathlib.Path]) -> list[str]:
    """The sentences of a check in Python, in the order of its files."""
    found = []
    for file in files:
        found += [name.replace("_", " ") for name in re.findall(r"^def test_(\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE)]
    return found
