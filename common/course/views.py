"""What fills the trainer's screen between its header and its keys: the question, the run, the exercise, a page to read, the list of lessons."""

from __future__ import annotations

from course import feedback, history
from course.lessons import chapters, heading, lessons


class View:
    """`offset`: the first of its lines that is shown; `shift`: the first column of a program's output, which is not wrapped."""

    offset = shift = 0
    scrolls = letters_scroll = True

    def lines(self, trainer, room):
        raise NotImplementedError

    def keys(self, trainer):
        """[(key, what it does)] for the last lines of the screen."""
        return [("arrows, Space", "scroll"), ("q", "back")]

    def press(self, trainer, key):
        raise NotImplementedError

    def scroll(self, key, page):
        """Scrolls, if that is what the key is for; otherwise false."""
        steps = {"up": -1, "down": 1, "page up": -page, "page down": page, "home": -100000, "end": 100000}
        if self.letters_scroll:
            steps.update({"k": -1, "j": 1, " ": page, "b": -page})
        self.offset += steps.get(key, 0)
        self.shift = max(0, self.shift + {"right": 20, "left": -20}.get(key, 0))
        return key in steps or key in ("left", "right")

    def below(self, trainer, lines):
        """Lines directly above the keys."""


class Ask(View):
    """The question and the prediction. It is asked for when the end of the text has been on the screen: two questions are in that text, and
    the second one is meant."""

    letters_scroll = False  # they are typed

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
        enter = "keep it and run the program" if self.was_read else "read on"
        return [("Enter", enter), ("Esc", "later"), ("Up Down", "scroll"), ("Ctrl-C", "quit")]

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
        shown, run = trainer.screen.lines(), trainer.run_result
        if prediction := trainer.prediction():
            shown.add("You predicted: " + prediction, style="note").space()
        if run is None:
            seconds = int(trainer.job.seconds()) if trainer.job else 0
            return shown.add(f"Building and running the program {trainer.screen.marks['more']} {seconds} s", style="quiet")
        shown.add(f"$ make {trainer.lesson.number}", style="strong")
        self.add_run(shown, run, trainer.lesson)
        for summary, body in trainer.text.results:
            shown.space().add(summary, style="strong").markdown(body)
        return shown

    def add_run(self, shown, run, lesson):
        if run.kind == "ran":
            for line in run.output:
                shown.code(line, shift=self.shift)
            if run.how:
                shown.add(f"(the program {run.how})", style="quiet")
            if run.recorded:
                shown.space().add("As recorded on an NVIDIA H200 (the text explains these figures):", style="quiet")
            for line in run.recorded:
                shown.code(line, shift=self.shift)
        elif run.kind == "does not compile":
            shown.add(f"main does not compile. If you edited it, `git diff {lesson}` shows the edit.", style="bad")
            for line in run.said.splitlines():
                shown.code(line)
        else:
            shown.add("The program was not run: " + (run.why or " ".join(run.said.splitlines()) or "it gave no reason") + ".")

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
        shown, hints, prediction = trainer.screen.lines(), trainer.screen.lines(), trainer.screen.lines()
        entry, more = trainer.entry(), trainer.screen.marks["more"]
        if predicted := trainer.prediction():
            result = f"  The result: {trainer.text.first_result}" if trainer.text.first_result else ""
            prediction.add(f'You predicted: "{predicted}"{result}', style="note")
        is_solved = trainer.verdict is not None and trainer.verdict.is_solved
        for each in trainer.text.hints[: 0 if is_solved else entry.get("hints", 0)]:
            hints.markdown("Hint: " + each)
        task = trainer.screen.lines().markdown(trainer.text.exercise).lines
        room -= len(hints) + len(prediction) + 2 + bool(len(hints)) + bool(len(prediction))
        verdict = feedback.show(trainer, max(6, room - 2))
        if room - len(verdict) < min(3, len(task)):  # what to write is more important than each true sentence
            verdict = feedback.show(trainer, max(6, room - 2), in_short=True)
        room -= len(verdict)
        if len(task) <= room:
            shown.lines += task
        elif room < 3:
            shown.add(f"{more} t shows what to write", style="quiet")
        else:
            shown.lines += task[: room - 1]
            shown.add(f"{more} t shows the whole text", style="quiet")
        for part in (verdict, hints, prediction):
            shown.space()
            shown.lines += part.lines
        return shown

    def keys(self, trainer):
        if self.asking:
            return [("y", "reset the exercise"), ("any other key", "leave it")]
        entry, hints = trainer.entry(), len(trainer.text.hints)
        used, is_solved = entry.get("hints", 0), entry.get("solved")
        shown = [
            (is_solved, "n", "next"),
            (used < hints, "h", f"hint {used + 1} of {hints}"),
            (trainer.may_see_solution(), "s", "solution"),
            (trainer.details(), "d", "details"),
            (trainer.lacks_torch, "f", "fetch PyTorch"),
            (True, "e", "edit"),
            (True, "t", "text"),
            (True, "v", "the run"),
            (True, "r", "reset"),
            (True, "l", "list"),
            (not is_solved, "n", "next"),
            (True, "p", "previous"),
            (True, "?", "help"),
            (True, "q", "quit"),
        ]
        return [(key, what) for is_shown, key, what in shown if is_shown]

    def press(self, trainer, key):
        does = {
            "h": trainer.hint,
            "s": trainer.compare,
            "d": trainer.show_details,
            "v": trainer.show_run,
            "e": trainer.edit,
            "c": trainer.judge_now,
            "enter": trainer.judge_now,
        }
        if self.asking:
            self.asking = False
            trainer.reset() if key == "y" else trainer.say("Nothing was reset.")
        elif key == "r":
            self.asking = trainer.can_reset()
        elif key == "f" and trainer.lacks_torch:
            trainer.fetch_torch()
        else:
            does.get(key, lambda: trainer.press_common(key))()


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

    def press(self, trainer, key):
        if key in ("q", "escape", "enter", "t", "s", "d", "?"):
            trainer.close()


class Chooser(View):
    """The list of lessons, with progress."""

    def __init__(self, lesson):
        self.at, self.moved = lesson, True
        self.rows = [row for chapter in chapters() for row in [chapter, *lessons([chapter])]]  # names of chapters, and lessons

    def lines(self, trainer, room):
        shown, kept, marks = trainer.screen.lines(), trainer.kept, trainer.screen.marks
        for row in self.rows:
            if isinstance(row, str):
                own = lessons([row])
                shown.add(f"{heading(row)}   {len(history.solved(kept, own))} of {len(own)}", style="strong")
                continue
            entry = history.entry_of(kept, row)
            mark = marks["passed"] if entry.get("solved") else marks["dash"] if entry.get("attempts") else " "
            pointer = marks["here"] if row == self.at else " "
            told = history.state(entry) if entry else ""
            line = f"{pointer} {mark} {row.heading.removesuffix(' ★'):<42}"
            shown.code(line + (told if len(line) + len(told) <= shown.width else ""), style="note" if row == self.at else "")
        if self.moved:
            place, self.moved = self.rows.index(self.at), False
            self.offset = min(max(self.offset, place - room + 2), max(0, place - 1))
        return shown

    def keys(self, trainer):
        return [("Up Down", "choose"), ("Enter", "open it"), ("q", "back")]

    def scroll(self, key, page):
        return False  # it follows what is chosen

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
