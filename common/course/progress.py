"""make progress: prints what the learner has solved."""

from __future__ import annotations

from course import history, reading
from course.history import Kept
from course.lessons import Lesson, chapters, lessons, named


def bar(part: int, whole: int, width: int = 20) -> str:
    """A bar of blocks; it is full only if everything is solved, and empty only if nothing is."""
    full = 0 if not part else width if part == whole else min(width - 1, max(1, round(width * part / whole)))
    return "█" * full + "·" * (width - full)


def of_chapters(kept: Kept) -> list[str]:
    lines = []
    for chapter in chapters():
        own = lessons([chapter])
        lines.append(f"{chapter:<16}{bar(len(history.solved(kept, own)), len(own))}  {len(history.solved(kept, own)):2} of {len(own):2}")
    return lines


def of_lessons(kept: Kept, chosen: list[Lesson]) -> list[str]:
    lines = []
    for lesson in chosen:
        entry = history.entry_of(kept, lesson)
        name = lesson.heading.removesuffix(" ★")
        lines.append(f"{name:<44}{history.state(entry)}")
        if entry.get("prediction") and (predicted := history.prediction(entry, reading.read(lesson).asks)):
            lines.append(f"      you predicted: {predicted}")
    return lines


def main(words: list[str]) -> int:
    """make progress, or make progress 02 for the lessons of a part."""
    kept = history.load()
    if words:
        print("\n".join(of_lessons(kept, named(words))))
        return 0
    print(f"{len(history.solved(kept))} of {len(lessons())} exercises solved\n")
    print("\n".join(of_chapters(kept)))
    begun = [lesson for lesson in lessons() if history.entry_of(kept, lesson).get("attempts") and not history.is_solved(kept, lesson)]
    if begun:
        print("\nbegun:")
        print("\n".join("  " + line for line in of_lessons(kept, begun)))
    where = history.continues_at(kept)
    print(f"\n`make learn` continues with {where.heading}. `make progress {where.number[:2]}` lists that chapter's lessons.")
    return 0
