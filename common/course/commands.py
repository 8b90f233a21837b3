"""The commands behind make: what each is for, what it takes, and what must be there first. `make help` prints this table, typed.py follows it,
and the test of the texts (test/texts.py) knows from it what a lesson may show."""

from __future__ import annotations

import dataclasses

from course.build import RUNTIME, SIMULATOR


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    about: str = ""  # its line of `make help`; a command without one is not worth a line of the screen
    example: str = ""  # what that line shows instead of the name
    part: str = ""  # "all": it takes chapters and lessons, and without any all lessons. "named": it takes them, or chooses by itself
    suites: bool = False  # it takes folders of tests/, too
    programs: bool = False  # the lessons' programs are built before
    builds: tuple[str, ...] = ()  # and these files
    needs: tuple[str, ...] | None = ()  # for set-up, besides a compiler and a toolkit; None: not even these
    runs: str = ""  # the function of this package that does it, if that is not <name>.main; "nothing" if all has been done then


FOR_LEARNERS = [
    Command("run", "build and run every lesson", part="all", programs=True),
    Command("learn", "the trainer: predict, run, solve; judges every save", part="named", builds=(SIMULATOR,), needs=("catch2", "tools")),
    Command("progress", "what you have solved", part="named", needs=None),
    Command("check", "judge your answers to the exercises", part="all", needs=("catch2",)),
    Command("walk", "a guided tour: question, prediction, run, explanation", part="all", programs=True, needs=("tools",)),
    Command("doctor", "what this machine has for CUDA, and what it lacks", needs=None),
    Command("see", "the film of a kernel: what each warp does, step by step", "see 04-21", part="named", programs=True),
    Command("book", "the course as a site, build/book; LANGUAGE=zh_CN: in Chinese", needs=("book",)),
    Command("bench", "run the lessons that measure; keep figures in build/bench", part="all", programs=True, needs=("plots",)),
    Command("clean", "remove what was built, but not what was downloaded", needs=None),
    Command("grade", "for teachers: judge the answers of a class", "grade SUBMISSIONS=folder", part="named", builds=(SIMULATOR,), needs=("catch2",)),
    Command("help", needs=None),
]
FOR_CONTRIBUTORS = [
    Command("test", "prove programs, exercises, texts, tools; QUICK=1: in short", part="all", suites=True, needs=("catch2",)),
    Command("simulator", "build only the simulated GPU; make wheel: as a package", builds=(SIMULATOR, RUNTIME), runs="nothing"),
    Command("wheel", needs=("package",)),
    Command("style", "check the sources with linters; make format: format them", needs=("style",)),
    Command("format", needs=("style",), runs="style.format_all"),
    Command("compile_commands.json", needs=("catch2",), runs="compile_commands.main"),
    Command("tidy", needs=("tidy",), runs="style.tidy"),
    Command("bench-simulator", runs="simulator.bench"),
    Command("fuzz", runs="simulator.fuzz"),
    Command("cuobjdump"),
]
COMMANDS = {command.name: command for command in FOR_LEARNERS + FOR_CONTRIBUTORS}

# What can be set on make's command line. The last ones are not worth a line of the screen.
VARIABLES = {
    "DEVICE": "gpu, simulator or auto (the default: a GPU if there is one)",
    "ARGS": "words for a lesson's program: make 03-10 ARGS=--controls",
    "V": "V=1 shows every command",
    "CXX": "another compiler: CXX=clang++",
    "CUDA_HOME": "another CUDA toolkit; TOOLKIT_VERSION: the version to fetch",
    "PROGRAM": "for see: any program; ONLY: kernel=NAME launch=2; EXERCISE=1",
    "SANITIZE": "for test: address,undefined (or thread, valgrind, checks, …)",
    **dict.fromkeys("IN QUICK SUBMISSIONS UNBOUNDED LANGUAGE TORCH_INDEX TOOLKIT_VERSION SIM_ARCH STRICT FUZZ_SECONDS RECORD UPDATE ONLY EXERCISE".split(), ""),
    **dict.fromkeys("CXXFLAGS LDFLAGS TMPDIR XDG_CACHE_HOME TARGET".split(), ""),
}


def takes_part(name: str) -> str:
    """Does a chapter or a lesson beside this word say which part of the course it is to do?"""
    return COMMANDS[name].part if name in COMMANDS else ""
