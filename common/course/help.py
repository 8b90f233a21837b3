"""make help: one screen, in the order in which a learner needs it."""

from course.commands import FOR_CONTRIBUTORS, FOR_LEARNERS, VARIABLES


def screen():
    yield "make 02-03          build and run a lesson; make 02: a chapter"
    for heading, commands in (("", FOR_LEARNERS), ("For contributors:", FOR_CONTRIBUTORS)):
        yield heading
        yield from (f"make {command.example or command.name:<12}   {command.about}" for command in commands if command.about)
    yield "run, learn, check, … take a part of the course: make check 02"
    yield "Variables:"
    yield from (f"{name + '=':<16}{about}" for name, about in VARIABLES.items() if about)


def main(words=()):
    print("\n".join(filter(None, screen())))
    return 0
