"""make grade SUBMISSIONS=folder: judges the exercises of a class.

Each folder in SUBMISSIONS is one student's. It contains exercise files in any of these places: 02-context/06-threads/exercise.cpp,
06-threads/exercise.cpp, 02-06/exercise.cpp, or 02-06.cpp; a whole copy of the course will do. Submissions are compiled and run on the
simulated GPU, in an enclosure (enclosure.py), several at a time. Results are in build/grade/.
"""

from __future__ import annotations

import concurrent.futures
import csv
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
import time

from course import ROOT, build, check, enclosure, exercise, faults, judge, mistakes, typed, verdict
from course.device import choose_device
from course.lessons import heading, is_python, lessons, number
from course.possible import setup, why_not
from course.process import git

RESULTS = ROOT / "build" / "grade"
LARGEST = 1 << 20  # bytes of an exercise
MOST_FILES = 20000  # that are looked at in one student's folder
COMPILE_LIMIT = 120  # seconds
NAMES = re.compile(r"exercise\.(cpp|cu|py)|(\d\d)[-_.](\d\d)\b.*\.(cpp|cu|py)")
ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH")  # what a student's program gets of ours
FORGED = "the report was not written by the check"


@dataclasses.dataclass
class Submission:
    """One exercise of one student, and what came of it."""

    student: str
    lesson: str
    path: pathlib.Path | None = None
    status: str = "not handed in"  # solved, wrong, does not compile, stopped, forged, not begun, not judged
    passed: int = 0
    cases: int = 0
    failures: dict = dataclasses.field(default_factory=dict)
    why: str = ""  # the first failure, the compiler's first error, or why it was stopped
    mistake: str = ""
    explanation: str = ""
    seconds: float = 0.0


# ---- what was handed in --------------------------------------------------------------------------------------------------


def readable(text):
    """Text of a student's program for a terminal or a table: without control characters."""
    return "".join(character if character.isprintable() or character == "\n" else "?" for character in text)


def lesson_of(path):
    """The lesson that a file's path below a student's folder names; None if it names none, or several."""
    found = NAMES.fullmatch(path.name)
    if not found:
        return None
    parents = list(path.parent.parts)
    names = ["/".join(parents[-2:]), *parents[-1:], *parents[-2:-1]] if found.group(1) else [f"{found.group(2)}-{found.group(3)}"]
    for name in names:
        meant = [lesson for lesson in typed.meant_by(name) if lesson in lessons()]
        if len(meant) == 1:
            return meant[0]
    return None


def files_of(student):
    """Regular files below a folder, without hidden ones and build/. Links are not followed: they may lead anywhere."""
    found, folders, seen = [], [student], 0
    while folders and seen < MOST_FILES:
        try:
            entries = sorted(os.scandir(folders.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if entry.name.startswith(".") or entry.name == "build":
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif NAMES.fullmatch(entry.name):
                found.append(pathlib.Path(entry.path))
    return sorted(found)


def refused(path, lesson):
    """Why a file is not judged, or None."""
    about = os.lstat(path)
    if not stat.S_ISREG(about.st_mode):
        return "it is a link, or not a regular file"
    if about.st_size > LARGEST:
        return f"it has {about.st_size >> 20} MB"
    wanted = exercise.file_of(lesson).suffix
    return None if path.suffix == wanted else f"the exercise of {number(lesson)} is exercise{wanted}"


def collect(folder, chosen):
    """({student: {lesson: file}}, notes about files that are not judged)."""
    found, notes = {}, []
    for student in sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith(".")):
        own = found.setdefault(student.name, {})
        for path in files_of(student):
            shown, lesson = readable(str(path.relative_to(folder))), lesson_of(path.relative_to(student))
            if lesson is None:
                notes.append(f"{shown}: its path does not name a lesson")
            elif chosen and lesson not in chosen:
                continue
            elif why := refused(path, lesson):
                notes.append(f"{shown}: {why}")
            elif lesson in own:
                notes.append(f"{shown}: {own[lesson].relative_to(folder)} is judged instead")
            else:
                own[lesson] = path
    return found, notes


def original(lesson):
    """The exercise as the course has it."""
    path = exercise.file_of(lesson)
    return git(["show", f"HEAD:./{path.name}"], path.parent) or path.read_bytes()


# ---- one submission ----------------------------------------------------------------------------------------------------------


class Judge:
    """Judges submissions for one lesson, in an enclosure. Everything that no submission changes has been built by make before."""

    def __init__(self, lesson, enclosed, device, canary):
        self.lesson, self.enclosed, self.device, self.canary = lesson, enclosed, device, canary
        self.solution, self.suffix = judge.answers(lesson)["solution"], judge.answers(lesson)["solution"].suffix
        self.limit = check.LONGER if is_python(lesson) else check.LIMIT
        self.commands = self.of_make()
        self.names = None  # of all test cases

    def built(self, variant):
        return f"build/tests/{self.lesson}/{variant}"

    def of_make(self):
        """The commands with which make builds the solution: a submission is built with the same ones."""
        if self.suffix == ".py":
            return ""
        source = self.solution.relative_to(ROOT)
        target = judge.binary_of(self.lesson, "solution") if self.suffix == ".cpp" else f"{self.built('solution')}/exercise.ptx"
        told = build.call(["-n", "-o", build.SIMULATOR, "-W", str(source), "wanted", f"WANTED={target}"], capture_output=True)
        if told.returncode:
            raise RuntimeError(told.stderr)
        lines = [line for line in told.stdout.splitlines() if not line.startswith(("mkdir ", ":", "  "))]
        return "\n".join(lines)

    def commands_for(self, variant):
        lines = self.commands.replace(f"{self.lesson}/solution{self.suffix}", f"{self.built(variant)}/exercise{self.suffix}")
        lines = lines.replace(self.built("solution"), self.built(variant)).replace(
            f"-fmacro-prefix-map={self.lesson}/=", f"-fmacro-prefix-map={self.built(variant)}/="
        )
        return lines.replace("build/tests/catch_main.o", f"build/tests/catch_main.o {self.canary.object}")

    def prepare(self, variant, content):
        """The folder of one submission: the source, the lesson's headers, and what the check loads."""
        folder = ROOT / self.built(variant)
        enclosure.remove(folder)
        folder.mkdir(parents=True)
        for path in (ROOT / self.lesson).iterdir():
            if path.suffix in (".h", ".hpp", ".cuh"):
                shutil.copyfile(path, folder / path.name)
        made = ROOT / self.built("solution")
        for path in made.glob("*") if made.is_dir() else []:
            if path.suffix == ".ptx" and path.name != "exercise.ptx" or path.name == "check" and self.suffix == ".cu":
                shutil.copy2(path, folder / path.name)
        (folder / f"exercise{self.suffix}").write_bytes(content)
        return folder

    def build(self, variant, folder):
        """None, or the compiler's first error."""
        if wrong := judge.syntax_error(folder / f"exercise{self.suffix}"):
            return wrong.splitlines()[0]
        if self.suffix == ".py":
            return None
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
        try:
            ended = self.enclosed.run(["bash", "-e", "-c", self.commands_for(variant)], COMPILE_LIMIT, ROOT, [folder], environment)
        except subprocess.TimeoutExpired:
            raise enclosure.Stopped(f"the compiler took more than {COMPILE_LIMIT} s") from None
        if ended.returncode == 0:
            return None
        said = ended.stderr.replace(f"{self.built(variant)}/", "")
        place = verdict.place_in(said, folder / f"exercise{self.suffix}")
        return (f"{place['file']}:{place['line']}: " if place else "") + verdict.first_error(said, folder / f"exercise{self.suffix}")

    def cases(self, variant, folder, **more):
        """All test cases, with the canary among them if the submission runs in the same process as its check."""
        environment = {**self.device.environment_for(self.lesson), **more, "GRADE_NONCE": self.canary.nonce()}
        environment = {
            name: value for name, value in environment.items() if name in ENVIRONMENT or name not in os.environ or name.startswith(("CUDASIM", "PYTHON"))
        }
        if not is_python(self.lesson):
            found = judge.run_cases(folder / "check", environment, limit=self.limit, run=self.enclosed.runner())
        else:
            made = {".cpp": "answer.so", ".cu": "exercise.ptx", ".py": "exercise.py"}[self.suffix]
            environment["ANSWER"] = str(folder / made)
            found = judge.run_pytest(judge.of_lesson(self.lesson), environment, self.limit, more=[self.canary.test], run=self.enclosed.runner())
        for case in found:
            case.failure = judge.misses_c_linkage(folder / "exercise.ptx", case.failure or "") or case.failure
        return self.without_canary(found, environment["GRADE_NONCE"])

    def without_canary(self, found, nonce):
        """The canary is a test case that must fail with a number that is new. A report in which it passed was made up."""
        canaries = [case for case in found if case.name == self.canary.name]
        others = [case for case in found if case.name != self.canary.name]
        is_linked = is_python(self.lesson) or self.suffix == ".cpp"
        if is_linked and not (len(canaries) == 1 and nonce in (canaries[0].failure or "")):
            if any(not case.failure for case in found):
                raise Forged
            if canaries:  # a program that was stopped had not written the report so far: the first case is the one that did not end
                others.append(judge.Case(next((name for name in self.names or []), "the test program ends")))
                others[-1].failure = canaries[0].failure
        return others

    def faults(self, folder):
        """A kernel's results may be right by luck: once more with every check of the simulator."""
        if self.suffix != ".cu" or is_python(self.lesson):
            return None
        environment = {name: value for name, value in self.device.environment_for(self.lesson).items() if name in ENVIRONMENT or name.startswith("CUDASIM")}
        empty = tempfile.mkdtemp(dir=self.enclosed.scratch)
        try:
            ended = self.enclosed.run([folder / "check"], self.limit * 3, empty, [empty], {**environment, "CUDASIM_CHECK": "all"})
        except subprocess.TimeoutExpired:
            return f"with all of the simulator's checks, it did not finish within {self.limit * 3} s"
        found = faults.unexpected(faults.of_simulator(ended.stderr), faults.intended_of(self.lesson, self.device, "the answer's check"))
        return "\n".join(found) or None

    def judge(self, content, submission, variant):
        """Fills in the submission: its status and its failures."""
        begun, folder = time.monotonic(), self.prepare(variant, content)
        try:
            if error := self.build(variant, folder):
                submission.status, submission.why = "does not compile", error
                return
            found = self.cases(variant, folder)
            if not any(case.failure for case in found) and (fault := self.faults(folder)):
                found.append(judge.Case(faults.CASE))
                found[-1].failure = fault
            missing = [name for name in self.names or [] if name not in [case.name for case in found]]
            submission.failures = {case.name: case.failure for case in found if case.failure} | dict.fromkeys(missing, "it was not reached")
            submission.cases = len(found) + len(missing)
            submission.passed = submission.cases - len(submission.failures)
            submission.status = "wrong" if submission.failures else "solved"
            submission.why = next(iter(submission.failures), "")
        except enclosure.Stopped as stopped:
            submission.status, submission.why = "stopped", str(stopped)
        except Forged:
            submission.status, submission.why = "forged", FORGED
        finally:
            enclosure.remove(folder)
            submission.seconds = time.monotonic() - begun


class Forged(Exception):
    pass


class Canary:
    """A test case that must fail. Its name is new for each grading, and the number that it must print is new for each run."""

    def __init__(self, with_catch):
        RESULTS.mkdir(parents=True, exist_ok=True)
        token = secrets.token_hex(8)
        self.name, self.object = f"canary {token}", ""
        self.test = RESULTS / "canary" / f"test_canary_{token}.py"
        enclosure.remove(self.test.parent)
        self.test.parent.mkdir()
        self.test.write_text(f'import os\n\n\ndef test_canary_{token}():\n    raise AssertionError(os.environ["GRADE_NONCE"])\n', encoding="utf-8")
        if with_catch:
            source = self.test.with_suffix(".cpp")
            source.write_text(
                f'#include "tests/catch.hpp"\n#include <cstdlib>\n#include <string>\nTEST_CASE("{self.name}") {{ FAIL(std::string(std::getenv("GRADE_NONCE"))); }}\n',
                encoding="utf-8",
            )
            found = setup()
            self.object = str(source.with_suffix(".o").relative_to(ROOT))
            words = [
                *build.compiler().split(),
                "-std=c++17",
                "-I.",
                "-isystem",
                found["CUDA_INCLUDE"],
                *found["CATCH_FLAGS"].split(),
                "-c",
                str(source),
                "-o",
                self.object,
            ]
            subprocess.run(words, cwd=ROOT, check=True)

    def nonce(self):
        return secrets.token_hex(8)


# ---- a class -------------------------------------------------------------------------------------------------------------


class Grading:
    def __init__(self, folder, submissions, chosen, enclosed, device):
        self.folder, self.submissions, self.enclosed, self.device = folder, submissions, enclosed, device
        self.originals = {lesson: original(lesson) for own in submissions.values() for lesson in own}
        begun = {lesson for own in submissions.values() for lesson, path in own.items() if path.read_bytes() != self.originals[lesson]}
        self.lessons = [lesson for lesson in lessons() if lesson in begun or lesson in chosen]
        self.skipped = {lesson: why for lesson in self.lessons if (why := why_not(lesson, for_check=True))}
        self.judges, self.known = {}, {}

    def build(self):
        """Everything that is ours, in one make: the checks, linked with the solutions."""
        able = [lesson for lesson in self.lessons if lesson not in self.skipped]
        built = build.Build([build.SIMULATOR] + [target for lesson in able for target in judge.targets_of(lesson, "solution")])
        for lesson in able:
            if failed := built.failed.intersection([build.SIMULATOR, *judge.targets_of(lesson, "solution")]):
                self.skipped[lesson] = f"{min(failed)} was not built"
        able = [lesson for lesson in able if lesson not in self.skipped]
        canary = Canary(any(not is_python(lesson) for lesson in able))
        self.judges = {lesson: Judge(lesson, self.enclosed, self.device, canary) for lesson in able}

    def references(self, pool):
        """How the solution, the original exercise and the kept wrong solutions fare, from build/grade/known.json if nothing has changed."""
        file, kept = RESULTS / "known.json", {}
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
        todo = {}
        for lesson, judging in self.judges.items():
            sources = {name: path for name, path in judge.answers(lesson).items() if name != "exercise"}
            contents = {name: path.read_bytes() for name, path in sources.items()} | {"exercise": self.originals.get(lesson) or original(lesson)}
            checks = judge.of_lesson(lesson)
            files = sorted(checks.glob("*")) if checks.is_dir() else [checks]
            state = b"".join([b"1", *(path.read_bytes() for path in files if path.is_file()), (ROOT / "build/simulator/libcuda.so.1").read_bytes()])
            for name, content in contents.items():
                key = hashlib.sha256(state + content).hexdigest()
                label = f"{lesson}/{name}"
                if kept.get(label, {}).get("key") == key:
                    todo[label] = kept[label]
                else:
                    todo[label] = pool.submit(self.reference, judging, name, content, key)
        waiting = [label for label, each in todo.items() if not isinstance(each, dict)]
        if waiting:
            print(f"judging {len(waiting)} reference solutions and known wrong solutions first; the results are kept in build/grade/known.json", flush=True)
        found = {label: each if isinstance(each, dict) else each.result() for label, each in todo.items()}
        file.write_text(json.dumps({**kept, **found}, indent=1), encoding="utf-8")
        for lesson, judging in self.judges.items():
            solution = found[f"{lesson}/solution"]
            if solution["status"] != "solved":
                self.skipped[lesson] = f"the reference solution fails its check on this machine: {solution['why']}"
            judging.names = solution["names"]
            self.known[lesson] = [
                mistakes.Known(
                    mistakes.UNFINISHED if name == "exercise" else mistakes.name_of(name),
                    "" if name == "exercise" else mistakes.explanation(each["source"]),
                    each["failures"], each["source"],
                )
                for label, each in found.items() for own, _, name in [label.rpartition("/")]
                if own == lesson and name != "solution" and each["status"] == "wrong"
            ]  # fmt: skip

    def reference(self, judging, name, content, key):
        submission = Submission("", judging.lesson)
        judging.judge(content, submission, f"graded-{name}")
        names = []
        if name == "solution" and submission.status == "solved":
            folder = judging.prepare("graded-names", content)
            if not judging.build("graded-names", folder):
                names = [case.name for case in judging.cases("graded-names", folder)]
            enclosure.remove(folder)
        return {
            "key": key,
            "status": submission.status,
            "why": submission.why,
            "failures": submission.failures,
            "source": content.decode(errors="replace"),
            "names": names,
        }

    def grade(self, student, lesson, variant):
        path = self.submissions[student].get(lesson)
        submission = Submission(student, lesson, path)
        if lesson in self.skipped:
            submission.status, submission.why = "not judged", self.skipped[lesson]
        elif path:
            content = path.read_bytes()
            if content == self.originals[lesson]:
                submission.status = "not begun"
            else:
                self.judges[lesson].judge(content, submission, variant)
                self.name_mistake(submission, content.decode(errors="replace"))
        return submission

    def name_mistake(self, submission, source):
        if submission.status == "wrong":
            found = mistakes.match(submission.failures, source, self.known[submission.lesson], submission.cases)
            submission.mistake, submission.explanation = (found.name, found.why) if found else ("", "")

    def run(self, jobs):
        self.build()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            self.references(pool)
            futures = {
                student: [pool.submit(self.grade, student, lesson, f"graded-{row}-{column}") for column, lesson in enumerate(self.lessons)]
                for row, student in enumerate(self.submissions)
            }
            graded = []
            for count, (student, own) in enumerate(futures.items(), start=1):
                graded.append([future.result() for future in own])
                solved = sum(submission.status == "solved" for submission in graded[-1])
                print(f"{count:3} of {len(futures)}  {readable(student):<24} {solved} of {len(own)} solved", flush=True)
        return graded


# ---- results -------------------------------------------------------------------------------------------------------------


SHORT = {"solved": "yes", "not handed in": "-", "not begun": "0", "does not compile": "c", "stopped": "s", "forged": "F", "not judged": "?"}
LEGEND = "yes: solved; 3/8: 3 of 8 test cases pass; 0: not begun; c: does not compile; s: stopped, it used too much; F: forged report; -: not handed in; ?: not judged here"


def cell(submission):
    return SHORT.get(submission.status) or f"{submission.passed}/{submission.cases}"


def table(graded):
    """One row for each student, one column for each lesson."""
    columns = [number(submission.lesson) for submission in graded[0]]
    width = max([len("student"), *(len(readable(own[0].student)) for own in graded)])
    lines = [f"{'student':<{width}}  solved  " + "  ".join(f"{column:>5}" for column in columns)]
    for own in graded:
        solved = sum(submission.status == "solved" for submission in own)
        lines.append(f"{readable(own[0].student):<{width}}  {solved:6}  " + "  ".join(f"{cell(submission):>5}" for submission in own))
    return lines


def summary(graded):
    """For each lesson, how many solved it, and which mistakes are how frequent."""
    lines = []
    for column in zip(*graded):
        given = [submission for submission in column if submission.status not in ("not handed in", "not begun", "not judged")]
        if not given:
            continue
        lines.append(f"{heading(column[0].lesson)}: {sum(submission.status == 'solved' for submission in given)} of {len(given)} solved")
        counts = {}
        for submission in given:
            if submission.status != "solved":
                label = submission.mistake or {"wrong": f'fails at "{submission.why}"', "does not compile": "does not compile"}.get(
                    submission.status, f"{submission.status}: {submission.why}"
                )
                counts.setdefault((label, submission.explanation), []).append(submission.student)
        for (label, why), students in sorted(counts.items(), key=lambda item: -len(item[1])):
            lines.append(f"  {len(students)} of {len(given)}: {readable(label)}" + (f" ({why})" if why else ""))
    return lines


def safe_cell(text):
    """For a spreadsheet, which would take a beginning = for a formula."""
    text = readable(str(text)).replace("\n", " ")
    return "'" + text if text[:1] in tuple("=+-@") and text != "-" else text


def gradescope(own):
    """One student's results.json, as Gradescope reads it."""
    tests = []
    for submission in own:
        told = {"solved": "All test cases pass.", "not handed in": "Not handed in.", "not begun": "The file is unchanged."}.get(submission.status)
        if not told:
            told = (
                f"{submission.status}: {submission.why}"
                if submission.status != "wrong"
                else f"{submission.passed} of {submission.cases} test cases pass. The first that does not: {submission.why}\n{submission.failures[submission.why]}"
            )
        if submission.mistake and submission.mistake != mistakes.UNFINISHED:
            told += f"\nKnown mistake: {submission.mistake}. {submission.explanation}"
        is_right = submission.status == "solved"
        tests.append(
            {
                "name": heading(submission.lesson),
                "number": number(submission.lesson),
                "score": int(is_right),
                "max_score": 1,
                "status": "passed" if is_right else "failed",
                "output": readable(told)[:4000],
            }
        )
    return {"score": sum(test["score"] for test in tests), "output_format": "text", "stdout_visibility": "hidden", "tests": tests}


def file_name(student, index):
    """A name for a student's folder of results: letters, digits and a few signs; others are replaced, and the number keeps names apart."""
    plain = re.sub(r"[^\w.-]", "_", student).lstrip(".") or "student"
    return plain if plain == student else f"{plain}-{index}"


def write(graded, notes):
    """build/grade/: table.txt, grades.csv, details.csv, class.json, gradescope/<student>/results.json."""
    lines = [*table(graded), "", LEGEND, "", *summary(graded), *(["", "Not judged:"] + notes if notes else [])]
    (RESULTS / "table.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open(RESULTS / "grades.csv", "w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["student", "solved", *(number(submission.lesson) for submission in graded[0])])
        for own in graded:
            points = [int(submission.status == "solved") for submission in own]
            rows.writerow([safe_cell(own[0].student), sum(points), *points])
    with open(RESULTS / "details.csv", "w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["student", "lesson", "status", "passed", "test cases", "mistake", "first failure", "seconds"])
        for submission in (submission for own in graded for submission in own):
            rows.writerow(
                [
                    safe_cell(each)
                    for each in (
                        submission.student,
                        submission.lesson,
                        submission.status,
                        submission.passed,
                        submission.cases,
                        submission.mistake,
                        submission.why,
                        f"{submission.seconds:.1f}",
                    )
                ]
            )
    everything = [{**dataclasses.asdict(submission), "path": str(submission.path or "")} for own in graded for submission in own]
    (RESULTS / "class.json").write_text(json.dumps(everything, indent=1, ensure_ascii=False), encoding="utf-8")
    enclosure.remove(RESULTS / "gradescope")
    for index, own in enumerate(graded):
        place = RESULTS / "gradescope" / file_name(own[0].student, index)
        place.mkdir(parents=True)
        (place / "results.json").write_text(json.dumps(gradescope(own), indent=1, ensure_ascii=False), encoding="utf-8")
    return lines


def folder_asked():
    """The folder that SUBMISSIONS names, from the folder in which make was typed; ends the program with a sentence if there is no such folder."""
    named = os.environ.get("SUBMISSIONS")
    if not named:
        sys.exit("Which submissions are to be graded? Type: make grade SUBMISSIONS=folder, where each subfolder has one student's exercise files.")
    folder = next((path for path in (pathlib.Path(named).expanduser(), ROOT / named) if path.is_dir()), None)
    if folder is None:
        sys.exit(f"SUBMISSIONS={named} is not a folder.")
    return folder.resolve()


def needs_of(submissions):
    """Lessons in Python need PyTorch, which is looked for only if a student has submitted one."""
    return ["torch", "pytest"] if any(is_python(lesson) for own in submissions.values() for lesson in own) else []


def main(chosen):
    begun, folder = time.monotonic(), folder_asked()
    if os.environ.get("DEVICE") == "gpu":
        sys.exit("make grade judges on the simulated GPU only: a student's kernel could stop a real one for everyone. Leave out DEVICE=gpu.")
    os.environ["DEVICE"] = "simulator"
    submissions, notes = collect(folder, chosen)
    if not submissions:
        sys.exit(f"{folder} has no folders in it. Put each student's exercise files into a folder of their own.")
    if needs := needs_of(submissions):
        from course import setup as set_up

        set_up.main(["catch2", *needs])
    enclosure.fetch_bubblewrap()
    os.environ.setdefault("CUDASIM_BUDGET", check.BUDGET)
    solutions = [judge.answers(lesson)["solution"] for lesson in lessons() if "solution" in judge.answers(lesson)]
    hidden = [folder, RESULTS / "known.json", *solutions, *ROOT.glob("tests/*/*.wrong")]
    with enclosure.Enclosure(hidden) as enclosed:
        grading = Grading(folder, submissions, chosen, enclosed, choose_device())
        if not grading.lessons:
            sys.exit(f"None of the {len(submissions)} students in {folder} has changed an exercise.")
        print(f"{len(submissions)} students, {len(grading.lessons)} exercises, {enclosed.describe()}", flush=True)
        graded = grading.run(len(os.sched_getaffinity(0)))
    print("\n" + "\n".join(write(graded, notes)))
    print(f"\nThis took {time.monotonic() - begun:.0f} s. The results are in build/grade: table.txt, grades.csv, details.csv, class.json, gradescope/.")
    return 0
