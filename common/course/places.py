"""Places in a learner's file: what a compiler, a report or a traceback names, and the function that a test case calls."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from course.lessons import Answer


@dataclasses.dataclass(frozen=True)
class Place:
    """A line of a file. `exact`: the failure happened in this line; otherwise the function that the check called begins here."""

    file: str
    line: int
    code: str  # the line, without its indentation
    column: int = 0  # of the failure in `code`, from 1; 0 if it is unknown
    exact: bool = True


def lines_of(source: pathlib.Path) -> list[str]:
    return source.read_text(encoding="utf-8", errors="replace").splitlines()


def place(source: pathlib.Path, number: int, column: int = 0, exact: bool = True) -> Place | None:
    """None if the file has no such line, or an empty one. `column` counts the indentation, too."""
    lines = lines_of(source)
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    indentation = len(line) - len(line.lstrip())
    return Place(source.name, number, line.strip(), max(0, column - indentation), exact) if line.strip() else None


def place_in(said: str, source: pathlib.Path) -> Place | None:
    """The first place in `source` that a compiler, a report or a traceback names: file:12, file:12:5, file(12), File "file", line 12."""
    name = re.escape(source.name)
    pattern = rf'(?<![\w.-]){name}(?::(\d+)(?::(\d+))?|\((\d+)\)|", line (\d+))'
    for found in re.finditer(pattern, said):
        number = int(next(filter(None, (found.group(1), found.group(3), found.group(4)))))
        if there := place(source, number, int(found.group(2) or 0)):
            return there
    return None


def definitions(source: pathlib.Path) -> dict[str, int]:
    """{name: line} of the functions that a file defines: C++ and CUDA by the shape of their lines, Python by def and class."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines_of(source), start=1):
        if source.suffix == ".py":
            defined = re.match(r"\s*(?:def|class)\s+(\w+)", line)
        else:
            defined = re.match(r"(?!return\b|using\b)[A-Za-z_][\w:<>,&*\[\]\" ]*?\b(\w+)\s*\([^;{]*(?:\{.*)?$", line)
            defined = defined or re.match(r"(?:class|struct)\s+(\w+)", line)
        if defined and defined.group(1) not in ("if", "for", "while", "switch", "TORCH_LIBRARY", "TORCH_LIBRARY_IMPL"):
            found.setdefault(defined.group(1), number)
    return found


def body_of_case(checks: list[pathlib.Path], name: str) -> str:
    """The source of one test case, up to the next."""
    for file in checks:
        lines = file.read_text(encoding="utf-8").splitlines()
        begins = [number for number, line in enumerate(lines) if re.match(r"(?:TEST_CASE|SCENARIO|\s*def test_)", line)] + [len(lines)]
        for begin, end in zip(begins, begins[1:]):
            body = "\n".join(lines[begin:end])
            as_python = "def test_" + re.sub(r"\W", "_", name) + "("
            if f'"{name}"' in re.sub(r'"\s*\n\s*"', "", body) or as_python in body:
                return body
    return ""


def first_named(functions: dict[str, int], text: str) -> str | None:
    """The function that a text names first; None if it names none of them."""
    named = [(found.start(), function) for function in functions if (found := re.search(rf"\b{re.escape(function)}\b", text))]
    return min(named)[1] if named else None


def place_of_called(answer: Answer, name: str) -> Place | None:
    """Where the learner's function begins that the test case calls, or that its check declares."""
    files, defined = answer.lesson.check_files, definitions(answer.source)
    declared = "\n".join(file.read_text(encoding="utf-8") for file in files)
    function = first_named(defined, body_of_case(files, name)) or first_named(defined, declared)
    return place(answer.source, defined[function], exact=False) if function else None


def conflict_in(content: bytes) -> int:
    """The line of a merge conflict's first marker, or 0."""
    lines = content.decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.startswith("<<<<<<< ") and any(later.startswith(">>>>>>> ") for later in lines[number:]):
            return number
    return 0
