"""make run: runs lessons in order, each as `build/<chapter>/<lesson>/main`, and counts how they ended."""

import os
import shlex
import subprocess
import sys
import tty

from course.device import choose_device
from course.lessons import heading, number, program
from course.possible import why_not
from course.process import SKIPPED, how_it_ended


def title(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def show(program, environment):
    """Runs a program and passes on what it prints, with a line end if the last one is missing; returns its status.

    The program gets a terminal if we have one. Its two outputs stay in order if ours are the same file.
    """
    ours, theirs = terminal() or os.pipe()
    errors = theirs if os.path.sameopenfile(1, 2) else None
    with subprocess.Popen(program, env=environment, stdout=theirs, stderr=errors) as running:
        os.close(theirs)
        last = b"\n"
        while printed := read(ours):
            last = printed
            sys.stdout.buffer.write(printed)
            sys.stdout.buffer.flush()
    os.close(ours)
    if not last.endswith(b"\n"):
        print(flush=True)
    return running.returncode


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
    """' (05-08, 05-10)', or nothing."""
    names = [number(lesson) for lesson in lessons]
    return f" ({', '.join(names)})" if names else ""


def main(lessons):
    device = choose_device()
    print(device.headline(), flush=True)
    failed, skipped, chapter = [], [], None
    for lesson in lessons:
        if len(lessons) > 1:
            if lesson.split("/")[0] != chapter:
                chapter = lesson.split("/")[0]
                print(f"\n==== {heading(chapter)} ====", flush=True)
            title(heading(lesson))
        reason = why_not(lesson)
        if reason:
            skipped.append(lesson)
            print(f"skipped: {lesson}: {reason}", flush=True)
            continue
        status = show(program(lesson) + shlex.split(os.environ.get("ARGS", "")), device.environment_for(lesson))
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

