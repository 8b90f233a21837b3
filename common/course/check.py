"""make check: judges the learner's exercises, lesson by lesson, and says in a sentence what is still wrong."""

import contextlib
import os
import re
import sys

from course import ROOT, build, faults, progress
from course import judge as judging
from course.device import choose_device
from course.lessons import beside, heading, is_python
from course.possible import why_not
from course.process import RESTORE

LIMIT = 20  # seconds for one exercise: a person is waiting
LONGER = 120  # if PyTorch has to be imported first
ON_GPU = 60  # creating a context takes the driver up to a second, and much longer where others use the GPU, too
BUDGET = "200000000"  # instructions, a few seconds' worth: then the simulator stops an endless kernel and names its line


def indented(text, by="      "):
    return "\n".join(by + line for line in text.splitlines())


def shortened(complaints, lines=40, columns=200):
    """The first lines, because a file that is not C++ at all causes thousands of errors; long lines are cut."""
    said = [line if len(line) <= columns else line[:columns] + " …" for line in complaints.splitlines()]
    return "\n".join(said[:lines] + ([f"… and {len(said) - lines} more lines"] if len(said) > lines + 1 else said[lines:]))


def condensed(complaints, file):
    """What compiler and linker said. A function that only the exercise can define is named in one line instead of the linker's five."""
    missing = re.findall(r"undefined (?:reference to|symbol:) [`'‘]?(.+?)['’]?$", complaints, re.MULTILINE)
    missing = [name for name in dict.fromkeys(missing) if not re.match(r"cu[A-Z]\w+$", name)]
    if not missing or re.search(r"error: ", complaints.replace("collect2: error: ", "")):
        return shortened(complaints)
    return "\n".join(f"{file} does not define {name}" for name in missing)


def limit_for(lesson, device):
    return LONGER if is_python(lesson) else ON_GPU if device.kind == "gpu" else LIMIT


def faults_of(lesson, source, device):
    """A test case more, in a list, for an answer that has passed all others. A kernel's results may be right by luck, so the simulator runs it
    once more with all checks on. For other exercises it does so if CUDASIM_CHECK is set."""
    is_tried = source.suffix == ".cu" or os.environ.get("CUDASIM_CHECK")
    return list(filter(None, [is_tried and faults.case_of(lesson, "exercise", device)]))


def cases(lesson, source, device):
    """The result of each test case."""
    found = judging.judge(lesson, "exercise", device, limit_for(lesson, device))
    return found if any(case.failure for case in found) else found + faults_of(lesson, source, device)


def without_the_place_of_a_crash(failure):
    """Catch2 knows only which of its lines ran before a crash, so the same crash is reported differently in each case."""
    return re.sub(r"^after .*?:\d+: ", "", failure, flags=re.MULTILINE)


def judge(lesson, built, device, in_full):
    """Prints the verdict on one exercise; true if it is solved. An exercise that was not begun gets details only if `in_full`."""
    binary = judging.binary_of(lesson, "exercise")
    source = judging.answers(lesson)["exercise"]
    place = source.relative_to(ROOT)
    wrong = judging.syntax_error(source)
    if binary in built.failed:
        wrong = condensed(built.complaint(binary), source.name)
    if wrong:
        print(f"{lesson}   does not compile yet: {place}")
        print(indented(wrong), flush=True)
        return False
    failing = [case for case in cases(lesson, source, device) if case.failure]
    if not failing:
        print(f"{lesson}   solved", flush=True)
        note_solved(lesson, source)
        return True
    if not in_full and judging.is_edited(source) is False:
        print(f"{lesson}   not begun: {place}", flush=True)
        return False
    print(f"{lesson}   not yet: {place}")
    alike = {}  # a failure that several cases share is printed once
    for case in failing:
        alike.setdefault(without_the_place_of_a_crash(case.failure), []).append(case)
    for those in alike.values():
        print("\n".join(f"   - {case.name}" for case in those))
        print(indented(those[0].failure), flush=True)
    return False


def note_solved(lesson, source):
    """For make progress and make learn. A folder that cannot be written is no reason to fail."""
    if judging.is_learners(source):
        with contextlib.suppress(OSError):
            progress.note_attempt(lesson, source.read_bytes(), solved=True)


def main(chosen):
    lessons = [lesson for lesson in chosen if "exercise" in judging.answers(lesson)]
    for lesson in [lesson for lesson in chosen if lesson not in lessons]:
        print(f"{lesson}   has no exercise. If its file was deleted, {RESTORE}")
    if not lessons:
        return 1
    without = [lesson for lesson in lessons if why_not(lesson, for_check=True)]
    able = [lesson for lesson in lessons if lesson not in without]
    built = build.Build(able and [build.SIMULATOR] + [target for lesson in able for target in judging.targets_of(lesson, "exercise")])
    if build.SIMULATOR in built.failed:
        sys.exit("The simulated GPU could not be built, so no program can be linked:\n" + built.complaint(build.SIMULATOR))
    os.environ.setdefault("CUDASIM_BUDGET", BUDGET)
    device = choose_device()
    print(device.headline(), flush=True)
    solved = []
    for lesson in lessons:
        if lesson in without:
            print(f"skipped: {lesson}: {why_not(lesson, for_check=True)}")
        elif judge(lesson, built, device, len(lessons) == 1):
            solved.append(lesson)
    if not able:
        return 0
    print(f"\n{len(solved)} of {len(able)} exercises solved")
    if len(solved) == len(able):
        after = beside(able[-1], 1)
        print(f"Next: {heading(after)}: {after}/README.md" if after else "That was the last lesson.")
        return 0
    unsolved = [lesson for lesson in able if lesson not in solved]
    if len(able) > 1:
        print(f"To see what is still missing in one of them: make check {unsolved[0]}")
    else:
        print(f"{unsolved[0]}/README.md has a folded hint below the exercise.")
    print("An unsolved exercise makes this command fail, so make reports an error.", flush=True)
    return 1
