"""What a person typed after make: which lessons are meant, whether it is possible, and what follows. Refusals are sentences, and come first."""

import difflib
import os
import re
import shlex
import signal
import sys

from course import ROOT, build, help, possible
from course.device import choose_device, wished_device
from course.lessons import chapters, is_python, lessons, plots

# These do the part of the course that is named beside them: make walk 02-context.
PARTLY = ("run", "check", "walk", "test", "bench", "see", "learn", "progress", "grade")
ONLY_IF_NAMED = ("see", "learn", "progress", "grade")  # without a part, they choose their lessons themselves
WITHOUT_SETUP = ("help", "clean", "doctor", "progress")


# ---- names ---------------------------------------------------------------------------------------------------------------


def is_numbered(name):
    return name[:1].isdigit()


def meant_by(name):
    """The chapters or lessons that a name means: 03 is 03-memory; 02-03, 02-context/03 and 03-stack are 02-context/03-stack."""
    if name in chapters() or name in lessons():
        return [name]
    short = [chapter for chapter in chapters() if name == chapter[:2]]
    for lesson in lessons():
        chapter, own = lesson.split("/")
        if name in (f"{chapter[:2]}-{own[:2]}", f"{chapter}/{own[:2]}", own):
            short.append(lesson)
    return short or [name]


def from_root(name, chapter):
    """A name typed in a chapter's folder: 03-stack, or 03, is a lesson of this chapter; 02-03 and 03-memory mean the same everywhere."""
    both_numbers = re.fullmatch(r"\d\d-\d\d", name) and meant_by(name) != [name]
    if not chapter or not is_numbered(name) or (ROOT / name).is_dir() or both_numbers:
        return name
    return f"{chapter}/{name}"


def is_suite(name):
    """A folder of tests/ that belongs to no lesson: conformance, simulator, …"""
    return any((ROOT / "tests" / name).glob("*.cpp"))


# ---- refusals ------------------------------------------------------------------------------------------------------------


def did_you_mean(name):
    """' Did you mean …?', if exactly one lesson contains what was typed, or one target is spelled like it."""
    last = name.split("/")[-1]
    alike = [lesson for lesson in lessons() if last in lesson.split("/")[1]]
    if len(alike) != 1:
        alike = difflib.get_close_matches(name, help.targets(), 1)
    return f" Did you mean {alike[0]}?" if alike else ""


def no_such_part(name):
    chapter = name.split("/")[0]
    if chapter in chapters():
        own = " ".join(lesson.split("/")[1] for lesson in lessons([chapter]))
        return f"There is no lesson called {name}.{did_you_mean(name)} The lessons of {chapter} are: {own}"
    return f"There is no chapter or lesson called {name}.{did_you_mean(name)} The chapters are: {' '.join(chapters())}"


def refusal(goals, part):
    """Why this cannot be done, in a sentence, or None. Nothing has been fetched or built yet."""
    if ":" in str(ROOT) or ";" in str(ROOT):
        return f"The loader takes a : or a ; for the end of a path, so it would not find the simulated GPU in {ROOT}. Give the folder another name"
    if "clean" in goals and len(goals) > 1:
        others = " ".join(goal for goal in goals if goal != "clean")
        return f"clean goes alone, because the other targets build what it removes: make clean, then make {others}"
    known = [*help.VARIABLES, *help.MORE_VARIABLES]
    for name in build.given_variables():  # make itself accepts any
        if name not in known and name.upper() in known:
            value = os.environ.get(name, "")
            return f"There is no variable called {name}, only {name.upper()}: make {' '.join(goals)} {name.upper()}={value}"
    for goal in goals:
        if goal not in help.targets() and not is_numbered(goal) and not goal.startswith("build/"):
            if not ("test" in goals and is_suite(goal)):
                return f"There is no target called {goal}.{did_you_mean(goal)} `make help` lists them"
    if "see" in goals and not part and not os.environ.get("PROGRAM"):
        return "Which lesson? Type make see 04-11, or make see PROGRAM=./a.out"
    for name in part + [goal for goal in goals if is_numbered(goal)]:
        if name not in chapters() and name not in lessons() and not ("test" in goals and is_suite(name)):
            return no_such_part(name)
    return None


# ---- what follows --------------------------------------------------------------------------------------------------------


class Step:
    """One thing to do: a command, its words, the files to build before, and the lessons that it is about."""

    def __init__(self, command, words=(), about=(), targets=()):
        self.command, self.words, self.about, self.targets = command, list(words), list(about), list(targets)


def steps(goals, part):
    """What was typed, as steps in order. Lessons beside a target like check say which part it does; alone, they are run."""
    named = [goal for goal in goals if is_numbered(goal)]
    partly = [goal for goal in goals if goal in PARTLY]
    chosen = lessons(part)
    if part and not any(name in chapters() or name in lessons() for name in part):
        chosen = []  # only suites
    found = []
    for goal in goals:
        if goal == "test":
            found.append(Step("test", part, chosen))
        elif goal in ONLY_IF_NAMED:
            found.append(Step(goal, chosen if part else [], chosen if part and goal == "see" else []))
        elif goal in PARTLY:
            found.append(Step(goal, chosen, chosen))
        elif goal.startswith("build/"):
            found.append(Step("build", about=filter(None, [build.lesson_of(goal)]), targets=[goal]))
        elif not is_numbered(goal) and not ("test" in goals and is_suite(goal)):
            found.append(Step(goal))
    if named and not partly:
        asked = list(dict.fromkeys(lesson for name in named for lesson in lessons([name])))
        found.append(Step("run", asked, asked))
    return found


def needs(todo):
    """The words for set-up: what these steps need besides a compiler and a toolkit."""
    found = []
    about = {lesson for step in todo for lesson in step.about}
    commands = {step.command for step in todo}
    judging = commands & {"test", "check", "learn", "grade"} or ("see" in commands and os.environ.get("EXERCISE"))
    judging = judging or any(target.startswith("build/tests/") for step in todo for target in step.targets)
    if judging:
        found.append("catch2")
    if any(is_python(lesson) for lesson in about):
        found += ["torch"] + (["pytest"] if judging else [])
    if "bench" in commands and any(map(plots, about)):
        found.append("plots")
    if "test" in commands:
        found += ["pytest", "tools", "book", "browser"]
    if commands & {"walk", "learn"}:
        found.append("tools")
    if "book" in commands:
        found.append("book")
    return list(dict.fromkeys(found))


def set_up(todo):
    from course import setup

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a program that is not a compiler may end before it has read what it is to compile
    status = setup.main(needs(todo))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if status == 1:
        sys.exit("Nothing was built: see the sentence above")
    if status:
        sys.exit(status)


def announce(todo):
    """Says what else comes after the simulator has been built for the first time."""
    many = next((step for step in todo if step.command in ("run", "walk") and len(step.about) > 1), None)
    if many and not (ROOT / build.SIMULATOR).exists():
        print(f"After the simulated GPU, {len(many.about)} lessons are built, and then they run. To start with one at once: make {many.about[0]}", flush=True)


def targets_of(step):
    """The files to build before a step begins. check and test build by themselves."""
    if step.command in ("run", "walk", "bench", "see"):
        return [build.SIMULATOR] + [target for lesson in step.about for target in build.program_targets(lesson)]
    if step.command == "simulator":
        return [build.SIMULATOR, build.RUNTIME]
    return [build.SIMULATOR] if step.command in ("learn", "grade") else step.targets


def do(step):
    """Builds what the step needs and does it; returns its status."""
    targets = targets_of(step)
    if targets and not possible.setup().get("CUDA_INCLUDE"):
        targets = []  # each lesson says why it is skipped
    if not build.build(targets, show_commands=len(step.about) == 1):
        return 2
    if step.command in ("build", "simulator"):
        return 0
    if step.command == "test" and os.environ.get("SANITIZE"):
        from course.test import sanitize

        return sanitize.main([os.environ["SANITIZE"], *step.words])
    if step.command in ("fuzz", "bench-simulator"):
        from course import simulator

        return simulator.fuzz() if step.command == "fuzz" else simulator.bench()
    import importlib

    status = importlib.import_module(f"course.{step.command}").main(step.words)
    return 0 if step.command == "doctor" and status in (1, 2) else status  # its verdicts, which the text has given


def pretend(step):
    """What do() would do, for make -n."""
    build.build(targets_of(step) if possible.setup() else [], show_commands=True)
    if step.command not in ("build", "simulator"):
        print(shlex.join(["python3", "-m", "course", step.command, *step.words]), flush=True)
    return 0


def main(typed):
    """Does what was typed after make. IN and HERE, the chapter's or lesson's folder in which it was typed, are in the environment."""
    here = os.environ.pop("HERE", "")
    chapter = here.split("/")[0]
    if here and os.environ.get("SUBMISSIONS"):  # a path from the folder in which make was typed
        os.environ["SUBMISSIONS"] = os.path.join(ROOT, here, os.environ["SUBMISSIONS"])
    as_meant = [goal for typed_goal in typed or ["run" if here else "help"] for goal in meant_by(from_root(typed_goal.rstrip("/"), chapter))]
    goals = list(dict.fromkeys(as_meant))
    partly = any(goal in PARTLY for goal in goals)
    named = [goal for goal in goals if is_numbered(goal) or "test" in goals and is_suite(goal)]
    part = [meant for word in os.environ.pop("IN", "").split() for meant in meant_by(from_root(word.rstrip("/"), chapter))]
    if partly:
        part += named
        part = part or [here] * bool(here)
    why = refusal(goals, part)
    if why:
        sys.exit(why)
    if wished_device_matters(goals):
        choose_device()  # ends with a sentence if there is no GPU
    todo = steps(goals, part)
    if os.environ.get("ARGS") and max(len(step.about) for step in todo) != 1:
        sys.exit("ARGS is for the program of one lesson: make 03-12 ARGS=--controls")
    if any("$" in str(ROOT) and is_python(lesson) for step in todo for lesson in step.about):
        sys.exit(f"PyTorch's builder takes a $ in a path for the beginning of a variable, so chapter 05 cannot be built in {ROOT}. Give the folder another name")
    if build.is_dry_run():
        return max(pretend(step) for step in todo)
    if set(goals) - set(WITHOUT_SETUP):
        set_up(todo)
        announce(todo)
    for step in todo:
        status = do(step)
        if status:
            return status
    return 0


def wished_device_matters(goals):
    """Is DEVICE=gpu to be tried before anything is built? (Another value than auto, gpu and simulator is refused here.)"""
    return set(goals) - set(WITHOUT_SETUP) and wished_device() == "gpu"
