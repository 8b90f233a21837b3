"""make test: collects and counts everything that can be proven here. Ends with "N passed, N failed, N skipped".

The groups: programs (each lesson ends with status 0), texts, exercises, headers, and the suites under tests/.
A group is one line; failures are reported in full, skips with their reason.
"""

import concurrent.futures
import contextlib
import os
import subprocess
import sys
import tempfile
import time

from course import ROOT, build, faults
from course import judge as checks
from course.commands import COMMANDS, takes_part
from course.device import choose_device
from course.lessons import chapters, is_python, lessons, program
from course.possible import setup, why_not, why_not_judged
from course.process import SKIPPED, how_it_ended, reason_given, run_limited
from course.test import pictures, preloaded, texts

DOCTOR = "01-driver-init/08-doctor"  # the lesson whose tool is tested on made-up machines
LONGEST = 100  # lines of one failure that are printed
# Processor time for a lesson's program on the simulator in continuous integration: 3 seconds on two cores, doubled, because cores differ.
# bash enforces it with signal 24.
SECONDS = 12


class Count:
    """Passed, failed and skipped, in all and in the group that runs."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.at_start = (0, 0, 0)
        self.notes = []
        self.edited = {}  # {lesson: [its program's files that were edited]}

    def note(self, name, failure=None, skipped=None):
        """What came of one proof. What passes is only counted."""
        if failure:
            self.fail(name, failure)
        elif skipped:
            self.skip(name, skipped)
        else:
            self.passed += 1

    def fail(self, name, why):
        self.failed += 1
        told = str(why).splitlines()
        if len(told) > LONGEST:
            told[LONGEST:] = [f"… and {len(told) - LONGEST} more lines"]
        self.notes.append(f"FAILED: {name}\n" + "\n".join("        " + line for line in told))

    def skip(self, name, why):
        self.skipped += 1
        self.notes.append(f"skipped: {name}: {why}")

    def group(self, name):
        """Prints the line of the group that has just ended."""
        now = (self.passed, self.failed, self.skipped)
        passed, failed, skipped = (after - before for after, before in zip(now, self.at_start))
        more = (f", {failed} failed" if failed else "") + (f", {skipped} skipped" if skipped else "")
        if passed or failed or skipped:
            print(f"{name:<44} {passed:4} passed{more}")
        for note in self.notes + self.about_edited():
            print("  " + note)
        sys.stdout.flush()
        self.at_start, self.notes = now, []

    def about_edited(self):
        """One sentence for each lesson whose program is edited here, and which is among what has failed."""
        failed = "\n".join(note for note in self.notes if note.startswith("FAILED: "))
        return [
            f"Note: {' and '.join(files)} of {lesson} {'is' if len(files) == 1 else 'are'} edited here, and the lesson's text is about the committed program: "
            f"that may be all that failed. git diff {lesson} shows the edit, git checkout {' '.join(f'{lesson}/{file}' for file in files)} takes it back."
            for lesson, files in self.edited.items()
            if lesson in failed
        ]


class Test:
    """The whole run: what was chosen, the device, what was built."""

    def __init__(self, chosen):
        self.chosen = chosen
        self.lessons = lessons(chosen)
        self.suites = find_suites(chosen)
        self.count = Count()
        self.files = texts.files_of_repository()
        self.edits = {lesson: [] for lesson in self.lessons}
        self.count.edited = {lesson: files for lesson in self.lessons if (files := edited_files(ROOT / lesson))}
        self.answers = {lesson: checks.answers(lesson) for lesson in self.lessons}
        # A learner's unfinished answer may do anything, and is not the course's fault.
        self.learners = {lesson for lesson, found in self.answers.items() if "exercise" in found and checks.is_learners(found["exercise"])}

    def read(self, file):
        return (ROOT / file).read_text(encoding="utf-8")

    # ---- build everything first: one make knows best what can be built at the same time

    def wanted(self):
        targets = [build.SIMULATOR]
        for lesson in self.lessons:
            if why_not(lesson):
                continue
            targets += build.program_targets(lesson)
            targets += [target for edit in self.edits[lesson] if not edit.problem and not self.elsewhere(edit.only) for target in edit.targets()]
            if not why_not(lesson, for_check=True) and checks.of_lesson(lesson).exists():
                targets += [checks.binary_of(lesson, variant) for variant in self.answers[lesson] if self.is_judged(lesson, variant)]
        if not why_not_of_suites():
            targets += [f"build/tests/{suite}/check" for suite in self.suites]
        return targets

    def is_judged(self, lesson, variant):
        return variant != "exercise" or lesson not in self.learners

    def prepare(self):
        for lesson in self.lessons:
            readme = lesson + "/README.md"
            if not (ROOT / readme).exists():
                continue
            self.edits[lesson] = texts.edits(readme, lesson, self.read(readme))
            for edit in self.edits[lesson]:
                try:
                    edit.write()
                except texts.Problem as problem:
                    edit.problem = problem

    def build(self):
        if not setup()["CUDA_INCLUDE"]:
            self.built = build.Build([])
            return
        self.built = build.Build(self.wanted())
        name, why = "everything builds", None
        if build.SIMULATOR in self.built.failed:
            name, why = "the simulator builds", self.unbuilt(build.SIMULATOR)
        elif self.built.failed:
            why = "the compilers' messages are below: " + " ".join(sorted(self.built.failed))
        elif self.built.status != 0:  # and yet nothing is missing
            why = f"make ended with status {self.built.status}, although every file was built:\n" + "\n".join(self.built.said.splitlines()[-25:])
        self.count.note(name, why)
        warnings = [line for line in self.built.said.splitlines() if "warning:" in line and not line.startswith("make")]
        if warnings and os.environ.get("STRICT"):
            self.count.fail("the compilers have nothing to warn of", "\n".join(warnings))
        elif warnings:  # another compiler than ours may know more of them
            self.count.notes.append("Note: the compiler warned:\n" + "\n".join("        " + line for line in warnings))
        self.count.group("build")

    def unbuilt(self, target):
        """Why a target was not built: what the compiler said about it."""
        told = self.built.complaint(target).splitlines()
        if len(told) > 25:
            told[20:] = [f"… and {len(told) - 20} more lines: make {target}"]
        return "\n".join(told)

    def side_by_side(self, work, items, lesson_of=lambda lesson: lesson):
        """The result of `work` for each item, in order. A GPU is shared, so a program that compares its free memory before and after runs alone."""
        alone = [self.device.kind == "gpu" and checks.looks_at_free_memory(lesson_of(item)) for item in items]
        came = iter(list(self.pool.map(work, [item for item, lonely in zip(items, alone) if not lonely])))
        return [work(item) if lonely else next(came) for item, lonely in zip(items, alone)]

    # ---- the lessons' programs and what their texts show of them

    def run_program(self, lesson, environment=None):
        command = program(lesson)
        if os.environ.get("STRICT") and self.device.kind == "simulator" and not is_python(lesson):
            command = ["bash", "-c", f'ulimit -t {SECONDS}; exec "$@"', "bash"] + command
        everything = dict(self.device.environment_for(lesson), **(environment or {}))
        try:
            return run_limited(command, 300, cwd="/", env=everything, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -9, "", "it did not end within 300 seconds and was stopped")

    def programs(self):
        able = []
        for lesson in self.lessons:
            reason = why_not(lesson)
            if reason:
                self.count.skip(lesson, reason)
            elif failed := self.built.failed.intersection(build.program_targets(lesson)):
                self.count.fail(lesson, self.unbuilt(min(failed)))
            else:
                able.append(lesson)
        self.ran = dict(zip(able, self.side_by_side(self.run_program, able)))
        for lesson, ended in self.ran.items():
            if ended.returncode == SKIPPED:
                self.count.skip(lesson, reason_given(ended.stdout))
            else:
                how = f"{how_it_ended(ended.returncode)}\n{ended.stdout}{ended.stderr}"
                self.count.note(f"{lesson} ends with status 0", how if ended.returncode else None)
        self.ran = {lesson: ended for lesson, ended in self.ran.items() if ended.returncode != SKIPPED}
        self.count.group("programs: every lesson succeeds")

    def every_check_on(self):
        """The same with all of the simulator's checks: they find only what a lesson shows on purpose. Lessons that measure take too long
        for this; make test SANITIZE=checks runs them as well."""
        quick = [lesson for lesson in self.ran if not is_python(lesson) and not measures(lesson)]
        came = self.side_by_side(lambda lesson: self.watched(lesson), quick)
        for lesson, (found, wrong, _) in zip(quick, came):
            problems = faults.judge_findings(found, faults.intended_of(lesson, self.device), found) + (wrong or [])
            self.count.note(f"{lesson} with CUDASIM_CHECK=all", "\n".join(problems))
        self.count.group("programs: nothing found by the simulator's checks")

    def watched(self, lesson):
        return faults.watched(program(lesson), dict(self.device.environment_for(lesson), CUDASIM_CHECK="all"), None)

    def shown_output(self, file, command):
        """True if the block was compared; raises Problem if it does not hold."""
        targets = command.targets()
        if not command.shown:
            return False
        if not targets or len(targets) > 1 and not takes_part(targets[0]):
            raise texts.Problem("only the output of one make target, or of one and the part it is for, can be checked")
        lesson = targets[0].rstrip("/")
        if lesson in self.ran:
            ended = self.run_program(lesson, command.environment) if command.environment else self.ran[lesson]
            texts.compare(command.shown, ended.stdout.splitlines(), command.varies)
            return True
        if lesson in lessons():
            return False  # it could not run: said above
        return self.shown_by_make(command, targets)

    def shown_by_make(self, command, targets):
        """The output of another target: make itself runs it."""
        words = ["make", "--no-print-directory"] + targets + [word for word in command.words if "=" in word]
        ended = subprocess.run(
            words, cwd=ROOT, env={**build.as_typed(), **command.environment}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", close_fds=False, check=False,
        )  # fmt: skip
        texts.compare(command.shown, ended.stdout.splitlines(), command.varies)
        return True

    def texts(self):
        chosen = [file for file in texts.markdown(self.files) if not self.chosen or str(file).startswith(tuple(self.chosen))]
        known = {*COMMANDS, *lessons(), *chapters()}
        for file in chosen:
            content, path = self.read(file), ROOT / file
            for problems in (
                texts.broken_links(path, content),
                texts.broken_names(path, content, self.files),
                texts.broken_targets(path, content, known),
                texts.too_long(path, content),
                texts.misshapen(path, content),
                texts.misquoted(path, content),
                texts.unknown_terms(path, content),
                texts.disordered_glossary(path, content),
            ):
                self.count.note(str(file), "\n".join(problems))
            for command in texts.commands(file, content):
                came = self.proven(command.only, lambda command=command: self.shown_output(file, command))
                self.note_proven(command.name, command.only, came)
        for lesson in [lesson for lesson in self.lessons if (ROOT / lesson / "README.md").exists()]:
            wrong = texts.misnamed(lesson, self.read(lesson + "/README.md"), self.read(lesson.split("/")[0] + "/README.md"))
            self.count.note(f"{lesson}/README.md is about this lesson", "\n".join(wrong))
        for file in sorted(file for file in self.files if file.endswith(".svg") and file.startswith(tuple(self.chosen or [""]))):
            self.count.note(file, "\n".join(pictures.problems(ROOT / file)))
        self.count.group("texts: what they say, show and lead to")

    def proven(self, only, prove):
        """What came of one thing that a text shows: whether there was something to prove, or the Problem that `prove` raises."""
        try:
            return not self.elsewhere(only) and prove() is not False
        except texts.Problem as problem:
            return problem

    def elsewhere(self, only):
        return only and not self.device.agrees_with(only)

    def note_proven(self, name, only, came):
        if self.elsewhere(only):
            self.count.skip(name, f"it is about the {only[0]}")
        elif came:
            self.count.note(name, came if isinstance(came, texts.Problem) else None)

    def breaks(self):
        edits = [(lesson, edit) for lesson in self.ran for edit in self.edits[lesson]]
        came = self.side_by_side(lambda pair: self.proven(pair[1].only, lambda: self.try_edit(pair[1])), edits, lambda pair: pair[0])
        for (_, edit), what in zip(edits, came):
            self.note_proven(edit.name, edit.only, what)
        self.count.group('texts: the edits of "Break it"')

    def try_edit(self, edit):
        if edit.problem:
            raise edit.problem
        if failed := self.built.failed.intersection(edit.targets()):
            raise texts.Problem("the edited program does not compile:\n" + self.unbuilt(min(failed)))
        edit.run(self.device, self.run_python)

    # ---- exercises

    def exercises(self):
        able = []
        for lesson in self.lessons:
            reason = why_not(lesson, for_check=True)
            if reason:
                self.count.skip(f"{lesson}: exercise", reason)
            else:
                able += [(lesson, prove) for prove in self.proofs_of_exercise(lesson)]
        for proofs in self.side_by_side(lambda pair: pair[1](), able, lambda pair: pair[0]):
            for proof in proofs:
                self.count.note(*proof)
        self.count.group("exercises: unsolved fails, solution passes")

    def judged(self, lesson, variant, until=None):
        """The test cases for one answer by name, or None with the compiler's words if it was not built."""
        binary = checks.binary_of(lesson, variant)
        if binary in self.built.failed:
            return None, self.unbuilt(binary)
        cases = checks.judge(lesson, variant, self.device, until=until, run_python=self.run_python)
        right_so_far = not any(case.failure for case in cases)
        if until == faults.CASE or right_so_far and variant == "solution" and self.answers[lesson][variant].suffix == ".cu":
            cases += filter(None, [faults.case_of(lesson, variant, self.device)])
        return {case.name: case for case in cases}, None

    def proofs_of_exercise(self, lesson):
        """A function for the lesson's exercise, one for its solution and one for each wrong solution. They return [(name, why it failed, why it was
        skipped)]."""
        answers = self.answers[lesson]
        wrong = [variant for variant in answers if variant not in ("exercise", "solution")]
        missing = [name for name in ("exercise", "solution") if name not in answers]
        if not checks.of_lesson(lesson).exists():
            missing.append(str(checks.of_lesson(lesson).relative_to(ROOT)))
        if not (ROOT / lesson / "Makefile").exists():
            missing.append("Makefile, a link to ../Makefile: `make check` is to work in the folder")
        if len(wrong) < 2:
            comment = "#" if is_python(lesson) else "//"
            missing.append(f'two wrong solutions under tests/{lesson}.wrong, which begin with {comment} Rejected with: "the name of the test case"')
        elif len({checks.names_rejection(answers[variant]) for variant in wrong}) < 2:
            missing.append("second reason to reject: all wrong solutions name the same test case")
        if missing:
            return [lambda: [(f"{lesson}: exercise", "there is no " + " and no ".join(missing), None)]]
        return [
            lambda: [self.prove_unsolved(lesson)],
            lambda: self.prove_solution(lesson),
            *(lambda variant=variant: [self.prove_wrong(lesson, variant, answers[variant])] for variant in wrong),
        ]

    def prove_unsolved(self, lesson):
        name = f"{lesson}: the unsolved exercise compiles and is rejected"
        if not self.is_judged(lesson, "exercise"):
            return name, None, f"{self.answers[lesson]['exercise'].name} is being worked on; `make check` judges it"
        cases, unbuilt = self.judged(lesson, "exercise", until=checks.ANY)
        if unbuilt:
            return name, unbuilt, None
        if any(case.failure for case in cases.values()):
            return name, None, None
        skipped = [case.skipped for case in cases.values() if case.skipped]
        if os.environ.get("STRICT") and not skipped:
            return name, "it passes as committed", None
        return name, None, skipped[0] if skipped else "it is solved here"

    def prove_solution(self, lesson):
        """The solution passes; test cases that are skipped on this machine are reported. In Python, each test counts."""
        name = f"{lesson}: the solution passes"
        cases, unbuilt = self.judged(lesson, "solution")
        if unbuilt:
            return [(name, unbuilt, None)]
        skipped = [(f"{lesson}: {case.name}", None, case.skipped) for case in cases.values() if case.skipped and not case.failure]
        if is_python(lesson):
            return skipped + [(f"{name}: {case.name}", case.failure, None) for case in cases.values() if case.failure or not case.skipped]
        why = "\n".join(f"{case.name}: {case.failure}" for case in cases.values() if case.failure)
        return skipped + [(name, why, None)]

    def prove_wrong(self, lesson, variant, source):
        name = f"{lesson}: the wrong solution {variant} is rejected"
        expected = checks.names_rejection(source)
        if expected == faults.CASE and self.device.kind != "simulator":  # not run: on a GPU, 04-24's fence-of-the-block waits forever
            return name, None, "only the simulator sees what is wrong with it"
        cases, unbuilt = self.judged(lesson, variant, until=expected)
        if unbuilt:
            return name, unbuilt, None
        if not expected:
            return name, f'{source.name} must begin with: // Rejected with: "the name of the test case"', None
        if expected in cases and cases[expected].failure:
            return name, None, None
        if expected in cases and cases[expected].skipped:
            return name, None, cases[expected].skipped
        others = "\n".join(f"{case.name}: {case.failure}" for case in cases.values() if case.failure) or "none: it passes"
        return name, f'"{expected}" must reject it. These did:\n{others}', None

    # ---- headers and suites

    def headers(self):
        """The headers that lessons include compile alone, in C++17, without a warning, with every compiler that is here."""
        include = setup()["CUDA_INCLUDE"]
        headers = sorted(path for path in (ROOT / "common").glob("*.hpp") if path.name != "torch.hpp")  # it is parsed where it is needed
        compilers = dict.fromkeys([os.environ.get("CXX", "g++"), "g++", "clang++"])
        for compiler in [name for name in compilers if subprocess.run(["which", name.split()[0]], capture_output=True, check=False).returncode == 0]:
            for header in headers:
                flags = "-std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I.".split() + (["-isystem", include] if include else [])
                source = f'#include "common/{header.name}"\n'
                ended = subprocess.run(compiler.split() + flags + ["-x", "c++", "-"], input=source, cwd=ROOT, capture_output=True, text=True, check=False)
                name = f"common/{header.name} compiles alone with {compiler}"
                failed = ended.returncode != 0
                self.count.note(name, ended.stderr if failed and include else None, setup()["WITHOUT_TOOLKIT"] if failed else None)
        self.count.group("headers: each compiles alone")

    def in_python(self, place):
        """[(name, why it failed, why it was skipped)] for the tests of a file, or of a folder, of tests/ that pytest runs."""
        if reason := why_not_judged("", needs_pytest=True):
            return [(f"tests/{place}", None, reason)]
        environment = {**build.as_typed(), "PYTHONPATH": os.pathsep.join([str(ROOT / "common"), str(ROOT)]), "TMPDIR": executable_place()}
        cases = checks.run_pytest(ROOT / "tests" / place, environment, checks.SUITE_LIMIT)
        return [(case.name, case.failure, case.skipped) for case in cases]

    def suite(self, name):
        """The same for a suite in C++."""
        binary = f"build/tests/{name}/check"
        if reason := why_not_of_suites():
            return [(f"tests/{name}", None, reason)]
        if binary in self.built.failed:
            return [(f"tests/{name}", self.unbuilt(binary), None)]
        # The toolkit's headers, for tests of what they promise.
        environment = dict(self.device.environment, CUDA_INCLUDE=setup()["CUDA_INCLUDE"])
        asked = (ROOT / binary, environment, ROOT, checks.SUITE_LIMIT)
        on_gpu = self.device.kind == "gpu"
        cases = checks.run_side_by_side(*asked, min(16, os.cpu_count())) if on_gpu else checks.run_cases(*asked)
        return [(f"{name}: {case.name}", case.failure, case.skipped) for case in cases]

    def others(self):
        """The tests that are about no lesson. On a GPU, the cases of a suite run side by side, so the suites do not."""
        groups = {}
        if not self.chosen:
            tools = sorted((ROOT / "tests" / "tools").glob("test_*.py"), key=lambda file: file.name != "test_pages.py")  # it takes longest
            for file in [*tools, *(ROOT / "tests" / "simulator").glob("rooms.py")]:
                place = str(file.relative_to(ROOT / "tests"))
                groups[f"tests/{place}"] = lambda place=place: self.in_python(place)
        if DOCTOR in self.lessons:
            groups["tests/doctor"] = lambda: self.in_python("doctor")
        for suite in self.suites:
            groups[f"tests/{suite}"] = lambda suite=suite: self.suite(suite)
        run = map if self.device.kind == "gpu" else self.pool.map
        for about, cases in zip(groups, run(lambda prove: prove(), groups.values())):
            for case in cases:
                self.count.note(*case)
            self.count.group(about)

    def everything(self):
        start = time.time()
        self.prepare()
        self.device = choose_device()  # only its kind: the simulator may not be built yet
        self.build()
        if build.SIMULATOR in self.built.failed:
            print("\nThe simulated GPU could not be built, so no program can be linked or run.")
        else:
            self.device = choose_device()
            print(self.device.headline(), flush=True)
            # On a GPU, more programs than that only wait for each other.
            self.pool = concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count()) if self.device.kind == "gpu" else os.cpu_count())
            with self.device.held(), self.python_preloaded():
                self.prove()
        count = self.count
        print(f"\nin {time.time() - start:.0f} s")
        print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
        return 1 if count.failed else 0

    @contextlib.contextmanager
    def python_preloaded(self):
        """Inside the with block, run_python runs programs and tests in Python, if it can with PyTorch imported already."""
        self.run_python = run_limited
        if self.device.kind != "simulator" or all(why_not(lesson, for_check=True) for lesson in self.lessons if is_python(lesson)):
            yield
            return
        with preloaded.Server(self.device.environment) as server:
            self.run_python = server.run
            yield

    def prove(self):
        self.programs()
        if self.device.kind == "simulator":
            self.every_check_on()
        self.texts()
        self.breaks()
        self.exercises()
        if not self.chosen:
            self.headers()
        self.others()


def executable_place():
    """A folder for programs that tests make up: the one for temporary files, unless it is mounted noexec, as on hardened machines."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0o700)
        if os.access(file.name, os.X_OK):
            return tempfile.gettempdir()
    place = ROOT / "build" / "temporary"
    place.mkdir(parents=True, exist_ok=True)
    return str(place)


def why_not_of_suites():
    """Why the suites cannot be built; nothing if they can."""
    return None if setup()["CUDA_INCLUDE"] and not why_not_judged("") else setup()["WITHOUT_TOOLKIT"] or why_not_judged("")


def measures(lesson):
    return any("common/measure.hpp" in path.read_text(encoding="utf-8") for path in (ROOT / lesson).glob("*.cpp"))


def edited_files(folder):
    """The files of a lesson's program that were edited since they were committed."""
    return [name for name in ("main.cpp", "main.py", "op.cpp", "kernels.cu") if (folder / name).exists() and checks.is_edited(folder / name)]


def find_suites(chosen):
    """The folders of tests/ that belong to no lesson: conformance, simulator …"""
    found = sorted({path.parent.name for path in (ROOT / "tests").glob("[a-z]*/*.cpp")})
    return [suite for suite in found if not chosen or suite in chosen]
