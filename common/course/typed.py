"""What a person typed after make: which lessons are meant, whether it is possible, and what follows. Refusals are sentences, and come first."""

import difflib
import importlib
import os
import re
import shlex
import signal
import sys

from course import ROOT, build
from course.commands import COMMANDS, VARIABLES, Command, takes_part
from course.device import choose_device, wished_device
from course.facts import facts
from course.lessons import LEFT, PART_OF, RENAMED, called, chapters, every, lessons, meant_by
from course.test import is_quick, suites

FILE = Command("build", runs="nothing")  # for make build/…, a file that a contributor wants


# ---- names ---------------------------------------------------------------------------------------------------------------


def is_numbered(name):
    return name[:1].isdigit()


def from_root(name, chapter):
    """A name typed in a chapter's folder: 03-current, or 03, is a lesson of this chapter; 02-03 and 03-memory mean the same everywhere."""
    both_numbers = re.fullmatch(r"\d\d-\d\d", name) and meant_by(name) != [name]
    if not chapter or not is_numbered(name) or (ROOT / name).is_dir() or both_numbers:
        return name
    return f"{chapter}/{name}"


def is_suite(name, goals):
    """A folder of tests/ that belongs to no lesson (conformance, tools, …), beside a command that takes one."""
    return any(goal in COMMANDS and COMMANDS[goal].suites for goal in goals) and name in suites.suites()


# ---- refusals ------------------------------------------------------------------------------------------------------------


def moved(name):
    """Where the lesson is that had this name or number in an earlier edition."""
    own = re.sub(r"^\d\d-(?=[a-z])", "", name.split("/")[-1])
    now = called(own) or called(RENAMED.get(own, LEFT.get(own)))
    if now:
        return f" It is now {now}."
    return f" It is now part of {called(PART_OF[own])}." if own in PART_OF else ""


def did_you_mean(name):
    """' Did you mean …?', if exactly one lesson contains what was typed, or has that number, or something is spelled like it."""
    if moved(name):
        return moved(name)
    last = name.split("/")[-1]
    alike = [lesson.name for lesson in lessons() if last in lesson.folder_name]
    if len(alike) != 1:
        numbers = re.fullmatch(r"(\d{1,2})[-./]?(\d{1,2})", name)
        padded = "-".join(f"{int(number):02}" for number in numbers.groups()) if numbers else name
        alike = [lesson for lesson in meant_by(padded) if lesson != padded]
    if len(alike) != 1:
        names = {lesson.folder_name: lesson.name for lesson in lessons()} | {known: known for known in (*COMMANDS, *chapters(), *every())}
        alike = [names[known] for known in difflib.get_close_matches(name, names, 1)]
    return f" Did you mean {alike[0]}?" if alike else ""


def no_such_part(name):
    number = re.match(r"\d\d(?=-\d)", name)
    chapter = meant_by(number[0] if number else name.split("/")[0])[0]
    if chapter in chapters():
        own = " ".join(lesson.folder_name for lesson in lessons([chapter]))
        return f"There is no lesson called {name}.{did_you_mean(name)} The lessons of {chapter} are: {own}"
    return f"There is no chapter or lesson called {name}.{did_you_mean(name)} The chapters are: {' '.join(chapters())}"


def refusal(goals, part):
    """Why this cannot be done, in a sentence, or None. Nothing has been fetched or built yet."""
    if ":" in str(ROOT) or ";" in str(ROOT):
        return f"The loader treats a : or a ; as the end of a path, so it would not find the simulated GPU in {ROOT}. Give the folder another name"
    if "clean" in goals and len(goals) > 1:
        others = " ".join(goal for goal in goals if goal != "clean")
        return f"Run clean on its own, because the other targets build what it removes: make clean, then make {others}"
    for name in build.given_variables():  # make itself accepts any
        if name not in VARIABLES and name.upper() in VARIABLES:
            value = os.environ.get(name, "")
            return f"There is no variable called {name}, only {name.upper()}: make {' '.join(goals)} {name.upper()}={value}"
    for goal in goals:
        if goal not in COMMANDS and not is_numbered(goal) and not goal.startswith("build/") and not is_suite(goal, goals):
            return f"There is no target called {goal}.{did_you_mean(goal)} `make help` lists them"
    if "see" in goals and not part and not os.environ.get("PROGRAM"):
        return "Which lesson? Type make see 04-21, or make see PROGRAM=./a.out"
    for name in part + [goal for goal in goals if is_numbered(goal)]:
        if name not in chapters() and name not in every() and not is_suite(name, goals):
            return no_such_part(name)
    return None


# ---- what follows --------------------------------------------------------------------------------------------------------


class Step:
    """One thing to do: a command, its words, the lessons that it is about, and a file to build."""

    def __init__(self, command, words=(), about=(), file=None):
        self.command, self.words, self.about, self.file = command, list(words), list(about), file

    def targets(self):
        """The files to build before it begins. check and test build by themselves."""
        needs_simulator = [build.SIMULATOR] if self.command.programs else []
        programs = [target for lesson in self.about if self.command.programs for target in build.program_targets(lesson)]
        return needs_simulator + programs + list(self.command.builds) + ([self.file] if self.file else [])


def names_of(chosen):
    return [lesson.name for lesson in chosen]


def steps(goals, part):
    """What was typed, as steps in order. Lessons beside a target like check say which part it does; alone, they are run."""
    chosen = lessons(part)
    if part and not any(name in chapters() or name in every() for name in part):
        chosen = []  # only suites
    found = []
    for goal in goals:
        command = COMMANDS.get(goal)
        if command and command.part:
            takes_all = command.part == "all"
            words = part if command.suites else names_of(chosen) if part or takes_all else []
            about = chosen if takes_all or part and command.programs else []
            found.append(Step(command, words, [lesson for lesson in about if not (command.suites and is_quick() and lesson.is_python)]))
        elif goal.startswith("build/"):
            found.append(Step(FILE, about=filter(None, [build.lesson_of(goal)]), file=goal))
        elif command and not is_suite(goal, goals):
            found.append(Step(command))
    named = [goal for goal in goals if is_numbered(goal)]
    if named and not any(map(takes_part, goals)):
        asked = list(dict.fromkeys(lesson for name in named for lesson in lessons([name])))
        found.append(Step(COMMANDS["run"], names_of(asked), asked))
    return found


def needs(todo):
    """The words for set-up: what these steps need besides a compiler and a toolkit."""
    found = [need for step in todo for need in step.command.needs or ()]
    about = {lesson for step in todo for lesson in step.about}
    for step in todo:
        found += needs_of_tests(step) if step.command.suites else []
    if "plots" in found and not any(lesson.plot for lesson in about):
        found.remove("plots")
    judges_besides = [step for step in todo if step.command.name == "see" and os.environ.get("EXERCISE") or (step.file or "").startswith("build/tests/")]
    if judges_besides:
        found.append("catch2")
    if any(lesson.is_built_with_torch for step in todo if not (step.command.suites and is_quick()) for lesson in step.about):
        found.append("torch")
    if any(lesson.is_python for lesson in about):
        found += ["pytest"] if "catch2" in found else []
        found += sorted(package for lesson in about if lesson.is_python for package in lesson.packages)
    return list(dict.fromkeys(found))


def needs_of_tests(step):
    """What the tests in Python need: all of them without a part, otherwise those of the suites that it names, and of the lesson about the doctor."""
    meant = [suite for suite in suites.in_python() if suite in step.words or not step.words]
    meant += [suite for suite in ("doctor",) if any(lesson.own_name == suite for lesson in step.about)]
    return (["pytest"] if meant else []) + [
        need for suite in meant for need in suites.NEEDS.get(suite, ()) if not (is_quick() and suite in ("tools", *suites.LONG_SUITES))
    ]


def set_up(todo):
    from course import setup

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a program that is not a compiler may end before it has read what it is to compile
    status = setup.main(needs(todo))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if status == 1:
        sys.exit("Nothing was built; the reason is above")
    if status:
        sys.exit(status)


def announce(todo):
    """Says what else comes after the simulator has been built for the first time."""
    many = next((step for step in todo if step.command.name in ("run", "walk") and len(step.about) > 1), None)
    if many and not (ROOT / build.SIMULATOR).exists():
        print(f"After the simulated GPU, {len(many.about)} lessons are built, and then they run. To start with one at once: make {many.about[0]}", flush=True)


def do(step):
    """Builds what the step needs and does it; returns its status."""
    targets = step.targets()
    if targets and not facts().get("CUDA_INCLUDE"):
        targets = []  # each lesson says why it is skipped
    if not build.build(targets, show_commands=len(step.about) == 1):
        return 2
    command = step.command
    if command.runs == "nothing":
        return 0
    module, function = (command.runs or f"{command.name}.main").split(".")
    status = getattr(importlib.import_module(f"course.{module}"), function)(step.words)
    return 0 if command.name == "doctor" and status in (1, 2) else status  # its verdicts, which the text has given


def pretend(step):
    """What do() would do, for make -n."""
    build.build(step.targets() if facts() else [], show_commands=True)
    if step.command.runs != "nothing":
        print(shlex.join(["python3", "-m", "course", step.command.name, *step.words]), flush=True)
    return 0


def main(typed):
    """Does what was typed after make. IN and HERE, the chapter's or lesson's folder in which it was typed, are in the environment."""
    here = os.environ.pop("HERE", "")
    chapter = here.split("/")[0]
    if here and os.environ.get("SUBMISSIONS"):  # a path from the folder in which make was typed
        os.environ["SUBMISSIONS"] = os.path.join(ROOT, here, os.environ["SUBMISSIONS"])
    as_meant = [goal for typed_goal in typed or ["run" if here else "help"] for goal in meant_by(from_root(typed_goal.rstrip("/"), chapter))]
    goals = list(dict.fromkeys(as_meant))
    named = [goal for goal in goals if is_numbered(goal) or is_suite(goal, goals)]
    part = [meant for word in os.environ.pop("IN", "").split() for meant in meant_by(from_root(word.rstrip("/"), chapter))]
    if any(map(takes_part, goals)):
        part += named
        part = part or [here] * bool(here)
    why = refusal(goals, part)
    if why:
        sys.exit(why)
    todo = steps(goals, part)
    is_set_up = any(step.command.needs is not None for step in todo)
    if is_set_up and wished_device() == "gpu":  # another value than auto, gpu and simulator is refused here
        choose_device()  # ends with a sentence if there is no GPU
    if os.environ.get("ARGS") and max(len(step.about) for step in todo) != 1:
        sys.exit("ARGS is for the program of one lesson: make 03-12 ARGS=--controls")
    if any("$" in str(ROOT) and lesson.is_python for step in todo for lesson in step.about):
        sys.exit(f"PyTorch's builder reads a $ in a path as the start of a variable, so chapter 05 cannot be built in {ROOT}. Give the folder another name")
    if build.is_dry_run():
        return max(pretend(step) for step in todo)
    if is_set_up:
        set_up(todo)
        announce(todo)
    for step in todo:
        status = do(step)
        if status:
            return status
    return 0
