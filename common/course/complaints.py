"""What compilers, linkers and make say, shortened for a person."""

from __future__ import annotations

import pathlib
import re
import traceback


def without_make(said: str) -> str:
    """What compilers and linkers said, without make's own lines."""
    return "\n".join(line for line in said.splitlines() if "No rule to make target" in line or not re.match(r"make(\[\d+\])?: ", line))


def shortened(complaints: str, lines: int = 40, columns: int = 200) -> str:
    """The first lines, because a file that is not C++ at all causes thousands of errors; long lines are cut."""
    said = [line if len(line) <= columns else line[:columns] + " …" for line in complaints.splitlines()]
    return "\n".join(said[:lines] + ([f"… and {len(said) - lines} more lines"] if len(said) > lines + 1 else said[lines:]))


def condensed(complaints: str, file: str) -> str:
    """What compiler and linker said. A function that only the exercise can define is named in one line instead of the linker's five."""
    missing = re.findall(r"undefined (?:reference to|symbol:) [`'‘]?(.+?)['’]?$", complaints, re.MULTILINE)
    missing = [name for name in dict.fromkeys(missing) if not re.match(r"cu[A-Z]\w+$", name)]
    if not missing or re.search(r"error: ", complaints.replace("collect2: error: ", "")):
        return shortened(complaints)
    return "\n".join(f"{file} does not define {name}" for name in missing)


def first_error(said: str, source: pathlib.Path) -> str:
    """The compiler's first error, a line; of several lines from a linker, the functions that are missing."""
    if source.suffix == ".py":
        return said.splitlines()[0].partition(": ")[2] or said
    lines = condensed(said, source.name).splitlines()
    for line in lines:
        if found := re.search(r"(?:^|[):] ?)(?:fatal )?error ?: (.*)", line.replace("collect2: error: ", "")):
            return found.group(1).strip()
    return next((line.strip() for line in lines if line.strip()), "it was not built")


def syntax_error(source: pathlib.Path) -> str | None:
    """The syntax error in a file in Python, as a compiler would print it; None without an error, or in another language."""
    if source.suffix != ".py":
        return None
    try:
        compile(source.read_bytes(), source.name, "exec")
    except SyntaxError as wrong:
        _, *shown, said = "".join(traceback.format_exception_only(type(wrong), wrong)).splitlines()
        return "\n".join([f"{source.name}:{wrong.lineno}: {said}"] + shown)
    except ValueError as wrong:
        return f"{source.name}: {wrong}"
    except (RecursionError, MemoryError):
        return f"{source.name}: SyntaxError: it is nested too deeply"
    return None


def missing_c_linkage(ptx: pathlib.Path, failure: str) -> str | None:
    """A sentence about a missing extern "C", if that is why a check did not find a kernel; otherwise None."""
    if "CUDA_ERROR_NOT_FOUND" not in failure or not ptx.exists():
        return None
    for mangled, length, rest in re.findall(r"\.entry (_Z(\d+)(\w+))", ptx.read_text(encoding="utf-8")):
        return f'{ptx.name} has no function {rest[: int(length)]}; it has {mangled}: is extern "C" missing?'
    return None
