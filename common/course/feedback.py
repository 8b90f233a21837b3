"""A verdict on an exercise, as lines for the trainer's screen: the first sentence that is not true yet, and its place in the learner's file."""

import re
import time

from course import history
from course.lessons import beside
from course.verdict import Kind, Verdict

GONE = 0.6  # seconds: an editor may remove a file for a moment while it saves
# What the trainer's keys can do about it.
ADVICE = {
    Kind.MISSING: " r restores it as it came with the course, or save your own under this name.",
    Kind.UNREADABLE: " Correct that and save it again.",
    Kind.EMPTY: " If that was a mistake, undo it in your editor and save; r restores the original.",
}


def show(trainer, room, in_short=False):
    """What is known about the exercise, in at most `room` lines; `in_short`: without each sentence that is true."""
    lines, verdict, file = trainer.screen.lines(), trainer.verdict, trainer.file
    if trainer.is_judging():
        more = trainer.screen.marks["more"]
        return lines.add(f"{file.name}   building and judging {more} {trainer.job.seconds():.0f} s", style="quiet")
    if trainer.missing_since and time.monotonic() - trainer.missing_since > GONE:
        verdict = Verdict(Kind.MISSING)
    path = f"{trainer.lesson}/{file.name}"
    if verdict is None:
        untouched = "is unchanged. Open it in your editor and save it: each save is judged."
        return lines.add(f"{path} {untouched if trainer.is_untouched else 'is not judged yet.'}")
    if verdict.kind == Kind.CONFLICT:
        lines.add(verdict.sentence(file.name), style="bad")
        return lines.add("Keep one of the two versions, delete the lines that begin with <<<<<<<, ======= and >>>>>>>, and save.", 3)
    if sentence := verdict.sentence(path):
        return lines.add(sentence + ADVICE.get(verdict.kind, ""), style="" if verdict.kind == Kind.SKIPPED else "bad")
    if verdict.kind == Kind.BROKEN:
        lines.add("The exercise was not judged, because the judge itself ended with an error:", style="bad")
        for line in verdict.said.splitlines():
            lines.code(line, 3)
        return lines
    if verdict.kind == Kind.COMPILE:
        lines.add(f"{file.name}   does not compile yet   ({verdict.build_seconds:.1f} s)")
        lines.space().add(f"{trainer.screen.marks['failed']} {verdict.why}", 3, style="bad")
        return add_place(lines, verdict.place)
    tried = history.counted(len(trainer.attempts()), "attempt")
    lines.add(f"{file.name}   built in {verdict.build_seconds:.1f} s, judged in {verdict.judge_seconds:.1f} s   ({tried})", style="quiet").space()
    return (add_solved if verdict.is_solved else add_failed)(lines, trainer, verdict, room, in_short)


def add_place(lines, place):
    """The line of the learner's file, if it is known, and a mark under the column if the compiler named one."""
    if not place:
        return lines
    beginning = f"{place.file}:{place.line}   "
    if not place.exact:
        return lines.code(f"{beginning}the called function:  {place.code}", 6)
    lines.code(beginning + place.code, 6)
    if place.column:
        lines.code(" " * (len(beginning) + place.column - 1) + "^", 6, style="bad")
    return lines


def in_words(failure):
    """A failure without the check's own code around it, where that code compares a sentence: the comparison is the details' business."""
    lines = []
    for line in failure.splitlines():
        found = re.fullmatch(r'(\S+:\d+): (?:CHECK|REQUIRE)\( .* \) was "(.+)" == "(?:|all right)"', line)
        lines.append(f"{found.group(2)}   ({found.group(1)})" if found else line)
    if len(lines) > 1 and lines[0].startswith("after ") and re.search(r" during this test case, in \w+\.cpp:\d+", lines[1]):
        del lines[0]  # where the check was; the learner's own line says more
    return "\n".join(lines)


def add_passed(lines, trainer, passed, room):
    """The sentences that are true; only how many, if there is no room."""
    mark = trainer.screen.marks["passed"]
    if len(passed) <= room:
        for name in passed:
            lines.code(f"{mark} {name}", 3, style="good")
    elif passed:
        lines.add(f"{mark} {history.counted(len(passed), 'sentence')} {'is' if len(passed) == 1 else 'are'} true", 3, style="good")


def add_failed(lines, trainer, verdict, room, in_short):
    marks, failure, said = trainer.screen.marks, trainer.screen.lines(), trainer.screen.lines()
    failure.add(f"{marks['failed']} {verdict.why}", 3, style="bad")
    add_place(failure, verdict.place)
    for line in in_words(verdict.failing[0].failure).splitlines():
        said.add(line, 6)
    space = max(2, room - 3 - len(failure))
    failure.lines += said.lines[:space]
    if len(said) > space:
        failure.lines.pop()
        failure.add(f"{marks['more']} d shows the rest", 6, style="quiet")
    add_passed(lines, trainer, verdict.passed, 1 if in_short else room - 3 - len(failure))
    lines.lines += failure.lines
    if waiting := verdict.waiting:
        lines.add(f"{marks['waiting']} {waiting} more wait{'s' if waiting == 1 else ''} for this one", 3, style="quiet")
    return lines


def add_solved(lines, trainer, verdict, room, in_short):
    add_passed(lines, trainer, verdict.passed, -3 if in_short else room - 4)
    after = beside(trainer.lesson, 1)
    where = f"n opens {after.heading}." if after else "That was the last lesson."
    return lines.space().add(f"Solved. s compares your file with the solution. {where}", style="good")
