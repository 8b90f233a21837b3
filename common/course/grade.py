"""make grade SUBMISSIONS=folder: judges the exercises of a class.

Each folder in SUBMISSIONS is one student's. It contains exercise files in any of these places: 02-context/06-threads/exercise.cpp,
06-threads/exercise.cpp, 02-06/exercise.cpp, or 02-06.cpp; a whole copy of the course will do. Submissions are compiled and run on the
simulated GPU, in an enclosure (enclosure.py), several at a time. Results are in build/grade/. Where nothing bounds the processes that a
submission may start, none is judged, unless UNBOUNDED=1 says that all of them can be trusted.
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
import time

from course import ROOT, build, enclosure, mistakes, verdict
from course.cases import Case
from course.device import Device, choose_device
from course.facts import facts
from course.lessons import Answer, Lesson, every, lessons, meant_by, named
from course.possible import why_not
from course.process import git
from course.verdict import How, Kind, Verdict

RESULTS = ROOT / "build" / "grade"
LARGEST = 1 << 20  # bytes of an exercise
MOST_FILES = 20000  # that are looked at in one student's folder
COMPILE_LIMIT = 120  # seconds
NAMES = re.compile(r"exercise\.(cpp|cu|py)|(\d\d)[-_.](\d\d)\b.*\.(cpp|cu|py)")
ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH")  # what a student's program gets of ours
FORGED = "the report was not written by the check"
# What a verdict that is not about test cases is called in the results.
STATUS = {Kind.SOLVED: "solved", Kind.FAILED: "wrong", Kind.STOPPED: "stopped", Kind.FORGED: "forged", Kind.SKIPPED: "not judged"}


@dataclasses.dataclass
class Submission:
    """One exercise of one student, and what came of it."""

    student: str
    lesson: Lesson
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
        meant = [every()[lesson] for lesson in meant_by(name) if lesson in every()]
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
    wanted = lesson.exercise.source.suffix
    return None if path.suffix == wanted else f"the exercise of {lesson.number} is exercise{wanted}"


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
    path = lesson.exercise.source
    return git(["show", f"HEAD:./{path.name}"], path.parent) or path.read_bytes()


# ---- one submission ----------------------------------------------------------------------------------------------------------


class Judge:
    """Judges submissions for one lesson, in an enclosure. Everything that no submission changes has been built by make before."""

    def __init__(self, lesson: Lesson, enclosed: enclosure.Enclosure, device: Device, canary: Canary):
        assert lesson.solution
        self.lesson, self.enclosed, self.device, self.canary, self.solution = lesson, enclosed, device, canary, lesson.solution
        self.suffix = lesson.solution.source.suffix
        self.commands = self.of_make()
        self.names: list[str] = []  # of all test cases

    def of_make(self) -> str:
        """The commands with which make builds the solution: a submission is built with the same ones."""
        if self.suffix == ".py":
            return ""
        source = self.solution.source.relative_to(ROOT)
        target = self.solution.target if self.suffix == ".cpp" else f"{self.solution.folder}/exercise.ptx"
        told = build.call(["-n", "-o", build.SIMULATOR, "-W", str(source), "wanted", f"WANTED={target}"], capture_output=True)
        if told.returncode:
            raise RuntimeError(told.stderr)
        lines = [line for line in told.stdout.splitlines() if not line.startswith(("mkdir ", ":", "  "))]
        return "\n".join(lines)

    def commands_for(self, answer: Answer) -> str:
        lines = self.commands.replace(f"{self.lesson}/solution{self.suffix}", f"{answer.folder}/exercise{self.suffix}")
        lines = lines.replace(self.solution.folder, answer.folder).replace(f"-fmacro-prefix-map={self.lesson}/=", f"-fmacro-prefix-map={answer.folder}/=")
        return lines.replace("build/tests/catch_main.o", f"build/tests/catch_main.o {self.canary.object}")

    def prepare(self, variant: str, content: bytes) -> Answer:
        """One submission in a folder of its own: the source, the lesson's headers, and what the check loads."""
        answer = Answer(self.lesson, variant, ROOT / "build" / "tests" / self.lesson.name / variant / f"exercise{self.suffix}")
        folder = answer.source.parent
        enclosure.remove(folder)
        folder.mkdir(parents=True)
        for path in self.lesson.folder.iterdir():
            if path.suffix in (".h", ".hpp", ".cuh"):
                shutil.copyfile(path, folder / path.name)
        made = ROOT / self.solution.folder
        for path in made.glob("*") if made.is_dir() else []:
            if path.suffix == ".ptx" and path.name != "exercise.ptx" or path.name == "check" and self.suffix == ".cu":
                shutil.copy2(path, folder / path.name)
        answer.source.write_bytes(content)
        return answer

    def build(self, answer: Answer) -> str | None:
        """What the compiler complains of, or None."""
        if self.suffix == ".py":
            return None
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
        try:
            ended = self.enclosed.run(["bash", "-e", "-c", self.commands_for(answer)], COMPILE_LIMIT, ROOT, [answer.source.parent], environment)
        except subprocess.TimeoutExpired:
            raise enclosure.Stopped(f"the compiler took more than {COMPILE_LIMIT} s") from None
        return ended.stderr.replace(f"{answer.folder}/", "") or "the compiler gives no reason" if ended.returncode else None

    def how(self) -> How:
        """The canary is among the test cases if the submission runs in the same process as its check."""
        environment = {**self.device.environment_for(self.lesson), "GRADE_NONCE": self.canary.nonce()}
        environment = {
            name: value for name, value in environment.items() if name in ENVIRONMENT or name not in os.environ or name.startswith(("CUDASIM", "PYTHON"))
        }
        limit = verdict.LONGER if self.lesson.is_python else verdict.LIMIT
        examine = lambda found: self.without_canary(found, environment["GRADE_NONCE"])
        more = (self.canary.test,) if self.lesson.is_python else ()
        return How(self.device, limit, run=self.enclosed.runner(), environment=environment, more=more, examine=examine)

    def without_canary(self, found: list[Case], nonce: str) -> list[Case]:
        """The canary is a test case that must fail with a number that is new. A report in which it passed was made up."""
        canaries = [case for case in found if case.name == self.canary.name]
        others = [case for case in found if case.name != self.canary.name]
        is_linked = self.lesson.is_python or self.suffix == ".cpp"
        if is_linked and not (len(canaries) == 1 and nonce in (canaries[0].failure or "")):
            if any(not case.failure for case in found):
                raise Forged
            if canaries:  # a program that was stopped had not written the report so far: the first case is the one that did not end
                others.append(Case(next(iter(self.names), "the test program ends"), canaries[0].failure))
        missing = [name for name in self.names if name not in [case.name for case in others]]
        return others + [Case(name, "it was not reached") for name in missing]

    def judge(self, content: bytes, variant: str) -> Verdict:
        answer = self.prepare(variant, content)
        try:
            return verdict.judge(answer, self.how(), lambda: self.build(answer))
        except enclosure.Stopped as stopped:
            return Verdict(Kind.STOPPED, str(stopped))
        except Forged:
            return Verdict(Kind.FORGED, FORGED)
        finally:
            enclosure.remove(answer.source.parent)


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
            found = facts()
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
    def __init__(
        self, folder: pathlib.Path, submissions: dict[str, dict[Lesson, pathlib.Path]], chosen: list[Lesson], enclosed: enclosure.Enclosure, device: Device
    ):
        self.folder, self.submissions, self.enclosed, self.device = folder, submissions, enclosed, device
        self.originals = {lesson: original(lesson) for own in submissions.values() for lesson in own}
        begun = {lesson for own in submissions.values() for lesson, path in own.items() if path.read_bytes() != self.originals[lesson]}
        self.lessons = [lesson for lesson in lessons() if lesson in begun or lesson in chosen]
        self.skipped = {lesson: why for lesson in self.lessons if (why := why_not(lesson, for_check=True))}
        self.judges: dict[Lesson, Judge] = {}
        self.known: dict[Lesson, list[mistakes.Known]] = {}

    def build(self) -> None:
        """Everything that is ours, in one make: the checks, linked with the solutions."""
        solutions = {lesson: lesson.solution for lesson in self.lessons if lesson not in self.skipped and lesson.solution}
        built = build.Build([build.SIMULATOR] + [target for solution in solutions.values() for target in solution.targets])
        for lesson, solution in solutions.items():
            if failed := built.failed.intersection([build.SIMULATOR, *solution.targets]):
                self.skipped[lesson] = f"{min(failed)} was not built"
        able = [lesson for lesson in solutions if lesson not in self.skipped]
        canary = Canary(any(not lesson.is_python for lesson in able))
        self.judges = {lesson: Judge(lesson, self.enclosed, self.device, canary) for lesson in able}

    def references(self, pool: concurrent.futures.Executor) -> None:
        """How the solution, the original exercise and the kept wrong solutions fare, from build/grade/known.json if nothing has changed."""
        file = RESULTS / "known.json"
        kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        todo = {}
        for lesson, judge in self.judges.items():
            contents = {name: answer.source.read_bytes() for name, answer in lesson.answers.items() if name != "exercise"}
            contents["exercise"] = self.originals.get(lesson) or original(lesson)
            state = b"".join([b"2", *(path.read_bytes() for path in lesson.check_files), (ROOT / "build/simulator/libcuda.so.1").read_bytes()])
            for name, content in contents.items():
                key, label = hashlib.sha256(state + content).hexdigest(), f"{lesson}/{name}"
                is_kept = kept.get(label, {}).get("key") == key
                todo[label] = kept[label] if is_kept else pool.submit(self.reference, judge, name, content, key)
        waiting = [label for label, each in todo.items() if not isinstance(each, dict)]
        if waiting:
            print(f"judging {len(waiting)} reference solutions and known wrong solutions first; the results are kept in build/grade/known.json", flush=True)
        found = {label: each if isinstance(each, dict) else each.result() for label, each in todo.items()}
        file.write_text(json.dumps({**kept, **found}, indent=1), encoding="utf-8")
        for lesson, judge in self.judges.items():
            own = {name: found[f"{lesson}/{name}"] for name in {**lesson.answers, "exercise": None}}
            solution = Verdict.from_json(own.pop("solution")["verdict"])
            if not solution.is_solved:
                self.skipped[lesson] = f"the reference solution fails its check on this machine: {solution.why}"
            judge.names = [case.name for case in solution.cases]
            self.known[lesson] = [known_mistake(name, each["source"], Verdict.from_json(each["verdict"])) for name, each in own.items()]

    @staticmethod
    def reference(judge: Judge, name: str, content: bytes, key: str) -> dict:
        return {"key": key, "verdict": judge.judge(content, f"graded-{name}").as_json(), "source": content.decode(errors="replace")}

    def grade(self, student: str, lesson: Lesson, variant: str) -> Submission:
        path, begun = self.submissions[student].get(lesson), time.monotonic()
        submission = Submission(student, lesson, path)
        if lesson in self.skipped:
            submission.status, submission.why = "not judged", self.skipped[lesson]
        elif path:
            content = path.read_bytes()
            if content == self.originals[lesson]:
                submission.status = "not begun"
            else:
                self.fill_in(submission, self.judges[lesson].judge(content, variant), content.decode(errors="replace"))
        submission.seconds = time.monotonic() - begun
        return submission

    def fill_in(self, submission: Submission, found: Verdict, source: str) -> None:
        """What the verdict says, and the name of the mistake."""
        where = f"{found.place.file}:{found.place.line}: " if found.place and found.kind == Kind.COMPILE else ""
        submission.status = STATUS.get(found.kind, "does not compile")
        submission.why = where + (found.why or found.sentence("exercise" + self.judges[submission.lesson].suffix))
        submission.failures = {case.name: case.failure for case in found.failing}
        submission.cases, submission.passed = len(found.cases), len(found.passed)
        if submission.status == "wrong":
            mistake = mistakes.match(submission.failures, source, self.known[submission.lesson], submission.cases)
            submission.mistake, submission.explanation = (mistake.name, mistake.why) if mistake else ("", "")

    def run(self, jobs: int) -> list[list[Submission]]:
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


def known_mistake(name: str, source: str, found: Verdict) -> mistakes.Known:
    failures = {case.name: case.failure for case in found.failing}
    if name == "exercise":
        return mistakes.Known(mistakes.UNFINISHED, "", failures, source)
    return mistakes.Known(mistakes.name_of(name), mistakes.explanation(source), failures, source)


# ---- results -------------------------------------------------------------------------------------------------------------


SHORT = {"solved": "yes", "not handed in": "-", "not begun": "0", "does not compile": "c", "stopped": "s", "forged": "F", "not judged": "?"}
LEGEND = "yes: solved; 3/8: 3 of 8 test cases pass; 0: not begun; c: does not compile; s: stopped, it used too much; F: forged report; -: not handed in; ?: not judged here"


def cell(submission):
    return SHORT.get(submission.status) or f"{submission.passed}/{submission.cases}"


def table(graded):
    """One row for each student, one column for each lesson."""
    columns = [submission.lesson.number for submission in graded[0]]
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
        lines.append(f"{column[0].lesson.heading}: {sum(submission.status == 'solved' for submission in given)} of {len(given)} solved")
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
                "name": submission.lesson.heading,
                "number": submission.lesson.number,
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
        rows.writerow(["student", "solved", *(submission.lesson.number for submission in graded[0])])
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
                        submission.lesson.name,
                        submission.status,
                        submission.passed,
                        submission.cases,
                        submission.mistake,
                        submission.why,
                        f"{submission.seconds:.1f}",
                    )
                ]
            )
    everything = [{**vars(submission), "lesson": submission.lesson.name, "path": str(submission.path or "")} for own in graded for submission in own]
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
    python = [lesson for own in submissions.values() for lesson in own if lesson.is_python]
    return ["torch", "pytest", *{package: None for lesson in python for package in lesson.packages}] if python else []


def refuse_unbounded(enclosed):
    """Ends the program with a sentence if a submission could start processes without end, unless the person has said that none will."""
    if not enclosed.way and os.environ.get("UNBOUNDED", "0") in ("", "0"):
        sys.exit(
            f"Nothing was graded: a submission that starts processes without end could stop this machine, because nothing bounds them ({enclosed.why_unbounded}). "
            "Run make grade as another user than root, or in a container in which root may make control groups. "
            "If you trust every submission: make grade UNBOUNDED=1 …"
        )


def main(words):
    begun, folder, chosen = time.monotonic(), folder_asked(), named(words)
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
    os.environ.setdefault("CUDASIM_BUDGET", verdict.BUDGET)
    os.environ["CUDASIM_COMPILE"] = "off"  # a compiler's library would be code that a student's program could have put there
    solutions = [lesson.solution.source for lesson in lessons() if lesson.solution]
    wrong = sorted({answer.source.parent for lesson in lessons() for answer in lesson.wrong})
    hidden = [folder, RESULTS / "known.json", *solutions, *wrong]
    with enclosure.Enclosure(hidden) as enclosed:
        refuse_unbounded(enclosed)
        grading = Grading(folder, submissions, chosen, enclosed, choose_device())
        if not grading.lessons:
            sys.exit(f"None of the {len(submissions)} students in {folder} has changed an exercise.")
        print(f"{len(submissions)} students, {len(grading.lessons)} exercises, {enclosed.describe()}", flush=True)
        graded = grading.run(len(os.sched_getaffinity(0)))
    print("\n" + "\n".join(write(graded, notes)))
    print(f"\nThis took {time.monotonic() - begun:.0f} s. The results are in build/grade: table.txt, grades.csv, details.csv, class.json, gradescope/.")
    return 0
