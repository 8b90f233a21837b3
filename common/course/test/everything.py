"""make test: collects and counts everything that can be proven here. Ends with "N passed, N failed, N skipped".

The groups: programs (each lesson ends with status 0), texts, exercises, headers, and the suites under tests/. A group is one line, with its
seconds; failures are reported in full, skips with their reason. QUICK=1 leaves out what takes long.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import subprocess
import time

from course import ROOT, build, faults
from course.commands import COMMANDS, takes_part
from course.device import choose_device
from course.facts import facts
from course.lessons import Lesson, chapters, every, is_edited, lessons
from course.possible import why_no_suites, why_not
from course.process import SKIPPED, how_it_ended, reason_given, run_limited
from course.test import is_quick, pictures, preloaded, suites, texts
from course.test.count import Count
from course.test.exercises import Prover, is_begun
from course.verdict import How

# Processor time for a lesson's program on the simulator in continuous integration, on a core that takes REFERENCE seconds for `core_seconds`.
# bash enforces it with signal 24.
SECONDS = 12
REFERENCE = 0.04


class Test:
    """The whole run: what was chosen, the device, what was built."""

    def __init__(self, chosen):
        self.chosen, self.quick = chosen, is_quick()
        self.lessons = [lesson for lesson in lessons(chosen) if not (self.quick and lesson.is_python)]
        self.suites = [suite for suite in suites.suites() if suite in chosen or not chosen and not (self.quick and suite in suites.LONG_SUITES)]
        self.count = Count()
        self.files = texts.files_of_repository()
        self.edits = {lesson: [] for lesson in self.lessons}
        self.count.edited = {lesson: files for lesson in self.lessons if (files := edited_files(lesson))}
        self.begun = {lesson for lesson in self.lessons if is_begun(lesson)}

    def read(self, file):
        return (ROOT / file).read_text(encoding="utf-8")

    # ---- build everything first: one make knows best what can be built at the same time

    def wanted(self):
        targets = [build.SIMULATOR, *([build.RUNTIME] if "package" in self.suites else [])]
        for lesson in self.lessons:
            if why_not(lesson):
                continue
            targets += lesson.built()
            targets += [target for edit in self.edits[lesson] if not edit.problem and not self.elsewhere(edit.only) for target in edit.targets()]
            if not why_not(lesson, for_check=True) and lesson.check.exists():
                targets += [answer.target for answer in lesson.answers.values() if self.is_judged(answer)]
        if not why_no_suites():
            targets += [suites.target(suite) for suite in self.suites if suite in suites.in_cpp()]
        return targets

    def is_judged(self, answer):
        if self.quick:
            return answer.variant == "solution"
        return answer.variant != "exercise" or answer.lesson not in self.begun

    def prepare(self):
        for lesson in self.lessons:
            if not lesson.text or self.quick:
                continue
            self.edits[lesson] = texts.edits(f"{lesson}/README.md", lesson, lesson.text)
            for edit in self.edits[lesson]:
                try:
                    edit.write()
                except texts.Problem as problem:
                    edit.problem = problem

    def build(self):
        if not facts()["CUDA_INCLUDE"]:
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
        told = (self.built.complaint(target) or "").splitlines()
        if len(told) > 25:
            told[20:] = [f"… and {len(told) - 20} more lines: make {target}"]
        return "\n".join(told)

    def side_by_side(self, work, items, is_lonely=lambda lesson: lesson.looks_at_free_memory):
        """The result of `work` for each item, in order. A GPU is shared, so a program that compares its free memory before and after runs alone."""
        alone = [self.device.kind == "gpu" and is_lonely(item) for item in items]
        came = iter(list(self.pool.map(work, [item for item, lonely in zip(items, alone) if not lonely])))
        return [work(item) if lonely else next(came) for item, lonely in zip(items, alone)]

    # ---- the lessons' programs and what their texts show of them

    def run_program(self, lesson, environment=None):
        command = lesson.program()
        if self.seconds and not lesson.is_python:
            command = ["bash", "-c", f'ulimit -t {self.seconds}; exec "$@"', "bash"] + command
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
                self.count.skip(lesson.name, reason)
            elif failed := self.built.failed.intersection(lesson.built()):
                self.count.fail(lesson.name, self.unbuilt(min(failed)))
            else:
                able.append(lesson)
        self.ran = dict(zip(able, self.side_by_side(self.run_program, able)))
        for lesson, ended in self.ran.items():
            if ended.returncode == SKIPPED:
                self.count.skip(lesson.name, reason_given(ended.stdout))
            else:
                how = f"{how_it_ended(ended.returncode)}\n{ended.stdout}{ended.stderr}"
                self.count.note(f"{lesson} ends with status 0", how if ended.returncode else None)
        self.ran = {lesson: ended for lesson, ended in self.ran.items() if ended.returncode != SKIPPED}
        self.count.group("programs: every lesson succeeds")

    def every_check_on(self):
        """The same with all of the simulator's checks: they find only what a lesson shows on purpose. Lessons that measure take too long
        for this; make test SANITIZE=checks runs them as well."""
        short = [lesson for lesson in self.ran if not lesson.is_python and not lesson.takes_times]
        watched = lambda lesson: faults.watched(lesson.program(), dict(self.device.environment_for(lesson), CUDASIM_CHECK="all"), None)
        for lesson, (found, wrong, _) in zip(short, self.side_by_side(watched, short)):
            problems = faults.judge_findings(found, faults.intended_of(lesson, self.device), found) + (wrong or [])
            self.count.note(f"{lesson} with CUDASIM_CHECK=all", "\n".join(problems))
        self.count.group("programs: nothing found by the simulator's checks")

    def shown_output(self, file, command):
        """True if the block was compared; raises Problem if it does not hold."""
        targets = command.targets()
        if not command.shown:
            return False
        if not targets or len(targets) > 1 and not takes_part(targets[0]):
            raise texts.Problem("only the output of one make target, or of one and the part it is for, can be checked")
        lesson = every().get(targets[0].rstrip("/"))
        if lesson in self.ran:
            ended = self.run_program(lesson, command.environment) if command.environment else self.ran[lesson]
            texts.compare(command.shown, ended.stdout.splitlines(), command.varies)
            return True
        if lesson:
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
        known = {*COMMANDS, *every(), *chapters()}
        for file in [file for file in texts.markdown(self.files) if self.is_chosen(str(file))]:
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
        for lesson in [lesson for lesson in self.lessons if lesson.text]:
            wrong = texts.misnamed(lesson, lesson.text, self.read(f"{lesson.chapter}/README.md"))
            self.count.note(f"{lesson}/README.md is about this lesson", "\n".join(wrong))
        for file in sorted(file for file in self.files if file.endswith(".svg") and self.is_chosen(file)):
            self.count.note(file, "\n".join(pictures.problems(ROOT / file)))
        self.count.group("texts: what they say, show and lead to")

    def is_chosen(self, file):
        return not self.chosen or file.startswith(tuple(f"{name}/" for name in self.chosen if name[:1].isdigit()))

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
        came = self.side_by_side(lambda pair: self.proven(pair[1].only, lambda: self.try_edit(pair[1])), edits, lambda pair: pair[0].looks_at_free_memory)
        for (_, edit), what in zip(edits, came):
            self.note_proven(edit.name, edit.only, what)
        self.count.group('texts: the edits of "Break it"')

    def try_edit(self, edit):
        if edit.problem:
            raise edit.problem
        if failed := self.built.failed.intersection(edit.targets()):
            raise texts.Problem("the edited program does not compile:\n" + self.unbuilt(min(failed)))
        edit.run(self.device, self.run_python)

    # ---- exercises, headers and suites

    def exercises(self):
        prover = Prover(lambda until: How(self.device, until=until, run_python=self.run_python), self.complaint)
        able = []
        for lesson in self.lessons:
            if reason := why_not(lesson, for_check=True):
                self.count.skip(f"{lesson}: exercise", reason)
            else:
                able += [(prove, is_alone(lesson, number)) for number, prove in enumerate(prover.proofs(lesson, self.quick))]
        for proofs in self.side_by_side(lambda pair: pair[0](), able, lambda pair: pair[1]):
            for proof in proofs:
                self.count.note(*proof)
        self.count.group("exercises: the solution passes" if self.quick else "exercises: unsolved fails, solution passes")

    def complaint(self, answer):
        return self.unbuilt(answer.target) or None

    def headers(self):
        for proof in suites.headers():
            self.count.note(*proof)
        self.count.group("headers: each compiles alone")

    def others(self):
        """The tests that are about no lesson. On a GPU, the cases of a suite run side by side, so the suites do not."""
        groups = {}
        chosen = {*self.suites, *(["doctor"] if any(lesson.own_name == "doctor" for lesson in self.lessons) else [])}
        for suite in sorted(chosen.intersection(suites.in_python()), reverse=True):
            for file in suites.python_files(suite):
                if not (self.quick and file.name in suites.LONG):
                    groups[f"tests/{suite}/{file.name}"] = lambda file=file: suites.run_python(file)
        for suite in sorted(chosen.intersection(suites.in_cpp())):
            groups[f"tests/{suite}"] = lambda suite=suite: suites.run_cpp(suite, self.built, self.device)
        run = map if self.device.kind == "gpu" else self.pool.map
        for about, (proofs, seconds) in zip(groups, run(suites.timed, groups.values())):
            for proof in proofs:
                self.count.note(*proof)
            self.count.group(about, seconds)

    # ---- the whole

    def everything(self):
        start = time.time()
        # For each new cache, torch.compile finds out with ten compilations which vector instructions it may use: none will do here.
        os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "0")
        self.prepare()
        self.device = choose_device()  # only its kind: the simulator may not be built yet
        self.build()
        if build.SIMULATOR in self.built.failed:
            print("\nThe simulated GPU could not be built, so no program can be linked or run.")
        else:
            self.device = choose_device()
            print(self.device.headline(), flush=True)
            self.seconds = seconds_for_programs() if os.environ.get("STRICT") and self.device.kind == "simulator" else 0
            # Many tests wait for a while, so there are more than cores. On a GPU, more than four only wait for each other.
            self.pool = concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count()) if self.device.kind == "gpu" else os.cpu_count() + 1)
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
        if self.device.kind != "simulator" or all(why_not(lesson, for_check=True) for lesson in self.lessons if lesson.is_python):
            yield
            return
        with preloaded.Server(self.device.environment) as server:
            self.run_python = server.run
            yield

    def prove(self):
        self.programs()
        if self.device.kind == "simulator" and not self.quick:
            self.every_check_on()
        self.texts()
        self.breaks()
        self.exercises()
        if not self.chosen and not self.quick:
            self.headers()
        self.others()


def is_alone(lesson: Lesson, number: int) -> bool:
    """Whether nothing else may use a GPU during proof `number` of an exercise. The first is the solution's, which must reach the speed that a check
    demands. Beside others, that of 04-23 reached 35% of the peak, and its check demands 45%."""
    return lesson.check_looks_at_free_memory or lesson.check_takes_times and number == 0


def core_seconds():
    """The processor time of a small piece of work: how slow a core is here, and now. The best of three, because a core may be taken away."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        sum(number * number for number in range(500_000))
        taken.append(time.process_time() - begun)
    return min(taken)


def seconds_for_programs():
    """SECONDS, and more where a core is slower than the one that they were measured on."""
    return max(SECONDS, round(SECONDS * core_seconds() / REFERENCE))


def edited_files(lesson: Lesson) -> list[str]:
    """The files of a lesson's program that were edited since they were committed."""
    return [name for name in lesson.program_files if is_edited(lesson.folder / name)]
