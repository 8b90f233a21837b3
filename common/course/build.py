"""Calls make again, with the files that are to be built. make knows how, and which of them are out of date."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

from course import ROOT
from course.complaints import without_make
from course.facts import facts
from course.lessons import Lesson, every
from course.possible import why_not

SIMULATOR = "build/simulator/libcuda.so"
RUNTIME = "build/runtime/libcudart.so"  # for programs of the user's own
# What make tells the programs that it starts. A make that is to behave as if a person had typed it gets none of it.
FROM_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "INSIDE", "IN", "HERE", "ARGS")
# What make itself says (LC_ALL=C) of a recipe that failed, of a goal that could not be made for that reason, and of a file without a rule.
FAILED = re.compile(r"^make: \*\*\* \[(?:[^\]]*: )?([^\]]+)\] Error \d+", re.MULTILINE)
NOT_REMADE = re.compile(r"^make: Target '([^']+)' not remade because of errors", re.MULTILINE)
NO_RULE = re.compile(r"^make: \*\*\* No rule to make target '([^']+)'", re.MULTILINE)


def make_flags() -> list[str]:
    """The flags that make was given, like ['kn', '-j2', '--no-print-directory']; one-letter flags come first, without a dash."""
    return os.environ.get("MAKEFLAGS", "").split(" -- ")[0].split()


def is_dry_run() -> bool:
    """Was make called with -n? Then nothing is fetched, built, run or written."""
    return any("n" in word for word in make_flags()[:1] if not word.startswith("-"))


def given_variables() -> list[str]:
    """The names of the variables that were set on make's command line."""
    return re.findall(r"(?:^|(?<!\\) )([A-Za-z_]\w*)=", os.environ.get("MAKEFLAGS", "").partition("-- ")[2])


def as_typed() -> dict[str, str]:
    """The environment for a make that does not know that another make has started it."""
    return {name: value for name, value in os.environ.items() if name not in FROM_MAKE}


def compiler() -> str:
    return facts().get("CXX_INSTEAD") or os.environ.get("CXX") or "g++"


def call(words: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
    """Runs make in the root, for files: CXX is always given, and without -j all cores work."""
    jobs = [] if any(word.startswith("-j") for word in make_flags()) else [f"-j{len(os.sched_getaffinity(0))}"]
    command = [os.environ.get("MAKE_COMMAND", "make"), "--no-print-directory", "--output-sync=target", *jobs, f"CXX={compiler()}", *words]
    # LC_ALL=C: what make and the compilers say is English. close_fds=False: the outer make's job slots come through open files.
    environment = dict(os.environ, INSIDE="1", LC_ALL="C.UTF-8")
    environment.pop("CDPATH", None)
    environment.pop("MAKELEVEL", None)  # so that make calls itself make, and not make[1]
    return subprocess.run(command, cwd=how.pop("folder", ROOT), env=environment, text=True, errors="replace", close_fds=False, check=False, **how)


def build(targets: list[str], show_commands: bool = False) -> bool:
    """Builds files for a person who waits for them; true if all could be built. Shows progress, or the commands of a single lesson."""
    if not targets:
        return True
    quiet = [] if show_commands or os.environ.get("V") else ["QUIET=yes"]
    return call(["wanted", f"WANTED={' '.join(targets)}", *quiet]).returncode == 0


def program_targets(lesson: Lesson) -> list[str]:
    """What make has to build before the lesson's program can run; nothing if it cannot run here."""
    return [] if why_not(lesson) else lesson.built()


def lesson_of(target: str) -> Lesson | None:
    """The lesson that a file below build/ belongs to, or None."""
    return next((lesson for lesson in every().values() if f"/{lesson}/" in f"/{target}"), None)


class Build:
    """Many targets, as many of them as can be built. Progress goes to the terminal; what the compilers say is kept."""

    def __init__(self, targets: list[str]):
        self.failed: set[str] = set()
        self.said, self.status = "", 0
        self.recipes: list[str] = []  # the files whose own recipes failed
        self.complaints: dict[str, str] = {}  # what was found for a target
        if not targets:
            return
        quiet = [] if os.environ.get("V") else ["-s", "QUIET=yes"]  # -s: make does not say of each target that it is up to date
        built = call(["-k", "LOGGED=yes", *quiet, *dict.fromkeys(targets)], stderr=subprocess.PIPE)
        self.said, self.status = built.stderr, built.returncode
        self.recipes = FAILED.findall(self.said)
        self.failed = {*targets}.intersection(self.recipes + NOT_REMADE.findall(self.said) + NO_RULE.findall(self.said))

    def complaint(self, target: str) -> str | None:
        """What the compilers said about a target that failed; None if it was built. The logs are those of the recipes that make would run again."""
        if target not in self.failed:
            return None
        if target in self.complaints:
            return self.complaints[target]
        would = call(["-n", "-k", "--debug=basic", target], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        again = set(re.findall(r"Must remake target '([^']+)'", would.stdout))
        logs = [ROOT / f"{recipe}.log" for recipe in dict.fromkeys(self.recipes) if recipe in again]
        said = [without_make(log.read_text(encoding="utf-8", errors="replace")) for log in logs if log.exists()]
        said += [line for line in would.stderr.splitlines() if "No rule to make target" in line]
        self.complaints[target] = "\n".join(filter(None, said)) or f"the build failed without a message: make {target}"
        return self.complaints[target]
