"""The file of a lesson's exercise: what it was when the course came, and how it becomes that again."""

from __future__ import annotations

import datetime
import os
import pathlib
import shutil
import tempfile

from course import ROOT, history
from course.lessons import Lesson
from course.process import git


def signature(path: pathlib.Path) -> tuple[int, int, int] | None:
    """What changes when a file is saved; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def content_of(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def lines_of(path: pathlib.Path) -> list[str]:
    return content_of(path).decode("utf-8", errors="replace").splitlines()


# ---- the original --------------------------------------------------------------------------------------------------------


def committed(path: pathlib.Path) -> bytes | None:
    """The file as git has it, at the last commit that is not only the learner's own; None if git cannot tell."""
    base = git(["merge-base", "HEAD", "@{upstream}"], path.parent)
    revision = base.decode().strip() if base else "HEAD"
    return git(["show", f"{revision}:./{path.name}"], path.parent)


def kept_original(lesson: Lesson) -> pathlib.Path:
    return history.folder() / "originals" / lesson.name / lesson.exercise.source.name


def keep_original(lesson: Lesson, attempts: list[str]) -> None:
    """Keeps the exercise as it was before the learner's first attempt, for a course that is not in git."""
    content, kept = content_of(lesson.exercise.source), kept_original(lesson)
    if content and not attempts and not kept.exists() and git(["rev-parse", "HEAD"], ROOT) is None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)


def original_of(lesson: Lesson, attempts: list[str]) -> bytes | None:
    """What reset restores: the file as committed, unless that is one of the learner's own attempts; then the kept copy, or None."""
    for candidate in (committed(lesson.exercise.source), content_of(kept_original(lesson)) or None):
        if candidate is not None and history.fingerprint(candidate) not in attempts:
            return candidate
    return None


def restore(lesson: Lesson, original: bytes) -> pathlib.Path | None:
    """Puts the original in the place of the learner's file; returns the path of a copy of that file, if there was one."""
    exercise, copy = lesson.exercise.source, None
    if exercise.exists():
        when = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
        copy = history.folder() / "before-reset" / lesson.name / f"{when}{exercise.suffix}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(exercise, copy)
    replace(exercise, original)
    return copy


def replace(path: pathlib.Path, content: bytes) -> None:
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
