"""make compile_commands.json: how each source is compiled, for clangd and other tools. It is what make would run, so C++17 and C++20 stay apart."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterable, Sequence

from course import ROOT, build
from course.facts import facts
from course.lessons import lessons
from course.style import sources
from course.test import suites

RESULT = ROOT / "compile_commands.json"
PARSED = "build/"  # headers that g++ has parsed, and their folder: other tools read the sources' own includes


def targets() -> list[str]:
    """The objects of the lessons, their exercises and solutions, and the tests. The simulator and the runtime have Makefiles of their own."""
    in_cpp = [lesson for lesson in lessons() if not lesson.is_python]
    programs = [f"build/{lesson}/main.o" for lesson in in_cpp]
    answers = [
        f"build/tests/{lesson}/{name}/answer.o" for lesson in in_cpp for name in ("exercise", "solution") if (ROOT / str(lesson) / f"{name}.cpp").exists()
    ]
    checks = [f"build/tests/{lesson}.o" for lesson in in_cpp if lesson.check.exists()]
    in_suites = [f"build/{file.removesuffix('.cpp')}.o" for file in sources(".cpp") if file.split("/")[1] in suites.in_cpp() and "/simulator/" not in file]
    return [*programs, *answers, *checks, *in_suites]


def would_run(*words: str) -> str:
    # -B: include what is up to date. -k: go on if a target can't be built here because a package is missing.
    return build.call(["-n", "-B", "-k", "V=1", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def entry(command: str) -> dict[str, object] | None:
    """The entry for a line of a dry run, if it compiles a C++ source."""
    if " -c " not in command or "-o " not in command:
        return None
    words = shlex.split(command.split("&& ")[-1])
    files = [word for word in words if word.endswith(".cpp")]
    if len(files) != 1 or not (ROOT / files[0]).exists():
        return None
    kept: list[str] = []
    for word in words:
        if kept[-1:] == ["-include"] and word.startswith(PARSED):
            kept.pop()
        elif not word.startswith((f"-I{PARSED}", "-fmacro-prefix-map=")):
            kept.append(word)
    return {"directory": str(ROOT), "file": files[0], "arguments": kept}


def entries(lines: Iterable[str]) -> list[dict[str, object]]:
    found = {each["file"]: each for line in reversed(list(lines)) if (each := entry(line))}
    return [found[file] for file in sorted(found, key=str)]


def main(words: Sequence[str] = ()) -> int:
    include = f"CUDA_INCLUDE={facts()['CUDA_INCLUDE']}"
    said = would_run("wanted", f"WANTED={' '.join(targets())}")
    catch = f"CATCH_FLAGS={facts().get('CATCH_FLAGS', '')}"
    said += would_run("-f", "common/simulator/Makefile", "library", "suite", "SANITIZE=", "TOGETHER=", include, catch)
    said += would_run("-f", "common/runtime/Makefile", "libraries", "SANITIZE=", include)
    found = entries(said.splitlines())
    RESULT.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"{RESULT.relative_to(ROOT)}: {len(found)} sources")
    return 0 if found else 1
