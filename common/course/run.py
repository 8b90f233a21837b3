"""make run: runs lessons in order, each as `build/<chapter>/<lesson>/main`, and counts how they ended."""

import collections
import contextlib
import os
import shlex
import subprocess
import sys
import tty

from course.device import choose_device
from course.lessons import heading, named
from course.possible import why_not
from course.process import SKIPPED, how_it_ended

AHEAD = 3


def title(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


class Running:
    """A program that has been started. It gets a terminal if we have one. Its two outputs stay in order if ours are the same file."""

    def __init__(self, program, environment):
        self.output, theirs = terminal() or os.pipe()
        self.process = subprocess.Popen(program, env=environment, stdout=theirs, stderr=theirs if one_output() else None)
        os.close(theirs)

    def show(self):
        """Passes on what the program prints, with a line end if the last one is missing; returns its status."""
        last = b"\n"
        with self.process:
            while printed := read(self.output):
                last = printed
                sys.stdout.buffer.write(printed)
                sys.stdout.buffer.flush()
        os.close(self.output)
        if not last.endswith(b"\n"):
            print(flush=True)
        return self.process.returncode


def one_output():
    """Are our two outputs the same file?"""
    return os.path.sameopenfile(1, 2)


def started(lessons, device):
    """Each lesson with its running program, or with the reason why there is none.

    On the simulator, the programs of the next lessons run already while one is shown, because most of them leave processor cores idle. What
    they print waits. On a GPU, they would disturb each other's measurements.
    """
    ahead = AHEAD if device.kind == "simulator" and one_output() else 0
    waiting = collections.deque()
    try:
        for lesson in lessons:
            reason = why_not(lesson)
            command = lesson.program() + shlex.split(os.environ.get("ARGS", ""))
            waiting.append((lesson, reason or Running(command, device.environment_for(lesson))))
            if len(waiting) > ahead:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for _, running in waiting:
            if isinstance(running, Running):
                running.process.kill()


def terminal():
    """A terminal for a program, if we have one; a chroot without /dev/pts cannot provide it."""
    if not sys.stdout.isatty():
        return None
    try:
        ours, theirs = os.openpty()
    except OSError:
        return None
    tty.setraw(theirs)  # our own terminal does the rest
    return ours, theirs


def read(source):
    """What can be read now, or nothing at the end (a terminal reports an error when its program has ended)."""
    try:
        return os.read(source, 65536)
    except OSError:
        return b""


def by_number(lessons):
    """' (05-12, 05-13)', or nothing."""
    names = [lesson.number for lesson in lessons]
    return f" ({', '.join(names)})" if names else ""


def main(words):
    lessons, device = named(words), choose_device()
    print(device.headline(), flush=True)
    failed, skipped, chapter = [], [], None
    with contextlib.closing(started(lessons, device)) as programs:
        for lesson, running in programs:
            if len(lessons) > 1:
                if lesson.chapter != chapter:
                    chapter = lesson.chapter
                    print(f"\n==== {heading(chapter)} ====", flush=True)
                title(lesson.heading)
            if isinstance(running, str):
                skipped.append(lesson)
                print(f"skipped: {lesson}: {running}", flush=True)
                continue
            status = running.show()
            if status == SKIPPED:
                skipped.append(lesson)
            elif status != 0:
                failed.append(lesson)
                print(f"FAILED: {lesson} {how_it_ended(status)}", flush=True)
    if failed:
        print("If you did not break it on purpose, `git diff` shows what was edited. make now reports an error.", flush=True)
    if len(lessons) > 1:
        counts = f"{len(lessons) - len(failed) - len(skipped)} lessons succeeded, {len(failed)} failed{by_number(failed)}, {len(skipped)} skipped{by_number(skipped)}"
        print(f"\n{counts}")
    return 1 if failed else 0
