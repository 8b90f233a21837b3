"""The terminal of make learn: the keys that come in, and the frames that go out. rich turns text into lines of a given width.

The terminal sends every key at once, Ctrl-C included, so no signal interrupts the program while it writes. However the program is left,
the terminal is put back as it was.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios

from rich.console import Console
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

# Colors from the terminal's own palette, so that light and dark themes are both readable. Each also has a mark or a place of its own:
# nothing is said by color alone.
THEME = Theme(
    {
        "good": "green",
        "bad": "red",
        "note": "cyan",
        "quiet": "dim",
        "strong": "bold",
        "key": "bold",
        "markdown.code": "cyan",
        "markdown.code_block": "none",
        "markdown.h1": "bold",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.item.bullet": "none",
        "markdown.item.number": "none",
        "markdown.block_quote": "none",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)
MARKS = {"passed": "✓", "failed": "✗", "waiting": "·", "rule": "─", "cursor": "▌", "here": "▸", "more": "…", "dash": "–"}
ASCII = {"passed": "+", "failed": "x", "waiting": ".", "rule": "-", "cursor": "_", "here": ">", "more": "...", "dash": "-"}
# What terminals send for the keys that are not characters.
SEQUENCES = {
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down", "\x1b[5~": "page up", "\x1b[6~": "page down",
    "\x1b[H": "home", "\x1bOH": "home", "\x1b[1~": "home", "\x1b[F": "end", "\x1bOF": "end", "\x1b[4~": "end",
    "\x1b[C": "right", "\x1bOC": "right", "\x1b[D": "left", "\x1bOD": "left",
    "\r": "enter", "\n": "enter", "\x7f": "backspace", "\x08": "backspace", "\x1b": "escape",
    "\x03": "ctrl-c", "\x04": "ctrl-d", "\x15": "ctrl-u", "\x17": "ctrl-w", "\x1a": "ctrl-z", "\x0c": "ctrl-l", "\t": "tab",
}  # fmt: skip


def speaks_utf8() -> bool:
    """Does the locale say that the terminal shows UTF-8? Without any of the variables it is the C locale."""
    named = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    return "utf8" in named.lower().replace("-", "")


def size_of(descriptor: int) -> tuple[int, int]:
    """Columns and lines of a terminal; 80 x 24 if it does not know."""
    try:
        lines, columns, *_ = struct.unpack("HHHH", fcntl.ioctl(descriptor, termios.TIOCGWINSZ, b"\0" * 8))
    except OSError:
        lines = columns = 0
    return columns or 80, lines or 24


def split_keys(text: str) -> tuple[list[str], str]:
    """Typed characters as keys, and a beginning of a sequence whose rest has not arrived. An unknown sequence is no key."""
    keys = []
    while text:
        if not text.startswith("\x1b") or len(text) == 1:
            keys.append(SEQUENCES.get(text[0], text[0]))
            text = text[1:]
            continue
        if text[1] not in "[O":  # Alt and a key
            text = text[2:]
            continue
        end = next((place for place in range(2, len(text)) if "@" <= text[place] <= "~"), None)
        if end is None:
            return keys, text
        keys.append(SEQUENCES.get(text[: end + 1], ""))
        text = text[end + 1 :]
    return [key for key in keys if key], ""


class Lines:
    """Rendered lines: rich's segments, a list for each line."""

    def __init__(self, console: Console, width: int):
        self.console, self.width, self.lines = console, width, []

    def add(self, what, indent: int = 0, style: str = "") -> Lines:
        """A string, a Text or anything else that rich can render. A string is not interpreted."""
        if isinstance(what, str):
            what = Text(what, style)
        options = self.console.options.update(width=max(10, self.width - indent), height=None)
        for line in self.console.render_lines(what, options, pad=False):
            self.lines.append([Segment(" " * indent), *line] if indent else line)
        return self

    def markdown(self, text: str, indent: int = 0) -> Lines:
        return self.add(Markdown(text, code_theme="bw", hyperlinks=False), indent) if text.strip() else self

    def code(self, text: str, indent: int = 0, style: str = "", shift: int = 0) -> Lines:
        """A line of code or of a program's output: cut rather than wrapped. `shift`: the column that it begins with."""
        line = Text(text.expandtabs(4)[shift:], style, no_wrap=True)
        line.truncate(max(10, self.width - indent), overflow="ellipsis")
        return self.add(line, indent)

    def space(self) -> Lines:
        """An empty line, but no two of them and none at the beginning."""
        if self.lines and "".join(segment.text for segment in self.lines[-1]).strip():
            self.lines.append([])
        return self

    def __len__(self) -> int:
        return len(self.lines)


class Screen:
    """The terminal, from `with` to its end: alternate screen, no cursor, keys without echo."""

    def __init__(self):
        self.keyboard, self.out = sys.stdin.fileno(), sys.stdout.fileno()
        self.dumb = os.environ.get("TERM", "") in ("", "dumb", "unknown")
        self.marks = MARKS if speaks_utf8() else ASCII
        self.console = Console(file=sys.stdout, theme=THEME, highlight=False, emoji=False, markup=False, force_terminal=not self.dumb, legacy_windows=False)
        self.decoder, self.rest, self.saved = codecs.getincrementaldecoder("utf-8")("replace"), "", None
        self.wake, self.waker = os.pipe()
        for end in (self.wake, self.waker):
            os.set_blocking(end, False)
        self.columns, self.height = size_of(self.out)

    def __enter__(self) -> Screen:
        self.saved = termios.tcgetattr(self.keyboard)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGWINCH, lambda *_: None)  # only wakes us
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        self.take()
        return self

    def __exit__(self, *_) -> None:
        self.give_back()
        signal.set_wakeup_fd(-1)

    def take(self) -> None:
        mode = termios.tcgetattr(self.keyboard)
        mode[0] &= ~(termios.IXON | termios.ICRNL)
        mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self.keyboard, termios.TCSAFLUSH, mode)  # ignores what was typed before
        self.write("" if self.dumb else "\x1b[?1049h\x1b[?25l\x1b[2J")

    def give_back(self) -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            self.write("" if self.dumb else "\x1b[?25h\x1b[?1049l")
            termios.tcsetattr(self.keyboard, termios.TCSADRAIN, self.saved)

    @contextlib.contextmanager
    def lent(self):
        """The terminal as it was, for another program: an editor, a shell, set-up."""
        self.give_back()
        try:
            yield
        finally:
            self.take()

    def run(self, command: list[str], **how) -> None:
        """Runs a program in the terminal, which then sends its signals to that program only."""

        def in_the_new_process():
            os.setpgrp()
            os.tcsetpgrp(self.keyboard, os.getpid())  # before it can read: a program in the background would be stopped
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)

        with self.lent():
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            try:
                running = subprocess.Popen(command, preexec_fn=in_the_new_process, **how)
                while os.WIFSTOPPED(os.waitpid(running.pid, os.WUNTRACED)[1]):  # Ctrl-Z has no shell to go to
                    os.tcsetpgrp(self.keyboard, running.pid)
                    os.killpg(running.pid, signal.SIGCONT)
                running.returncode = 0  # it has been waited for
            finally:
                with contextlib.suppress(OSError):  # the terminal may be gone
                    os.tcsetpgrp(self.keyboard, os.getpgrp())
                signal.signal(signal.SIGTTOU, before)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", errors="replace")
        while data:
            data = data[os.write(self.out, data) :]

    def lines(self, width: int | None = None) -> Lines:
        return Lines(self.console, width or self.columns - 2)

    def as_text(self, lines: list) -> str:
        """Rendered lines with the terminal's codes for color; without them where NO_COLOR is set."""
        with self.console.capture() as captured:
            for line in lines:
                self.console.print(*(Text(segment.text, segment.style or "") for segment in line), sep="", end="\n", soft_wrap=True)
        return captured.get()

    def draw(self, lines: list) -> None:
        """One frame, written over the last one, which does not flicker."""
        shown = self.as_text([[Segment(" "), *line] for line in lines[: self.height]]).split("\n")[:-1]
        if self.dumb:
            return self.write("\n" + "\n".join(shown) + "\n")
        return self.write("\x1b[H" + "\r\n".join(f"{line}\x1b[0m\x1b[K" for line in shown) + "\x1b[J")

    def wait(self, others: list, seconds: float) -> tuple[list[str], list, bool]:
        """(keys, those of `others` that can be read, whether the size has changed). An end of the input is ctrl-d."""
        keys, ready = [], []
        with contextlib.suppress(InterruptedError):
            ready, _, _ = select.select([self.keyboard, self.wake, *others], [], [], seconds)
        if self.wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self.wake, 4096)
        if self.keyboard in ready:
            try:
                data = os.read(self.keyboard, 4096)
            except OSError:
                data = b""
            keys, self.rest = split_keys(self.rest + self.decoder.decode(data))
            keys = keys if data else ["ctrl-d"]
        before = self.columns, self.height
        self.columns, self.height = size_of(self.out)
        return keys, [other for other in others if other in ready], before != (self.columns, self.height)
