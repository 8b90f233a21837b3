"""make learn: the trainer. It shows a lesson's question, asks for a prediction, runs the program, and then watches the exercise.

Every save is built and judged by a process of its own (job.py starts work.py), so keys are read at any time. What the learner has done is
written at once (history.py). views.py says what is on the screen, and feedback.py what a verdict looks like.
"""

import contextlib
import difflib
import os
import shlex
import shutil
import signal
import sys
import time

from course import ROOT, environment, exercise, history, reading
from course.device import choose_device
from course.facts import facts
from course.feedback import GONE
from course.job import Job, command
from course.lessons import beside, lessons, named
from course.process import RESTORE
from course.verdict import Kind
from course.views import Ask, Chooser, Outcome, Page, Work

TICK = 0.15  # seconds between two looks at the file; it is judged when it has not changed from one to the next
SMALLEST = (40, 12)  # columns and lines
EDITORS = ("nano", "vim", "vi", "emacs")

HELP = """\
The trainer watches your exercise's file. Open it in any editor, here or in another window, and save it. Each save is built and judged, and the first sentence that is not true yet is shown.

| key | what it does |
| --- | --- |
| `h` | shows the next hint |
| `s` | shows what the solution changes in your file, after three attempts that compile or when you have solved the exercise |
| `d` | shows the whole report of the compiler or the check |
| `t` | shows the lesson's text |
| `v` | shows your prediction beside the run of the lesson's program |
| `e` | opens the exercise in `$VISUAL` or `$EDITOR` |
| `c` | judges the file again without a save |
| `r` | restores the exercise as it came with the course; your file is kept in `.progress/before-reset` |
| `n` `p` `l` | go to the next lesson, to the previous one, or to the list |
| `q`, Ctrl-C | quit; `make learn` continues here |

`make progress` prints what you have solved.
"""


def lacks_torch(lesson):
    """Does this lesson need PyTorch, pytest or another package, and set-up has not found it?"""
    found = facts()
    return lesson.is_python and not all(found.get(name.upper()) for name in ("torch", "pytest", *lesson.packages))


class Trainer:
    """The lesson that is open, what is known about it, and the loop."""

    def __init__(self, screen, lesson):
        self.screen, self.job, self.done, self.message = screen, None, False, ""
        self.later = set()  # lessons whose question was put off; they are not asked again in this session
        self.kept = history.load()
        self.go_to(lesson)

    # -- progress

    def entry(self):
        return history.entry_of(self.kept, self.lesson)

    def attempts(self):
        return self.entry().get("attempts", [])

    def original(self):
        return exercise.original_of(self.lesson, self.attempts())

    @contextlib.contextmanager
    def saving(self):
        """Around what writes progress. If it cannot be written, the trainer continues with a message."""
        try:
            yield
            self.kept = history.load()
        except OSError as problem:
            self.say(f"Progress was not saved: {problem.filename or history.file()}: {problem.strerror}. Make room or correct the permissions.")

    def keep(self, **changes):
        self.kept["lessons"].setdefault(self.lesson.name, {}).update(changes)
        with self.saving():
            history.note(self.lesson, **changes)

    def say(self, message):
        self.message = message

    # -- lessons and views

    def go_to(self, lesson):
        if self.job and (self.job.what != "run" or self.job.lesson != lesson):
            self.job.stop()
        self.lesson, self.text, self.file = lesson, reading.read(lesson), lesson.exercise.source
        self.verdict = self.run_result = self.missing_since = None
        self.wanted, self.overlays = ["prepare"], []
        self.seen = self.stable = exercise.signature(self.file)
        self.lacks_torch = lacks_torch(lesson)
        with self.saving():
            with history.changing() as kept:
                kept["at"] = lesson.name
            exercise.keep_original(lesson, self.attempts())
        self.is_untouched = self.file.exists() and exercise.content_of(self.file) == self.original()
        was_asked = self.has_predicted() or self.attempts() or lesson in self.later or not self.text.predict
        self.show(Work() if was_asked else self.question())

    def go(self, step, at_the_end):
        lesson = beside(self.lesson, step)
        self.go_to(lesson) if lesson else self.say(at_the_end)

    def question(self):
        return Ask(self.entry().get("draft") or "")

    def show(self, view):
        self.view = view
        if isinstance(view, Work) and self.verdict is None and not self.is_untouched:
            self.want("judge")

    def open(self, view):
        self.overlays.append(view)

    def close(self):
        self.overlays.pop()

    def want(self, what):
        if what not in self.wanted:
            self.wanted.append(what)

    def is_judging(self):
        return self.job and self.job.what == "judge" and not self.job.stopped

    def has_predicted(self):
        """A question that has changed since is asked again."""
        return self.entry().get("predicted") and self.entry().get("question") == self.text.asks

    def prediction(self):
        return history.prediction(self.entry(), self.text.asks)

    def predict(self, prediction):
        self.keep(draft=None, predicted=history.now(), question=self.text.asks, prediction=prediction or None)
        self.show_run()

    def show_run(self):
        """The prediction comes first, if it is missing."""
        if self.text.predict and not self.has_predicted():
            return self.show(self.question())
        if self.run_result is None:
            self.want("run")
        return self.show(Outcome())

    # -- keys

    def shown(self):
        return self.overlays[-1] if self.overlays else self.view

    def press(self, key):
        self.message = ""
        view = self.shown()
        if key in ("ctrl-c", "ctrl-d"):
            self.done = True
        elif key == "ctrl-z":  # the shell gets the terminal until fg
            with self.screen.lent():
                os.killpg(os.getpgrp(), signal.SIGTSTP)
        elif key == "ctrl-l":
            self.screen.write("\x1b[2J")
        elif not (view.scrolls and view.scroll(key, self.page())):
            view.press(self, key)

    def page(self):
        """How many lines further the next page begins."""
        return max(1, self.screen.height - 7)

    def press_common(self, key):
        if key == "q":
            self.done = True
        elif key == "t":
            text = self.text.whole_with_results if self.has_predicted() or self.attempts() else self.text.whole
            self.open(Page(f"{self.lesson}/README.md", text.partition("\n")[2]))
        elif key == "l":
            self.kept = history.load()
            self.open(Chooser(self.lesson))
        elif key == "?":
            self.open(Page("Keys", HELP))
        elif key == "n":
            self.go(1, "This is the last lesson.")
        elif key == "p":
            self.go(-1, "This is the first lesson.")

    # -- what keys do

    def hint(self):
        used = self.entry().get("hints", 0)
        if used < len(self.text.hints):
            self.keep(hints=used + 1)
        else:
            self.say("There are no more hints." if used else "This exercise has no hint.")

    def details(self):
        """All that is known about what is wrong."""
        if not self.verdict:
            return ""
        return self.verdict.said if self.verdict.kind == Kind.COMPILE else "\n".join(case.failure for case in self.verdict.failing)

    def show_details(self):
        if details := self.details():
            self.open(Page("The whole report", details.splitlines(), "report"))
        else:
            self.say("There is nothing more to show.")

    def may_see_solution(self):
        return bool(self.entry().get("solved")) or len(self.attempts()) >= history.ATTEMPTS_FOR_SOLUTION

    def compare(self):
        solution = self.lesson.solution
        if not solution:
            self.say(f"The solution's file is missing. {RESTORE}")
        elif not self.may_see_solution():
            tried = len(self.attempts())
            self.say(f"The solution opens after {history.ATTEMPTS_FOR_SOLUTION} attempts that compile; you have made {tried}. A hint may be enough: h")
        else:
            diff = list(difflib.unified_diff(exercise.lines_of(self.file), exercise.lines_of(solution.source), n=3, lineterm=""))[2:]
            note = (
                f"From your {self.file.name} to {solution.source.name}: lines with - are yours, lines with + are the solution's. Other solutions are possible."
            )
            self.open(Page("One possible solution", diff or ["Your file is the same as the solution."], "diff", note))

    def can_reset(self):
        original = self.original()
        if original is None:
            self.say(f"Nothing was reset: there is no original of {self.file.name}. The course was unpacked without git, or your solution is committed.")
        elif original == exercise.content_of(self.file):
            self.say(f"{self.file.name} is unchanged.")
        else:
            self.say(f"Reset {self.lesson}/{self.file.name}? A copy of your file is kept in .progress/before-reset.")
            return True
        return False

    def reset(self):
        try:
            copy = exercise.restore(self.lesson, self.original())
        except OSError as problem:
            return self.say(f"Nothing was reset: {problem.filename}: {problem.strerror}.")
        self.seen = self.stable = exercise.signature(self.file)
        self.verdict, self.missing_since, self.is_untouched = None, None, True
        if self.is_judging():
            self.job.stop()
        return self.say(f"{self.file.name} was restored." + (f" Your file: {copy.relative_to(ROOT)}" if copy else ""))

    def edit(self):
        named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, EDITORS), "")
        try:
            words = shlex.split(named)
            if not words:
                return self.say(f"No editor was found. Set EDITOR, or open {self.lesson}/{self.file.name} in another window.")
            self.screen.run([*words, str(self.file)], cwd=ROOT)
        except (OSError, ValueError) as problem:
            return self.say(f"{named} did not start: {getattr(problem, 'strerror', None) or problem}. Set EDITOR to another editor.")
        return None

    def fetch_torch(self):
        words, own = command("setup", "catch2", "tools", "torch", "pytest", *self.lesson.packages)
        self.screen.run(words, cwd=ROOT, env=own)
        self.verdict = self.run_result = None
        self.lacks_torch = lacks_torch(self.lesson)
        self.judge_now()

    def judge_now(self):
        self.is_untouched = False
        self.want("judge")

    # -- the frame

    def frame(self):
        columns, height = self.screen.columns, self.screen.height
        if columns < SMALLEST[0] or height < SMALLEST[1]:
            return (
                self.screen.lines()
                .add(f"The terminal has {columns} x {height} characters, and the trainer needs {SMALLEST[0]} x {SMALLEST[1]}. Make it larger. q quits.")
                .lines
            )
        view, head = self.shown(), self.header()
        room = height - len(head) - len(self.footer(view))
        body = view.lines(self, room)
        if view.scrolls:
            view.offset = min(max(0, view.offset), max(0, len(body) - room))
        shown = body.lines[view.offset : view.offset + room]
        place = f" {min(len(body), view.offset + room)} of {len(body)} lines " if view.scrolls and len(body) > room else ""
        foot = self.footer(view, place)  # only now: what is asked for depends on what is shown
        return head.lines + shown + [[]] * (room - len(shown)) + foot.lines

    def header(self):
        solved = f"{len(history.solved(self.kept))} of {len(lessons())} solved"
        right, left, lines = f"{self.text.title}   {solved}", "CUDA from the Driver Up", self.screen.lines()
        gap = lines.width - len(left) - len(right)
        lines.code(left + " " * gap + right if gap >= 3 else right, style="strong")
        return lines.code(self.screen.marks["rule"] * lines.width, style="quiet")

    def footer(self, view, place=""):
        """What the view asks for, a message, and the keys; `place`: how far down the view is."""
        lines, rule = self.screen.lines(), self.screen.marks["rule"]
        view.below(self, lines)
        if self.message:
            lines.add(self.message, style="note")
        after = rule * 3 if place else ""
        lines.code(rule * (lines.width - len(place + after)) + place + after, style="quiet")
        if isinstance(view, Work):
            lines.code(f"watching {self.lesson}/{self.file.name}", style="quiet")
        from rich.text import Text

        row = Text()
        for key, what in view.keys(self):
            if row and row.cell_len + len(key) + len(what) + 3 > lines.width:
                lines.add(row)
                row = Text()
            row.append("  " if row else "").append(key, "key").append(" " + what)
        return lines.add(row)

    # -- the loop

    def watch(self):
        """Notices a save: the file has changed, and then stayed the same from one look to the next."""
        found = exercise.signature(self.file)
        self.missing_since = None if found else self.missing_since or time.monotonic()
        if found != self.stable:
            self.stable = found
        elif found and found != self.seen:
            self.seen, self.is_untouched = found, False
            self.want("judge")
        if self.missing_since and time.monotonic() - self.missing_since > GONE:
            self.seen = None

    def start_work(self):
        """One process at a time, because two makes would build the same files. A save does not wait for anything else."""
        order = [what for what in (("judge", "run", "prepare") if isinstance(self.view, Work) else ("run", "prepare")) if what in self.wanted]
        if not self.job:
            if order:
                self.wanted.remove(order[0])
                self.job = Job(order[0], self.lesson, exercise.content_of(self.file))
            return
        is_obsolete = self.job.what == "prepare" and order or order[:1] == ["judge"]
        if is_obsolete and not self.job.stopped and self.job.what == "run":
            self.want("run")  # again, after the save has been judged
        if is_obsolete or self.job.stopped:
            self.job.stop()

    def finish(self):
        job, self.job = self.job, None
        result = job.result()
        if job.stopped or job.lesson != self.lesson:
            return
        if job.what == "run":
            self.run_result = result
            self.keep(result=list(result.output) or [result.why])
        elif job.what == "judge" and "judge" not in self.wanted:
            self.verdict = result
            if result.cases and job.content != self.original():
                with self.saving():
                    history.note_attempt(job.lesson, job.content, result.is_solved)

    def run(self):
        drawn = None
        try:
            while not self.done:
                self.watch()
                self.start_work()
                frame = self.frame()
                if frame != drawn:
                    self.screen.draw(frame)
                    drawn = frame
                job = [self.job.output.fileno()] if self.job else []
                keys, ready, resized = self.screen.wait(job, TICK)
                for key in keys:
                    self.press(key)
                    if self.done:
                        break
                if ready and self.job.has_ended():
                    self.finish()
                drawn = None if resized or keys else drawn
        finally:
            if isinstance(self.view, Ask) and self.view.typed != (self.entry().get("draft") or ""):
                self.keep(draft=self.view.typed or None)
            if self.job:
                self.job.stop()
                self.job.process.wait()


def main(words):
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit("make learn needs a terminal, and its input or output is something else. `make check 02-03` judges an exercise without one.")
    if why := facts().get("WITHOUT_TOOLS"):
        sys.exit(f"make learn draws with the Python package rich, which is missing: {why}. `make walk` and `make check` work without it.")
    environment.use()
    from course.screen import Screen

    lesson = named(words)[0] if words else history.continues_at(history.load())
    choose_device()  # ends with a sentence if DEVICE names one that is missing
    with Screen() as screen:
        trainer = Trainer(screen, lesson)
        trainer.run()
    where = trainer.lesson.heading
    print(f"{len(history.solved(trainer.kept))} of {len(lessons())} exercises solved. `make learn` continues with {where}.")
    return 0
