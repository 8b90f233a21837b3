"""A verdict on an exercise, as lines for the trainer's screen: the first sentence that is not true yet, and its place in the learner's file."""

import time

from course import exercise, lessons, progress

GONE = 0.6  # seconds: an editor may remove a file for a moment while it saves
# What each kind of verdict says that is a sentence or two.
SENTENCES = {
    "missing": "{path} is missing. r restores it as it came with the course, or save your own under this name.",
    "unreadable": "{path} could not be read: {why}. Correct that and save it again.",
    "empty": "{path} is empty. If that was a mistake, undo it in your editor and save; r restores the original.",
    "skipped": "The exercise cannot be judged here: {why}.",
    "refused": "The exercise was not judged: {why}",
}


def show(trainer, room, in_short=False):
    """What is known about the exercise, in at most `room` lines; `in_short`: without each sentence that is true."""
    lines, verdict, file = trainer.screen.lines(), trainer.verdict, trainer.file
    if trainer.is_judging():
        more = trainer.screen.marks["more"]
        return lines.add(f"{file.name}   building and judging {more} {trainer.job.seconds():.0f} s", style="quiet")
    if trainer.missing_since and time.monotonic() - trainer.missing_since > GONE:
        verdict = {"kind": "missing"}
    path = f"{trainer.lesson}/{file.name}"
    if verdict is None:
        untouched = "is unchanged. Open it in your editor and save it: each save is judged."
        return lines.add(f"{path} {untouched if trainer.is_untouched else 'is not judged yet.'}")
    kind = verdict["kind"]
    if kind in SENTENCES:
        return lines.add(SENTENCES[kind].format(path=path, why=verdict.get("why")), style="" if kind == "skipped" else "bad")
    if kind == "conflict":
        lines.add(f"{file.name}:{verdict['place']['line']} begins a merge conflict: git pull changed lines that you had changed, too.", style="bad")
        return lines.add("Keep one of the two versions, delete the lines that begin with <<<<<<<, ======= and >>>>>>>, and save.", 3)
    if kind == "broken":
        lines.add("The exercise was not judged, because the judge itself ended with an error:", style="bad")
        for line in verdict["said"]:
            lines.code(line, 3)
        return lines
    if kind == "compile":
        lines.add(f"{file.name}   does not compile yet   ({verdict['build_seconds']:.1f} s)")
        lines.space().add(f"{trainer.screen.marks['failed']} {verdict['error']}", 3, style="bad")
        return add_place(lines, trainer, verdict["place"])
    tried = progress.counted(len(trainer.attempts()), "attempt")
    lines.add(f"{file.name}   built in {verdict['build_seconds']:.1f} s, judged in {verdict['judge_seconds']:.1f} s   ({tried})", style="quiet").space()
    return (add_solved if kind == "solved" else add_failed)(lines, trainer, verdict, room, in_short)


def add_place(lines, trainer, place):
    """The line of the learner's file, if it is known, and a mark under the column if the compiler named one."""
    if not place:
        return lines
    beginning = f"{place['file']}:{place['line']}   "
    if not place["exact"]:
        return lines.code(f"{beginning}the called function:  {place['code']}", 6)
    lines.code(beginning + place["code"], 6)
    source = exercise.lines_of(trainer.file)
    if place["column"] and place["line"] <= len(source):
        line = source[place["line"] - 1]
        indentation = len(line) - len(line.lstrip())
        before = len(line[: place["column"] - 1])
        lines.code(" " * (len(beginning) + before - indentation) + "^", 6, style="bad")
    return lines


def add_passed(lines, trainer, passed, room):
    """The sentences that are true; only how many, if there is no room."""
    mark = trainer.screen.marks["passed"]
    if len(passed) <= room:
        for name in passed:
            lines.code(f"{mark} {name}", 3, style="good")
    elif passed:
        lines.add(f"{mark} {progress.counted(len(passed), 'sentence')} {'is' if len(passed) == 1 else 'are'} true", 3, style="good")


def add_failed(lines, trainer, verdict, room, in_short):
    marks, failure, said = trainer.screen.marks, trainer.screen.lines(), trainer.screen.lines()
    failure.add(f"{marks['failed']} {verdict['case']}", 3, style="bad")
    add_place(failure, trainer, verdict["place"])
    for line in verdict["words"].splitlines():
        said.add(line, 6)
    space = max(2, room - 3 - len(failure))
    failure.lines += said.lines[:space]
    if len(said) > space:
        failure.lines.pop()
        failure.add(f"{marks['more']} d shows the rest", 6, style="quiet")
    add_passed(lines, trainer, verdict["passed"], 1 if in_short else room - 3 - len(failure))
    lines.lines += failure.lines
    if waiting := verdict["waiting"]:
        lines.add(f"{marks['waiting']} {waiting} more wait{'s' if waiting == 1 else ''} for this one", 3, style="quiet")
    return lines


def add_solved(lines, trainer, verdict, room, in_short):
    add_passed(lines, trainer, verdict["passed"], -3 if in_short else room - 4)
    after = lessons.beside(trainer.lesson, 1)
    where = f"n opens {lessons.heading(after)}." if after else "That was the last lesson."
    return lines.space().add(f"Solved. s compares your file with the solution. {where}", style="good")
