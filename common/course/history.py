"""What a learner has done so far.

It is kept in .progress/progress.json: outside build/, which make clean removes, and ignored by git. Every change is written at once, under
a lock and into a new file that then takes the old one's place. So nothing is lost if the trainer is killed, or if two of them run.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from course import ROOT
from course.lessons import RENAMED, Lesson, called, every, lessons, own_name

VERSION = 1
Kept = dict[str, Any]  # what is in the file, or its part about one lesson
ATTEMPTS_FOR_SOLUTION = 3


def folder() -> pathlib.Path:
    return ROOT / ".progress"


def file() -> pathlib.Path:
    return folder() / "progress.json"


def now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def empty() -> Kept:
    return {"version": VERSION, "at": "", "lessons": {}}


def load() -> Kept:
    """What is kept. An unreadable file is renamed rather than overwritten, because a person may want to repair it."""
    try:
        kept = json.loads(file().read_text(encoding="utf-8"))
        if isinstance(kept, dict) and isinstance(kept.get("lessons"), dict) and all(isinstance(each, dict) for each in kept["lessons"].values()):
            return renumbered({**empty(), **kept})
    except FileNotFoundError:
        return empty()
    except (ValueError, UnicodeDecodeError):
        pass
    with contextlib.suppress(OSError):
        os.replace(file(), file().with_suffix(".damaged"))
    return empty()


def renumbered(kept: Kept) -> Kept:
    """A lesson that has got another number or name since. What was noted about a lesson that is now part of another stays under its old name."""

    def now_called(old: str) -> str:
        own = own_name(old)
        now = called(own) or called(RENAMED.get(own))
        return now.name if now and old not in every() else old

    entries: Kept = {}
    for name, entry in kept["lessons"].items():
        entries.setdefault(now_called(name), entry)
    return {**kept, "at": now_called(kept["at"]), "lessons": entries}


@contextlib.contextmanager
def changing() -> Iterator[Kept]:
    """with changing() as kept: … writes what was changed. One process at a time."""
    folder().mkdir(exist_ok=True)
    with open(folder() / "lock", "a", encoding="utf-8") as lock:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        kept = load()
        yield kept
        new = file().with_suffix(f".{os.getpid()}")
        try:
            with open(new, "w", encoding="utf-8") as out:
                json.dump(kept, out, ensure_ascii=False, indent=1)
                out.flush()
                os.fsync(out.fileno())
            os.replace(new, file())
        finally:
            new.unlink(missing_ok=True)


def note(lesson: Lesson, **changes: Any) -> None:
    """Sets entries of a lesson; None removes one."""
    with changing() as kept:
        entry = kept["lessons"].setdefault(lesson.name, {})
        entry.update(changes)
        for name in [name for name, value in entry.items() if value is None]:
            del entry[name]


def note_attempt(lesson: Lesson, content: bytes, solved: bool) -> None:
    """One judged exercise. The same file judged again is no new attempt, and an exercise that is solved stays solved."""
    with changing() as kept:
        entry = kept["lessons"].setdefault(lesson.name, {})
        tried = entry.setdefault("attempts", [])
        if fingerprint(content) not in tried and not entry.get("solved"):
            tried.append(fingerprint(content))
        if solved and not entry.get("solved"):
            entry["solved"] = now()


def entry_of(kept: Kept, lesson: Lesson) -> Kept:
    """What is kept of a lesson; nothing if it was not opened."""
    entry: Kept = kept["lessons"].get(lesson.name, {})
    return entry


def prediction(entry: Kept, question: str) -> str:
    """What was predicted, if the lesson still asks the same question; its fingerprint is reading.Reading.asks. A prediction that was kept before
    this was noted may have answered another question."""
    return str(entry.get("prediction") or "") if entry.get("question") == question else ""


def is_solved(kept: Kept, lesson: Lesson) -> bool:
    return bool(entry_of(kept, lesson).get("solved"))


def solved(kept: Kept, among: list[Lesson] | None = None) -> list[Lesson]:
    return [lesson for lesson in (lessons() if among is None else among) if is_solved(kept, lesson)]


def continues_at(kept: Kept) -> Lesson:
    """The lesson where the learner stopped; if that one is solved, the next unsolved one, and in the end the last."""
    there = every().get(kept["at"])
    if there and not is_solved(kept, there):
        return there
    in_order = lessons()
    start = in_order.index(there) if there else 0
    return next((lesson for lesson in in_order[start:] + in_order[:start] if not is_solved(kept, lesson)), in_order[-1])


# ---- in words -------------------------------------------------------------------------------------------------------------


def counted(how_many: int, what: str) -> str:
    return f"{how_many} {what}" + ("" if how_many == 1 else "s")


def state(entry: Kept) -> str:
    """'solved on 2026-11-20 after 2 attempts', '3 attempts, 1 hint', 'opened', 'not begun'."""
    attempts, hints = len(entry.get("attempts", [])), entry.get("hints", 0)
    if entry.get("solved"):
        return f"solved on {entry['solved'][:10]}" + (f" after {counted(attempts, 'attempt')}" if attempts else "")
    done = ([counted(attempts, "attempt")] if attempts else []) + ([counted(hints, "hint")] if hints else [])
    return ", ".join(done) or ("opened" if entry else "not begun")
