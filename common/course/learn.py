"""make learn: the trainer. It shows a lesson's question, asks for a prediction, runs the program, and then watches the exercise.

Every save is built and judged by a process of its own (verdict.py), so keys are read at any time. What the learner has done is written at
once (progress.py). reading.py takes the texts apart, and screen.py has the terminal.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from course import ROOT, environment, possible, progress, reading
from course.device import choose_device
from course.judge import answers
from course.lessons import chapters, heading, is_python, lessons, number
from course.process import git

TICK = 0.15  # seconds between two looks at the file; it is judged when it has not changed from one to the next
GONE = 0.6  # an editor may remove a file for a moment while it saves
SMALLEST = (40, 12)  # columns and lines
EDITORS = ("nano", "vim", "vi", "emacs")


# ---- files ---------------------------------------------------------------------------------------------------------------


def signature(path):
    """What changes when a file is saved; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def content_of(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def committed(path):
    """The file as git has it, at the last commit that is not only the learner's own; None if git cannot tell."""
    base = git(["merge-base", "HEAD", "@{upstream}"], path.parent)
    revision = base.decode().strip() if base else "HEAD"
    return git(["show", f"{revision}:./{path.name}"], path.parent)


def exercise_of(lesson):
    """The path of a lesson's exercise, also where the file is missing: solution.cpp tells its ending."""
    found = answers(lesson)
    if "exercise" in found:
        return found["exercise"]
    return ROOT / lesson / ("exercise" + (found["solution"].suffix if "solution" in found else ".cpp"))


def kept_original(lesson):
    return progress.folder() / "originals" / lesson / exercise_of(lesson).name


def keep_original(lesson, attempts):
    """Keeps the exercise as it was before the learner's first attempt, for a course that is not in git."""
    content = content_of(exercise_of(lesson))
    if content and not attempts and not kept_original(lesson).exists() and git(["rev-parse", "HEAD"], ROOT) is None:
        kept_original(lesson).parent.mkdir(parents=True, exist_ok=True)
        kept_original(lesson).write_bytes(content)


def original_of(lesson, attempts):
    """What reset restores: the file as committed, unless that is one of the learner's own attempts; then the kept copy, or None."""
    exercise = exercise_of(lesson)
    for candidate in (committed(exercise), content_of(kept_original(lesson)) or None):
        if candidate is not None and progress.fingerprint(candidate) not in attempts:
            return candidate
    return None


def put_aside(lesson):
    """Copies the learner's file before it is overwritten; returns the copy's path."""
    exercise = exercise_of(lesson)
    when = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    copy = progress.folder() / "before-reset" / lesson / f"{when}{exercise.suffix}"
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(exercise, copy)
    return copy


def replace(path, content):
    """Writes a file whole or not at all."""
    handle, new = tempfile.mkstemp(dir=path.parent, prefix=".reset-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        os.chmod(new, 0o644)
        os.replace(new, path)
    except BaseException:
        pathlib.Path(new).unlink(missing_ok=True)
        raise


# ---- work in the background ----------------------------------------------------------------------------------------------


class Job:
    """One run of verdict.py, in a session of its own: the terminal's signals do not reach it, and all of it can be stopped."""

    def __init__(self, what, lesson, content=b""):
        self.what, self.lesson, self.content = what, lesson, content
        self.begun, self.said, self.stopped = time.monotonic(), b"", None
        own = {"USERS_PYTHONPATH": os.environ.get("PYTHONPATH", ""), "PYTHONPATH": str(ROOT / "common"), "PYTHONUTF8": "1"}
        self.errors = tempfile.TemporaryFile()
        command = [sys.executable, "-B", "-m", "course", "verdict", what, lesson]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **own}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
            start_new_session=True, close_fds=False,
        )  # fmt: skip
        os.set_blocking(self.process.stdout.fileno(), False)

    def has_ended(self):
        """Reads what has been printed; true at its end."""
        try:
            while some := os.read(self.process.stdout.fileno(), 65536):
                self.said += some
        except BlockingIOError:
            return False
        return True

    def result(self):
        """What it found out. A verdict that could not be reached is a result, too."""
        self.process.wait()
        self.process.stdout.close()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip()
        self.errors.close()
        try:
            return json.loads(self.said)
        except ValueError:
            return {"kind": "broken", "said": said.splitlines()[-12:]}

    def stop(self):
        """Ends it and all that it has started; after 3 seconds by force."""
        late = self.stopped and time.monotonic() - self.stopped > 3
        self.stopped = self.stopped or time.monotonic()
        try:
            os.killpg(self.process.pid, signal.SIGKILL if late else signal.SIGTERM)
        except ProcessLookupError:
            pass


# ---- views ---------------------------------------------------------------------------------------------------------------


class View:
    """Something that fills the screen between the header and the keys. `offset`: its first line that is shown; `shift`: the first column of
    a program's output, which is not wrapped."""

    offset = shift = 0
    scrolls = True

    def lines(self, trainer, room):
        raise NotImplementedError

    def keys(self, trainer):
        """[(key, what it does)] for the last lines of the screen."""
        return [("q", "back")]

    def press(self, trainer, key):
        pass

    def below(self, trainer, lines):
        """Lines directly above the keys."""


class Ask(View):
    """The question and the prediction. It is asked for when the end of the text has been on the screen: two questions are in that text, and
    the second one is meant."""

    def __init__(self, draft):
        self.typed, self.was_read = draft, False

    def lines(self, trainer, room):
        lesson, shown = trainer.text, trainer.screen.lines()
        shown.add(lesson.question, style="strong").space().markdown(lesson.idea).space()
        if lesson.predict:
            shown.add("Predict", style="strong").markdown(lesson.predict)
        self.was_read = self.was_read or self.offset + room >= len(shown)
        return shown

    def below(self, trainer, lines):
        if not self.was_read:
            lines.add("Your prediction is asked for at the end of this text.", style="quiet")
            return
        room = lines.width - len("Your prediction: ") - 1
        lines.add("Your prediction: " + self.typed[-room:] + trainer.screen.marks["cursor"], style="note")

    def keys(self, trainer):
        if not self.was_read:
            return [("Enter", "read on"), ("Esc", "later"), ("Up Down", "scroll"), ("Ctrl-C", "quit")]
        return [("Enter", "keep it and run the program"), ("Esc", "later"), ("Up Down", "scroll"), ("Ctrl-C", "quit")]

    def press(self, trainer, key):
        if key == "escape":
            trainer.keep(draft=self.typed or None)
            trainer.later.add(trainer.lesson)
            trainer.show(Work())
        elif not self.was_read:
            self.offset += trainer.page() if key in ("enter", " ") else 0
        elif key == "enter":
            trainer.predict(" ".join(self.typed.split()))
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "ctrl-u":
            self.typed = ""
        elif key == "ctrl-w":
            self.typed = self.typed.rstrip().rpartition(" ")[0]
        elif len(key) == 1 and key.isprintable():
            self.typed += key


class Outcome(View):
    """The prediction beside the run and the lesson's result."""

    def lines(self, trainer, room):
        entry, shown = trainer.entry(), trainer.screen.lines()
        if entry.get("prediction"):
            shown.add("You predicted: " + entry["prediction"], style="note").space()
        run = trainer.run_result
        if run is None:
            seconds = int(time.monotonic() - trainer.job.begun) if trainer.job else 0
            shown.add(f"Building and running the program {trainer.screen.marks['more']} {seconds} s", style="quiet")
            return shown
        shown.add(f"$ make {number(trainer.lesson)}", style="strong")
        self.add_run(shown, run)
        for summary, body in trainer.text.results:
            shown.space().add(summary, style="strong").markdown(body)
        return shown

    def add_run(self, shown, run):
        if run["kind"] == "ran":
            for line in run["output"]:
                shown.code(line, shift=self.shift)
            if run["how"]:
                shown.add(f"(the program {run['how']})", style="quiet")
            if run["recorded"]:
                shown.space().add("Recorded on an NVIDIA H200, whose figures the text explains:", style="quiet")
                for line in run["recorded"]:
                    shown.code(line, shift=self.shift)
        elif run["kind"] == "compile":
            shown.add(f"main does not compile. If you edited it, `git diff {trainer.lesson}` shows the edit.", style="bad")
            for line in run["said"].splitlines():
                shown.code(line)
        else:
            shown.add("The program was not run: " + str(run.get("why") or " ".join(run.get("said", [])) or "it gave no reason") + ".")

    def keys(self, trainer):
        return [("Enter", "the exercise"), ("t", "text"), ("arrows", "scroll"), ("l", "list"), ("q", "quit")]

    def press(self, trainer, key):
        if key in ("enter", "escape", "v"):
            trainer.show(Work())
        else:
            trainer.press_common(key)


class Work(View):
    """The exercise, and what is still wrong with it."""

    scrolls = False
    asking = False  # whether to reset

    def lines(self, trainer, room):
        verdict, prediction = trainer.screen.lines(), trainer.screen.lines()
        entry = trainer.entry()
        if entry.get("prediction"):
            answer = next((body for _, body in trainer.text.results), "")
            said = reading.steps(answer)[0].replace("`", "").replace("*", "") if answer else ""
            prediction.add(f'You predicted: "{entry["prediction"]}"' + (f"  The result: {said}" if said else ""), style="note")
        hints = trainer.screen.lines()
        is_solved = (trainer.verdict or {}).get("kind") == "solved"
        for each in trainer.text.hints[: 0 if is_solved else entry.get("hints", 0)]:
            hints.markdown("Hint: " + each)
        task = trainer.screen.lines().markdown(trainer.text.exercise)
        others = len(hints) + len(prediction) + 2 + bool(len(hints)) + bool(len(prediction))
        trainer.add_verdict(verdict, max(6, room - others - 2))
        if room - others - len(verdict) < min(3, len(task)):  # what to write is more important than each true sentence
            verdict = trainer.screen.lines()
            trainer.add_verdict(verdict, max(6, room - others - 2), in_short=True)
        left = room - len(verdict) - others
        shown = trainer.screen.lines()
        if len(task) <= left:
            shown.lines += task.lines
        elif left < 3:
            shown.add(f"{trainer.screen.marks['more']} t shows what to write", style="quiet")
        else:
            shown.lines += task.lines[: left - 1]
            shown.add(f"{trainer.screen.marks['more']} t shows the whole text", style="quiet")
        for part in (verdict, hints, prediction):
            shown.space()
            shown.lines += part.lines
        return shown

    def keys(self, trainer):
        if self.asking:
            return [("y", "reset the exercise"), ("any other key", "leave it")]
        used, hints, entry = trainer.entry().get("hints", 0), len(trainer.text.hints), trainer.entry()
        keys = [("n", "next")] if entry.get("solved") else []
        keys += [("h", f"hint {used + 1} of {hints}")] if used < hints else []
        keys += [("s", "solution")] if trainer.may_see_solution() else []
        keys += [("d", "details")] if trainer.details() else []
        keys += [("f", "fetch PyTorch")] if trainer.needs_torch() else []
        keys += [("e", "edit"), ("t", "text"), ("v", "the run"), ("r", "reset"), ("l", "list")]
        keys += [] if entry.get("solved") else [("n", "next")]
        return keys + [("p", "previous"), ("?", "help"), ("q", "quit")]

    def press(self, trainer, key):
        if self.asking:
            self.asking = False
            if key == "y":
                trainer.reset()
            else:
                trainer.say("Nothing was reset.")
        elif key == "r":
            self.asking = trainer.can_reset()
        elif key == "h":
            trainer.hint()
        elif key == "s":
            trainer.compare()
        elif key == "d":
            if trainer.details():
                trainer.open(Page("The whole report", trainer.details().splitlines(), "report"))
            else:
                trainer.say("There is nothing more to show.")
        elif key == "v":
            trainer.show_run()
        elif key == "e":
            trainer.edit()
        elif key == "f" and trainer.needs_torch():
            trainer.fetch_torch()
        elif key in ("c", "enter"):
            trainer.judge_now()
        else:
            trainer.press_common(key)


class Page(View):
    """A text to scroll through: Markdown, a report, or a diff, whose lines are not wrapped."""

    def __init__(self, title, content, kind="markdown", note=""):
        self.title, self.content, self.kind, self.note = title, content, kind, note

    def lines(self, trainer, room):
        shown = trainer.screen.lines().add(self.title, style="strong").space()
        if self.note:
            shown.add(self.note, style="quiet").space()
        if self.kind == "markdown":
            return shown.markdown(self.content)
        for line in self.content:
            if self.kind == "report":
                shown.add(line)
            else:
                shown.code(line, shift=self.shift, style={"+": "good", "-": "bad", "@": "note"}.get(line[:1], ""))
        return shown

    def keys(self, trainer):
        return [("arrows, Space", "scroll"), ("q", "back")]

    def press(self, trainer, key):
        if key in ("q", "escape", "enter", "t", "s", "d", "?"):
            trainer.close()


class Chooser(View):
    """The list of lessons, with progress."""

    def __init__(self, lesson):
        self.at, self.moved = lesson, True

    def rows(self):
        return [row for chapter in chapters() for row in [chapter, *lessons([chapter])]]

    def lines(self, trainer, room):
        shown, kept, marks = trainer.screen.lines(), trainer.kept, trainer.screen.marks
        for row in self.rows():
            if "/" not in row:
                own = lessons([row])
                shown.add(f"{heading(row)}   {len(progress.solved(kept, own))} of {len(own)}", style="strong")
                continue
            entry = kept["lessons"].get(row, {})
            mark = marks["passed"] if entry.get("solved") else marks["dash"] if entry.get("attempts") else " "
            pointer = marks["here"] if row == self.at else " "
            name = heading(row).removesuffix(" ★")
            told = progress.state(entry) if entry else ""
            line = f"{pointer} {mark} {name:<42}"
            shown.code(line + (told if len(line) + len(told) <= shown.width else ""), style="note" if row == self.at else "")
        if self.moved:
            place, self.moved = self.rows().index(self.at), False
            self.offset = min(max(self.offset, place - room + 2), max(0, place - 1))
        return shown

    def keys(self, trainer):
        return [("Up Down", "choose"), ("Enter", "open it"), ("q", "back")]

    def press(self, trainer, key):
        every = lessons()
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -10, "page down": 10, " ": 10, "home": -len(every), "end": len(every)}
        if key in steps:
            self.at, self.moved = every[min(max(every.index(self.at) + steps[key], 0), len(every) - 1)], True
        elif key == "enter":
            trainer.close()
            trainer.go_to(self.at)
        elif key in ("q", "escape", "l"):
            trainer.close()


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


# ---- the trainer ---------------------------------------------------------------------------------------------------------


class Trainer:
    """The lesson that is open, what is known about it, and the loop."""

    def __init__(self, screen, lesson):
        self.screen, self.job, self.done, self.message = screen, None, False, ""
        self.later = set()  # lessons whose question was put off; they are not asked again in this session
        self.kept = progress.load()
        self.go_to(lesson)

    # -- progress

    def entry(self):
        return self.kept["lessons"].get(self.lesson, {})

    def keep(self, **changes):
        """Writes it at once. If that is impossible, the trainer continues with a message."""
        try:
            progress.note(self.lesson, **changes)
            self.kept = progress.load()
        except OSError as problem:
            self.kept["lessons"].setdefault(self.lesson, {}).update(changes)
            self.say(f"Progress was not saved: {problem.filename or progress.file()}: {problem.strerror}. Make room or correct the permissions.")

    def say(self, message):
        self.message = message

    # -- lessons and views

    def go_to(self, lesson):
        if self.job and self.job.what != "run" or self.job and self.job.lesson != lesson:
            self.job.stop()
        self.lesson, self.text, self.file = lesson, reading.read(lesson), exercise_of(lesson)
        self.verdict = self.run_result = self.judged = self.missing_since = None
        self.wanted, self.overlays = [], []
        self.seen = self.stable = signature(self.file)
        self.wanted.append("prepare")
        attempts = self.entry().get("attempts", [])
        try:
            with progress.changing() as kept:
                kept["at"] = lesson
            keep_original(lesson, attempts)
            self.kept = progress.load()
        except OSError as problem:
            self.say(f"Progress was not saved: {problem.filename or progress.file()}: {problem.strerror}. Make room or correct the permissions.")
        self.is_untouched = self.file.exists() and content_of(self.file) == original_of(lesson, attempts)
        asked = self.entry().get("predicted") or attempts or lesson in self.later or not self.text.predict
        self.view = Work() if asked else Ask(self.entry().get("draft", ""))
        if asked and not self.is_untouched:
            self.wanted.append("judge")

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

    def predict(self, prediction):
        self.keep(draft=None, predicted=progress.now(), **({"prediction": prediction} if prediction else {}))
        self.show_run()

    def show_run(self):
        """The prediction comes first, if it is missing."""
        if self.text.predict and not self.entry().get("predicted"):
            return self.show(Ask(self.entry().get("draft", "")))
        if self.run_result is None:
            self.want("run")
        return self.show(Outcome())

    # -- keys

    def press(self, key):
        self.message = ""
        view = self.overlays[-1] if self.overlays else self.view
        if key in ("ctrl-c", "ctrl-d"):
            self.done = True
        elif key == "ctrl-z":
            self.suspend()
        elif key == "ctrl-l":
            self.screen.write("\x1b[2J")
        elif view.scrolls and not isinstance(view, Chooser) and self.scroll(view, key):
            pass
        else:
            view.press(self, key)

    def page(self):
        """How many lines further the next page begins."""
        return max(1, self.screen.height - 7)

    def scroll(self, view, key):
        page = self.page()
        steps = {"up": -1, "down": 1, "page up": -page, "page down": page, "home": -100000, "end": 100000}
        if not isinstance(view, Ask):  # there, they are typed
            steps.update({"k": -1, "j": 1, " ": page, "b": -page})
        view.offset += steps.get(key, 0)
        view.shift = max(0, view.shift + {"right": 20, "left": -20}.get(key, 0))
        return key in steps or key in ("left", "right")

    def press_common(self, key):
        every = lessons()
        place = every.index(self.lesson)
        if key == "q":
            self.done = True
        elif key == "t":
            text = self.text.whole_with_results if self.entry().get("predicted") or self.entry().get("attempts") else self.text.whole
            self.open(Page(f"{self.lesson}/README.md", text.partition("\n")[2]))
        elif key == "l":
            self.kept = progress.load()
            self.open(Chooser(self.lesson))
        elif key == "?":
            self.open(Page("Keys", HELP))
        elif key == "n":
            self.go_to(every[place + 1]) if place + 1 < len(every) else self.say("This is the last lesson.")
        elif key == "p":
            self.go_to(every[place - 1]) if place else self.say("This is the first lesson.")

    # -- what keys do

    def hint(self):
        used = self.entry().get("hints", 0)
        if used < len(self.text.hints):
            self.keep(hints=used + 1)
        else:
            self.say("There are no more hints." if used else "This exercise has no hint.")

    def may_see_solution(self):
        entry = self.entry()
        return bool(entry.get("solved")) or len(entry.get("attempts", [])) >= progress.ATTEMPTS_FOR_SOLUTION

    def compare(self):
        tried, solution = len(self.entry().get("attempts", [])), answers(self.lesson).get("solution")
        if not solution:
            self.say("The solution's file is missing. `git status` names it, and `git checkout` with that name restores it.")
        elif not self.may_see_solution():
            self.say(f"The solution opens after {progress.ATTEMPTS_FOR_SOLUTION} attempts that compile; you have made {tried}. A hint may be enough: h")
        else:
            mine = content_of(self.file).decode("utf-8", errors="replace").splitlines()
            theirs = solution.read_text(encoding="utf-8").splitlines()
            diff = list(difflib.unified_diff(mine, theirs, n=3, lineterm=""))[2:]
            note = f"From your {self.file.name} to {solution.name}: lines with - are yours, lines with + are the solution's. There are others."
            self.open(Page("One possible solution", diff or ["Your file is the same as the solution."], "diff", note))

    def can_reset(self):
        original = original_of(self.lesson, self.entry().get("attempts", []))
        if original is None:
            self.say(f"Nothing was reset: there is no original of {self.file.name}. The course was unpacked without git, or your solution is committed.")
        elif original == content_of(self.file):
            self.say(f"{self.file.name} is as it came with the course.")
        else:
            self.say(f"Reset {self.lesson}/{self.file.name}? A copy of your file is kept in .progress/before-reset.")
            return True
        return False

    def reset(self):
        try:
            copy = put_aside(self.lesson) if self.file.exists() else None
            replace(self.file, original_of(self.lesson, self.entry().get("attempts", [])))
        except OSError as problem:
            return self.say(f"Nothing was reset: {problem.filename}: {problem.strerror}.")
        self.seen = self.stable = signature(self.file)
        self.verdict, self.missing_since, self.is_untouched = None, None, True
        if self.job and self.job.what == "judge":
            self.job.stop()
        return self.say(f"{self.file.name} is as it came with the course." + (f" Your file: {copy.relative_to(ROOT)}" if copy else ""))

    def foreground(self, command):
        """Runs a program in the terminal, which then sends its signals to that program only."""
        keyboard = self.screen.keyboard

        def in_the_new_process():
            os.setpgrp()
            os.tcsetpgrp(keyboard, os.getpid())  # before it can read: a program in the background would be stopped
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)

        with self.screen.lent():
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            try:
                running = subprocess.Popen(command, cwd=ROOT, preexec_fn=in_the_new_process)
                while os.WIFSTOPPED(os.waitpid(running.pid, os.WUNTRACED)[1]):  # Ctrl-Z has no shell to go to
                    os.tcsetpgrp(keyboard, running.pid)
                    os.killpg(running.pid, signal.SIGCONT)
                running.returncode = 0  # it has been waited for
            finally:
                with contextlib.suppress(OSError):  # the terminal may be gone
                    os.tcsetpgrp(keyboard, os.getpgrp())
                signal.signal(signal.SIGTTOU, before)

    def edit(self):
        named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, EDITORS), "")
        try:
            words = shlex.split(named)
            if not words:
                return self.say(f"No editor was found. Set EDITOR, or open {self.lesson}/{self.file.name} in another window.")
            self.foreground([*words, str(self.file)])
        except (OSError, ValueError) as problem:
            return self.say(f"{named} did not start: {getattr(problem, 'strerror', None) or problem}. Set EDITOR to another editor.")
        return None

    def needs_torch(self):
        return is_python(self.lesson) and not (possible.setup().get("TORCH") and possible.setup().get("PYTEST"))

    def fetch_torch(self):
        own = ["env", f"USERS_PYTHONPATH={os.environ.get('PYTHONPATH', '')}", f"PYTHONPATH={ROOT / 'common'}"]
        self.foreground([*own, sys.executable, "-B", "-m", "course", "setup", "catch2", "tools", "torch", "pytest"])
        self.verdict = self.run_result = None
        self.judge_now()

    def judge_now(self):
        self.is_untouched = False
        self.want("judge")

    def suspend(self):
        """Ctrl-Z: the shell gets the terminal until fg."""
        with self.screen.lent():
            os.killpg(os.getpgrp(), signal.SIGTSTP)

    # -- the exercise's verdict

    def details(self):
        verdict = self.verdict or {}
        return verdict.get("said") if verdict.get("kind") == "compile" else verdict.get("failure", "")

    def add_verdict(self, lines, room, in_short=False):
        """What is known about the exercise, in at most `room` lines; `in_short`: without each sentence that is true."""
        more, place = self.screen.marks["more"], f"{self.lesson}/{self.file.name}"
        if self.job and self.job.what == "judge" and not self.job.stopped:
            lines.add(f"{self.file.name}   building and judging {more} {time.monotonic() - self.job.begun:.0f} s", style="quiet")
            return
        if self.missing_since and time.monotonic() - self.missing_since > GONE:
            lines.add(f"{place} is missing. r restores it as it came with the course, or save your own under this name.", style="bad")
            return
        verdict = self.verdict
        if verdict is None:
            told = "is as it came with the course. Open it in your editor and save it: each save is judged." if self.is_untouched else "is not judged yet."
            lines.add(f"{place} {told}")
            return
        {
            "missing": lambda: lines.add(f"{place} is missing. r restores it as it came with the course, or save your own under this name.", style="bad"),
            "unreadable": lambda: lines.add(f"{place} could not be read: {verdict['why']}. Correct that and save it again.", style="bad"),
            "empty": lambda: lines.add(f"{place} is empty. If that was a mistake, undo it in your editor and save; r restores the original.", style="bad"),
            "conflict": lambda: self.add_conflict(lines, verdict),
            "skipped": lambda: lines.add(f"The exercise cannot be judged here: {verdict['why']}."),
            "refused": lambda: lines.add(f"The exercise was not judged: {verdict['why']}", style="bad"),
            "broken": lambda: self.add_broken(lines, verdict),
            "compile": lambda: self.add_compile(lines, verdict),
            "failed": lambda: self.add_failed(lines, verdict, room, in_short),
            "solved": lambda: self.add_solved(lines, verdict, 1 if in_short else room),
        }[verdict["kind"]]()

    def add_conflict(self, lines, verdict):
        line = verdict["place"]["line"]
        lines.add(f"{self.file.name}:{line} begins a merge conflict: git pull changed lines that you had changed, too.", style="bad")
        lines.add("Keep one of the two versions, delete the lines that begin with <<<<<<<, ======= and >>>>>>>, and save.", 3)

    def add_broken(self, lines, verdict):
        lines.add("The exercise was not judged, because the judge itself ended with an error:", style="bad")
        for line in verdict["said"]:
            lines.code(line, 3)

    def add_place(self, lines, place):
        """The line of the learner's file, and a mark under the column if the compiler named one."""
        beginning = f"{place['file']}:{place['line']}"
        if not place["exact"]:
            lines.code(f"{beginning}   begins what was called:  {place['code']}", 6)
            return
        lines.code(f"{beginning}   {place['code']}", 6)
        source = content_of(self.file).decode("utf-8", errors="replace").splitlines()
        if place["column"] and place["line"] <= len(source):
            line = source[place["line"] - 1]
            before = line[: place["column"] - 1]
            lines.code(" " * (len(beginning) + 3 + len(before) - len(line[: len(line) - len(line.lstrip())])) + "^", 6, style="bad")

    def add_compile(self, lines, verdict):
        lines.add(f"{self.file.name}   does not compile yet   ({verdict['build_seconds']:.1f} s)")
        lines.space().add(f"{self.screen.marks['failed']} {verdict['error']}", 3, style="bad")
        if verdict["place"]:
            self.add_place(lines, verdict["place"])

    def add_times(self, lines, verdict):
        tried = progress.counted(len(self.entry().get("attempts", [])), "attempt")
        lines.add(f"{self.file.name}   built in {verdict['build_seconds']:.1f} s, judged in {verdict['judge_seconds']:.1f} s   ({tried})", style="quiet")

    def add_passed(self, lines, passed, room):
        """The sentences that are true; only how many, if there is no room."""
        if len(passed) <= room:
            for name in passed:
                lines.code(f"{self.screen.marks['passed']} {name}", 3, style="good")
        elif passed:
            lines.add(f"{self.screen.marks['passed']} {progress.counted(len(passed), 'sentence')} {'is' if len(passed) == 1 else 'are'} true", 3, style="good")

    def add_failed(self, lines, verdict, room, in_short):
        marks = self.screen.marks
        self.add_times(lines, verdict)
        lines.space()
        failure = self.screen.lines()
        failure.add(f"{marks['failed']} {verdict['case']}", 3, style="bad")
        if verdict["place"]:
            self.add_place(failure, verdict["place"])
        said = self.screen.lines()
        for line in verdict["words"].splitlines():
            said.add(line, 6)
        space = max(2, room - 3 - len(failure))
        failure.lines += said.lines[:space]
        if len(said) > space:
            failure.lines.pop()
            failure.add(f"{marks['more']} d shows the rest", 6, style="quiet")
        self.add_passed(lines, verdict["passed"], 1 if in_short else room - 3 - len(failure))
        lines.lines += failure.lines
        if verdict["waiting"]:
            lines.add(f"{marks['waiting']} {verdict['waiting']} more wait{'s' if verdict['waiting'] == 1 else ''} for this one", 3, style="quiet")

    def add_solved(self, lines, verdict, room):
        self.add_times(lines, verdict)
        lines.space()
        self.add_passed(lines, verdict["passed"], room - 4)
        every, place = lessons(), lessons().index(self.lesson)
        after = f" n opens {heading(every[place + 1])}." if place + 1 < len(every) else " That was the last lesson."
        lines.space().add(f"Solved. s compares your file with the solution.{after}", style="good")

    # -- the frame

    def frame(self):
        columns, height = self.screen.columns, self.screen.height
        if columns < SMALLEST[0] or height < SMALLEST[1]:
            return self.screen.lines().add(f"The terminal has {columns} x {height} characters, and the trainer needs {SMALLEST[0]} x {SMALLEST[1]}. Make it larger. q quits.").lines
        view = self.overlays[-1] if self.overlays else self.view
        head, foot = self.header(), self.footer(view)
        room = height - len(head) - len(foot)
        body = view.lines(self, room)
        if view.scrolls:
            view.offset = min(max(0, view.offset), max(0, len(body) - room))
        foot = self.footer(view)  # what is asked for depends on what is shown
        shown = body.lines[view.offset : view.offset + room]
        if len(body) > room:
            self.mark_scroll(foot, view, len(body), room)
        return head.lines + shown + [[]] * (room - len(shown)) + foot.lines

    def header(self):
        solved = f"{len(progress.solved(self.kept))} of {len(lessons())} solved"
        right, left, lines = f"{self.text.title}   {solved}", "CUDA from the Driver Up", self.screen.lines()
        gap = lines.width - len(left) - len(right)
        lines.code(left + " " * gap + right if gap >= 3 else right, style="strong")
        return lines.code(self.screen.marks["rule"] * lines.width, style="quiet")

    def footer(self, view):
        lines = self.screen.lines()
        view.below(self, lines)
        if self.message:
            lines.add(self.message, style="note")
        lines.code(self.screen.marks["rule"] * lines.width, style="quiet")
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

    def mark_scroll(self, foot, view, length, room):
        """In the rule above the keys: how far down the view is."""
        if not view.scrolls:
            return
        shown = f" {min(length, view.offset + room)} of {length} lines "
        rule = next(number for number, line in enumerate(foot.lines) if line and line[0].text.startswith(self.screen.marks["rule"] * 3))
        width = foot.width - len(shown) - 3
        foot.lines[rule] = self.screen.lines().code(self.screen.marks["rule"] * width + shown + self.screen.marks["rule"] * 3, style="quiet").lines[0]

    # -- the loop

    def watch(self):
        """Notices a save: the file has changed, and then stayed the same from one look to the next."""
        found = signature(self.file)
        if found is None:
            self.missing_since = self.missing_since or time.monotonic()
        else:
            self.missing_since = None
        if found != self.stable:
            self.stable = found
        elif found != self.seen and found is not None:
            self.seen, self.is_untouched = found, False
            self.want("judge")
        if found is None and self.seen is not None and time.monotonic() - self.missing_since > GONE:
            self.seen = None

    def start_work(self):
        """One process at a time, because two makes would build the same files. A save does not wait for anything else."""
        order = [what for what in (("judge", "run", "prepare") if isinstance(self.view, Work) else ("run", "prepare")) if what in self.wanted]
        if self.job:
            is_obsolete = self.job.what == "prepare" and order or self.job.what in ("run", "judge") and order[:1] == ["judge"]
            if is_obsolete and not self.job.stopped:
                self.job.stop()
                if self.job.what == "run":  # again, after the save has been judged
                    self.want("run")
            elif self.job.stopped and time.monotonic() - self.job.stopped > 3:
                self.job.stop()
            return
        if order:
            self.wanted.remove(order[0])
            self.job = Job(order[0], self.lesson, content_of(self.file))

    def finish(self):
        job, self.job = self.job, None
        result = job.result()
        if job.stopped or job.lesson != self.lesson:
            return
        if job.what == "run":
            self.run_result = result
            self.keep(result=result.get("output") or [str(result.get("why", ""))])
        elif job.what == "judge" and "judge" not in self.wanted:
            self.verdict = result
            if result["kind"] in ("failed", "solved") and job.content != original_of(self.lesson, self.entry().get("attempts", [])):
                self.note_attempt(job, result["kind"] == "solved")

    def note_attempt(self, job, is_right):
        try:
            progress.note_attempt(job.lesson, job.content, is_right)
            self.kept = progress.load()
        except OSError as problem:
            self.say(f"Progress was not saved: {problem.filename or progress.file()}: {problem.strerror}. Make room or correct the permissions.")

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
                job = [self.job.process.stdout.fileno()] if self.job else []
                keys, ready, resized = self.screen.wait(job, TICK)
                for key in keys:
                    self.press(key)
                    if self.done:
                        break
                if ready and self.job.has_ended():
                    self.finish()
                drawn = None if resized or keys else drawn
        finally:
            if isinstance(self.view, Ask) and self.view.typed != self.entry().get("draft", ""):
                self.keep(draft=self.view.typed or None)
            if self.job:
                self.job.stop()
                self.job.process.wait()


def main(words):
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit("make learn needs a terminal, and its input or output is something else. `make check 02-03` judges an exercise without one.")
    if possible.setup().get("WITHOUT_TOOLS"):
        sys.exit(f"make learn draws with the Python package rich, which is missing: {possible.setup()['WITHOUT_TOOLS']}. `make walk` and `make check` work without it.")
    environment.use()
    from course.screen import Screen

    lesson = words[0] if words else progress.continues_at(progress.load())
    choose_device()  # ends with a sentence if DEVICE names one that is missing
    with Screen() as screen:
        trainer = Trainer(screen, lesson)
        trainer.run()
    where = heading(trainer.lesson)
    print(f"{len(progress.solved(trainer.kept))} of {len(lessons())} exercises solved. `make learn` continues with {where}.")
    return 0
