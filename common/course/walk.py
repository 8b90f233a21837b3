"""make walk: the classroom. Goes through the lessons in the terminal: the question and the prediction, the run, what happened, what is next.
It waits for Enter whenever people should think; without a terminal it never waits. Pages fit 24 lines of 100 columns, and
narrower terminals.
"""

import os
import re
import subprocess
import sys
import termios
import textwrap

from course import text
from course.device import choose_device
from course.lessons import named
from course.possible import why_not
from course.process import RESTORE, how_it_ended


def page(columns, lines):
    """Width and height of a page on a terminal of that size, 100 x 24 if it does not know; the prompt needs a line, too."""
    columns, lines = columns or 100, lines or 24
    return max(20, min(98, columns - 2)), max(5, min(21, lines - 3))


WIDTH, HEIGHT = page(*os.get_terminal_size(sys.stdout.fileno())) if sys.stdout.isatty() else page(100, 24)
FENCED = " " * 4 + "\u200b"  # what a fenced block's line begins with until it is printed: a table's second line is indented, too
UNBROKEN = "\u00a0"  # a space at which no line is wrapped


class Leave(Exception):
    """The teacher typed q."""


class Screen:
    """Prints lines, and waits for Enter when a page is full or it is time to think."""

    def __init__(self):
        self.used = 0
        try:
            self.keyboard = open("/dev/tty", encoding="utf-8", errors="replace") if sys.stdout.isatty() else None
        except OSError:
            self.keyboard = None
        if self.keyboard:
            termios.tcflush(self.keyboard, termios.TCIFLUSH)  # ignores what was typed while the lessons were built

    def style(self, line, code):
        return f"\033[{code}m{line}\033[0m" if self.keyboard else line

    def show(self, lines):
        """Lines of a text."""
        self.show_as_they_are(self.styled(line) for line in lines)

    def show_as_they_are(self, lines):
        """What a program printed, page by page; two last lines are no page, and a paragraph does not begin on a page's last line."""
        lines = list(lines)
        for number, line in enumerate(lines):
            left = len(lines) - number
            begins = number > 0 and not lines[number - 1] and left > 1 and bool(lines[number + 1])
            if self.used >= HEIGHT + 2 or self.used >= HEIGHT and left > 2 or self.used == HEIGHT - 1 and begins and left > 3:
                self.wait("more")
            if line or self.used or number == 0:  # no page begins with an empty line, but a section does
                print(line)
                self.used += 1 + max(0, len(re.sub(r"\033\[\d+m", "", line)) - 1) // (WIDTH + 2)

    def styled(self, line):
        """**bold** and `code` in colour on a terminal, plain elsewhere; a fenced block's lines, which are indented, as they are."""
        if line.startswith(FENCED):
            return line.replace(FENCED, " " * 4, 1)
        line = re.sub(r"\*\*(.+?)\*\*", lambda found: self.style(found.group(1), "1"), line)
        return re.sub(r"`([^`]+)`", lambda found: self.style(found.group(1), "36"), line).replace("`", "").replace(UNBROKEN, " ")

    def wait(self, what):
        if not self.keyboard:
            return
        print(self.style(f"[Enter: {what}; q: leave] ", "2"), end="", flush=True)
        answer = self.keyboard.readline()
        if not answer or answer.strip().lower() == "q":
            raise Leave
        self.used = 0


# ---- a README's Markdown, as lines of a terminal -------------------------------------------------------------------------


def inline(line):
    """Links as their text, pictures as a note, *words* as words; **, ` and the like stay."""
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"\1", text.without_links(line))


def wrapped(words, first="", rest=None):
    """A paragraph as lines; **bold** and `code` stay on one line if they are short, for the screen styles line by line."""
    rest = first if rest is None else rest
    if re.fullmatch(r"\*\*[^*]+\*\*", words):
        return [f"**{line}**" for line in wrapped(words[2:-2], first, rest)]
    words = re.sub(r"\*\*.{1,60}?\*\*|`[^`]{1,60}`", lambda found: found.group(0).replace(" ", UNBROKEN), words)
    lines = textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return lines or [""]


def table(rows):
    """A table's rows: the first column as it is, the second wrapped beside it; each of the others below that, after its heading."""
    cells = [[inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))] for row in rows]
    cells = [row for row in cells if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    first = min(36, WIDTH // 3, max(len(row[0].replace("`", "")) for row in cells))
    lines = []
    heading = cells[0]
    for row in cells:
        width = first + row[0].count("`")  # they are not printed
        beside = f"  {row[0]:<{width}}  "
        if len(row[0]) > width:  # too long for its column: a line of its own
            lines, beside = lines + wrapped(row[0], "  ", "    "), " " * (first + 4)
        lines += wrapped(row[1] if len(row) > 1 else "", beside, " " * (first + 4))
        for name, cell in zip(heading[2:], row[2:] if row is not heading else []):
            lines += wrapped(f"{name}: {cell}", " " * (first + 4), " " * (first + 6)) if cell else []
    return lines


def rendered(body):
    """The lines of a section without its folded answers."""
    lines, paragraph, rows, inside = [], [], [], False

    def flush():
        if paragraph:
            item = re.match(r"\s*(?:[-*]|\d+\.) ", paragraph[0])
            lines.extend(wrapped(inline(" ".join(paragraph)), "", "  " if item else ""))
            paragraph.clear()
        if rows:
            lines.extend(table(rows))
            rows.clear()

    for line in body.splitlines():
        if re.match(r"\s*```", line):
            flush()
            inside = not inside
        elif inside:
            lines.append(FENCED + line)
        elif line.strip().startswith("|"):
            if paragraph:
                flush()
            rows.append(line)
        elif not line.strip() or line.startswith("#"):
            flush()
            if line.startswith("#"):
                lines.append("**" + line.lstrip("# ") + "**")
            elif lines and lines[-1]:
                lines.append("")
        elif inline(line).strip() and not re.match(r"---+$", line.strip()):
            if re.match(r"\s*(?:[-*]|\d+\.) ", line):
                flush()
            paragraph.append(line.strip())
    flush()
    while lines and not lines[-1]:
        lines.pop()
    return lines


# ---- the walk ------------------------------------------------------------------------------------------------------------


def run(screen, lesson, device):
    screen.show([f"$ make {lesson}"])
    reason = why_not(lesson)
    if reason:
        screen.show([f"skipped: {reason}"])
        return
    ended = subprocess.run(
        lesson.program(),
        env=device.environment_for(lesson), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    screen.show_as_they_are(ended.stdout.splitlines())
    screen.show_as_they_are(ended.stderr.splitlines())  # reports come last: into a pipe, a program's output waits until its end
    if ended.returncode:
        screen.show([f"(it {how_it_ended(ended.returncode)})"])


def teach(screen, lesson, device, next_lesson):
    """One lesson: its sections in the README's order; Run really runs, the exercise and the edits stay in the text."""
    if not lesson.text:
        screen.show(["", f"{lesson} has no README.md. If the file was deleted, {RESTORE}"])
        return
    parts = text.sections(lesson.text)
    for number, (heading, body) in enumerate(parts):
        shown, details = text.folded(body)
        if number == 0:
            screen.show(["", "=" * WIDTH, f"**{heading}**", "=" * WIDTH])
            screen.show(rendered(shown))
        elif heading == "Run":
            screen.wait("run it")
            screen.show(["", f"**{heading}**"])
            run(screen, lesson, device)
            if device.kind == "simulator" and (printed := text.recorded(body)):
                screen.show_as_they_are(["", "As recorded on an NVIDIA H200 (the text explains these figures):", *printed])
        elif heading in ("Predict", "What happened"):
            if heading == "What happened":
                screen.wait("what happened")
            screen.show(["", f"**{heading}**"] + rendered(shown))
            for summary, answer in details:
                screen.wait(summary)
                screen.show(["", f"**{summary}**"] + rendered(answer))
    screen.show(["", f'For "Break it" and the exercise: {lesson}/README.md', f"To check your solution: make check {lesson}"])
    screen.wait("next: " + next_lesson.heading if next_lesson else "the end")


def main(words):
    lessons = named(words)
    if not lessons:
        sys.exit("There is no lesson to walk through.")
    device, screen = choose_device(), Screen()
    print(device.headline())
    try:
        for lesson, next_lesson in zip(lessons, lessons[1:] + [None]):
            teach(screen, lesson, device, next_lesson)
    except (Leave, KeyboardInterrupt):
        print()
    return 0
