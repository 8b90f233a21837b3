"""The lessons: which there are, and what each is. The names of a lesson's files say that. Here they are looked at once, and nowhere else."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping

from course import ROOT
from course.interpreter import python
from course.process import git

# Former names, as they were after the number. A lesson with a new name has kept its exercise; one that became part of another has not.
RENAMED = {"stack": "current", "host-register": "pinning", "hopper": "tma-pipeline", "torch-cpp": "dispatcher", "real-ops": "sampling-ops"}
PART_OF = {"before-init": "checking", "no-context": "current", "memset-and-types": "alloc-copy-free", "pinned-kinds": "pinning"}
# Numbers that no lesson has any more, and who had them.
LEFT = {"01-10": "doctor", "03-16": "pitched"}

# What some lessons in Python import besides PyTorch, and set-up looks for under the same name.
IMPORTED = re.compile(r"^(?:import|from) (numba|triton)\b", re.MULTILINE)

LANGUAGES = (".cpp", ".cu", ".py")
SOURCES = (".cpp", ".hpp", ".cu", ".py")


@dataclasses.dataclass(frozen=True, eq=False)
class Answer:
    """A file that the check of a lesson can judge: the exercise, the solution, a wrong solution that is kept, or a student's submission."""

    lesson: Lesson
    variant: str  # exercise, solution, or the name of another one; make builds it in a folder of this name
    source: pathlib.Path

    def __str__(self) -> str:
        return f"{self.lesson}: {self.variant}"

    @property
    def folder(self) -> str:
        """Where make builds what is judged."""
        return f"build/tests/{self.lesson}/{self.variant}"

    @property
    def has_kernels(self) -> bool:
        """Is it CUDA, and becomes PTX?"""
        return self.source.suffix == ".cu"

    @property
    def ptx(self) -> pathlib.Path:
        """Its kernels, if it has any."""
        return ROOT / self.folder / "exercise.ptx"

    @property
    def target(self) -> str:
        """The file that make has to build before it can be judged."""
        if not self.lesson.is_python:
            return f"{self.folder}/check"
        made = {".cpp": f"{self.folder}/answer.so", ".cu": f"{self.folder}/exercise.ptx"}
        return made.get(self.source.suffix, self.lesson.built()[0])

    @property
    def targets(self) -> list[str]:
        """The same and what else make has to build for that: a lesson in Python needs its own libraries, too."""
        return list(dict.fromkeys([self.target] + (self.lesson.built() if self.lesson.is_python else [])))

    @functools.cached_property
    def rejected_with(self) -> str | None:
        """The test case that a wrong solution's first line says it is rejected with."""
        first = self.source.read_text(encoding="utf-8").splitlines()[0]
        found = re.fullmatch(r'(?://|#) Rejected with: "(.*)"', first)
        return found.group(1) if found else None


@dataclasses.dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson. Written as text, it is its name."""

    name: str  # 02-context/03-current
    files: frozenset[str]  # the names of what is in its folder

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> pathlib.Path:
        return ROOT / self.name

    @property
    def chapter(self) -> str:
        return self.name.split("/")[0]

    @property
    def folder_name(self) -> str:
        """03-current"""
        return self.name.split("/")[1]

    @property
    def own_name(self) -> str:
        """current"""
        return own_name(self.name)

    @property
    def number(self) -> str:
        """02-03"""
        return "-".join(part[:2] for part in self.name.split("/"))

    @property
    def heading(self) -> str:
        """02-03 The current context"""
        return heading(self.name)

    @property
    def readme(self) -> pathlib.Path:
        return self.folder / "README.md"

    @property
    def text(self) -> str:
        """What is in the README; empty if there is none."""
        return self.readme.read_text(encoding="utf-8", errors="replace") if self.readme.exists() else ""

    # -- the program

    @property
    def is_python(self) -> bool:
        """Is the lesson's program main.py, and its check written for pytest?"""
        return "main.py" in self.files

    @property
    def main(self) -> str:
        return "main.py" if self.is_python else "main.cpp"

    @property
    def has_kernels(self) -> bool:
        return any(name.endswith(".cu") for name in self.files)

    @property
    def plot(self) -> pathlib.Path | None:
        """The program that draws what the lesson measured."""
        return self.folder / "plot.py" if "plot.py" in self.files else None

    @property
    def program_files(self) -> list[str]:
        return [name for name in ("main.cpp", "main.py", "op.cpp", "kernels.cu") if name in self.files]

    @functools.cached_property
    def sources(self) -> list[pathlib.Path]:
        return [self.folder / name for name in sorted(self.files) if pathlib.Path(name).suffix in SOURCES]

    def program(self, folder: str | None = None) -> list[str]:
        """The command that runs the lesson's program, or an edited copy of it in `folder`."""
        if self.is_python:
            return [python(), str(ROOT / (folder or self.name) / "main.py")]
        return [str(ROOT / (folder or f"build/{self}") / "main")]

    def built(self, folder: str | None = None) -> list[str]:
        """The files that make has to build before that. The first of them is the program itself, or stands for it."""
        place = folder or f"build/{self}"
        if self.is_python:
            return [f"{place}/ready"]
        return [f"{place}/main"] + ([f"{place}/kernels.ptx"] if "kernels.cu" in self.files else [])

    @functools.cached_property
    def settings(self) -> Mapping[str, str]:
        """{variable: value} from its lesson.env: NAME=value lines that its programs need besides the device, and # comments."""
        lines = (self.folder / "lesson.env").read_text(encoding="utf-8").splitlines() if "lesson.env" in self.files else []
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    @functools.cached_property
    def needs_host_nvcc(self) -> bool:
        """Does nvcc compile more of the lesson than PTX? Its lesson.mk then says HOST_CODE."""
        return "lesson.mk" in self.files and "HOST_CODE" in (self.folder / "lesson.mk").read_text(encoding="utf-8")

    @functools.cached_property
    def is_built_with_torch(self) -> bool:
        """Is it in Python, or does its lesson.mk use PyTorch?"""
        return self.is_python or "lesson.mk" in self.files and "TORCH_ROOT" in (self.folder / "lesson.mk").read_text(encoding="utf-8")

    @functools.cached_property
    def needs_cuda_of_torch(self) -> bool:
        return "op.cpp" in self.files and "<c10/cuda/" in (self.folder / "op.cpp").read_text(encoding="utf-8")

    @functools.cached_property
    def packages(self) -> list[str]:
        """What a lesson in Python needs besides PyTorch: its sources import it."""
        return sorted({name for path in self.sources if path.suffix == ".py" for name in IMPORTED.findall(path.read_text(encoding="utf-8"))})

    @functools.cached_property
    def takes_times(self) -> bool:
        """Whether a program includes common/measure.hpp, itself or through a header of its chapter."""
        texts = [path.read_text(encoding="utf-8") for path in self.sources if path.suffix == ".cpp"]
        shared = {name for text in texts for name in re.findall(rf'#include "({self.chapter}/\w+\.hpp)"', text)}
        return any("common/measure.hpp" in text for text in (*texts, *((ROOT / name).read_text(encoding="utf-8") for name in shared)))

    # -- the exercise

    @functools.cached_property
    def answers(self) -> Mapping[str, Answer]:
        """{variant: answer}: the exercise and the solution, if these files are there, and the wrong solutions that are kept."""
        found = {name: self.folder / (name + suffix) for name in ("exercise", "solution") for suffix in LANGUAGES if name + suffix in self.files}
        wrong = sorted((ROOT / "tests" / f"{self}.wrong").glob("*"))
        found |= {source.stem: source for source in wrong if source.suffix in LANGUAGES}
        return {variant: Answer(self, variant, source) for variant, source in found.items()}

    @functools.cached_property
    def exercise(self) -> Answer:
        """The learner's file, also where it is missing: then the solution tells its language."""
        solution = self.answers.get("solution")
        missing = self.folder / ("exercise" + (solution.source.suffix if solution else ".cpp"))
        return self.answers.get("exercise") or Answer(self, "exercise", missing)

    @property
    def solution(self) -> Answer | None:
        return self.answers.get("solution")

    @functools.cached_property
    def wrong(self) -> list[Answer]:
        return [answer for variant, answer in self.answers.items() if variant not in ("exercise", "solution")]

    @property
    def check(self) -> pathlib.Path:
        """The check of the exercise: tests/<lesson>.cpp, or for a lesson in Python the folder tests/<lesson>, whose test_*.py pytest runs."""
        return ROOT / "tests" / (self.name if self.is_python else f"{self}.cpp")

    @functools.cached_property
    def check_files(self) -> list[pathlib.Path]:
        return sorted(self.check.glob("test_*.py")) if self.is_python else [self.check]

    @functools.cached_property
    def looks_at_free_memory(self) -> bool:
        """Does its program or its check compare the memory that is free before and after? Then none else may use the GPU."""
        return self.check_looks_at_free_memory or ask_for_free_memory(self.sources)

    @functools.cached_property
    def check_looks_at_free_memory(self) -> bool:
        """Does its check? Answers may, too, but only a check compares what they return."""
        return ask_for_free_memory([*(ROOT / "tests").glob(f"{self}.*"), *(ROOT / "tests").glob(f"{self}/*")])

    @functools.cached_property
    def check_takes_times(self) -> bool:
        """Does its check demand a speed? Then no other program may use the GPU while it judges a solution."""
        return any("common/measure.hpp" in path.read_text(encoding="utf-8") for path in self.check_files if path.exists())


def ask_for_free_memory(paths: Iterable[pathlib.Path]) -> bool:
    return any(re.search(r"cuMemGetInfo|free_bytes", path.read_text(encoding="utf-8")) for path in paths if path.suffix in SOURCES)


# ---- which lessons there are ---------------------------------------------------------------------------------------------


@functools.cache
def every() -> Mapping[str, Lesson]:
    """All lessons by name, in order."""
    folders = sorted({path.parent for path in ROOT.glob("[0-9][0-9]-*/[0-9][0-9]-*/main.[cp]*")})
    names = {str(folder.relative_to(ROOT)): folder for folder in folders}
    return {name: Lesson(name, frozenset(entry.name for entry in folder.iterdir())) for name, folder in names.items()}


def lessons(chosen: Iterable[str] = ()) -> list[Lesson]:
    """The lessons in order; `chosen` names chapters and lessons, none means all."""
    chosen = set(chosen)
    return [lesson for lesson in every().values() if not chosen or lesson.name in chosen or lesson.chapter in chosen]


def named(words: Iterable[str]) -> list[Lesson]:
    """The lessons that the words of a command name, all of which must exist; no words, no lessons."""
    found = []
    for word in words:
        found += lessons([word]) or sys.exit(f"There is no lesson called {word}.")
    return found


@functools.cache
def chapters() -> list[str]:
    """The folders that contain lessons."""
    return sorted({lesson.chapter for lesson in every().values()})


@functools.cache
def heading(folder: str) -> str:
    """The first heading of a folder's README: '02-03 The current context'."""
    readme = ROOT / folder / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines() if readme.exists() else []
    return next((line[2:].strip() for line in lines if line.startswith("# ")), folder)


def own_name(name: str) -> str:
    """'02-context/03-current', or '03-current', without chapter and number: 'current'."""
    return name.split("/")[-1][3:]


def called(own: str | None) -> Lesson | None:
    """The lesson with this name after the number, in whatever place it is now; None if there is none."""
    return next((lesson for lesson in lessons() if lesson.own_name == own), None)


def beside(lesson: Lesson, step: int) -> Lesson | None:
    """The lesson `step` places after this one, or before it; None at the ends."""
    all_of_them = lessons()
    place = all_of_them.index(lesson) + step
    return all_of_them[place] if 0 <= place < len(all_of_them) else None


def meant_by(name: str) -> list[str]:
    """The chapters or lessons that a name means: 03 is 03-memory; 02-03, 02-context/03 and 03-current are 02-context/03-current."""
    if name in chapters() or name in every():
        return [name]
    short = [chapter for chapter in chapters() if name == chapter[:2]]
    for lesson in every().values():
        if name in (lesson.number, f"{lesson.chapter}/{lesson.folder_name[:2]}", lesson.folder_name):
            short.append(lesson.name)
    return short or [name]


# ---- the learner's file --------------------------------------------------------------------------------------------------


def is_edited(source: pathlib.Path) -> bool | None:
    """Was this file edited since it was committed? (None if git cannot tell.)"""
    committed = git(["show", f"HEAD:./{source.name}"], source.parent)
    return None if committed is None else source.read_bytes() != committed


def is_learners(exercise: pathlib.Path) -> bool | None:
    """Has a learner begun it? (In continuous integration, the file is always the course's own.)"""
    return not os.environ.get("STRICT") and is_edited(exercise)
