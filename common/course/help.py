"""make help: one screen, in the order in which a learner needs it."""

from collections.abc import Iterator, Sequence

from course import ROOT
from course.commands import FOR_CONTRIBUTORS, FOR_LEARNERS, VARIABLES


def version() -> str:
    """The version of the whole repository. CHANGELOG.md says what is in it."""
    return (ROOT / "common" / "VERSION").read_text(encoding="utf-8").strip()


def screen() -> Iterator[str]:
    yield f"CUDA from the Driver Up {version()}: make 02-03 runs a lesson, make 02 a chapter"
    for heading, commands in (("", FOR_LEARNERS), ("For contributors:", FOR_CONTRIBUTORS)):
        yield heading
        yield from (f"make {command.example or command.name:<12}   {command.about}" for command in commands if command.about)
    yield "run, learn, check, … take a part of the course: make check 02. Variables:"
    yield from (f"{name + '=':<16}{about}" for name, about in VARIABLES.items() if about)


def main(words: Sequence[str] = ()) -> int:
    print("\n".join(filter(None, screen())))
    return 0
