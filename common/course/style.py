"""make style: nothing is left for the formatters, the linter and the type checker to say. make format formats; make tidy runs clang-tidy.

The tools are pinned in common/requirements, in style.txt and tidy.txt. pyproject.toml, .clang-format and .clang-tidy contain their rules.
Tables in .inc files stay as they are: a formatter would make a book of each.
"""

from __future__ import annotations

import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence

from course import ROOT, environment
from course.facts import facts
from course.lessons import is_learners
from course.test.texts import files_of_repository

CPP = (".cpp", ".hpp", ".cu", ".cuh", ".h", ".cc")
# Which of check-jsonschema's copies of public schemas belongs to a file, the first match.
SCHEMAS = {
    r"(.*/)?\.github/workflows/.*\.yml": "github-workflows",
    r"\.github/ISSUE_TEMPLATE/config\.yml": "github-issue-config",
    r"\.github/ISSUE_TEMPLATE/.*\.yml": "github-issue-forms",
    r"\.github/dependabot\.yml": "dependabot",
}


def sources(*suffixes: str) -> list[str]:
    """Our files with these endings, by their paths from the root. An exercise that a learner has begun is the learner's."""
    files = sorted(file for file in files_of_repository() if file.endswith(suffixes) and not (ROOT / file).is_symlink())
    return [file for file in files if not (pathlib.Path(file).stem == "exercise" and is_learners(ROOT / file))]


def python_files() -> list[str]:
    return [*sources(".py"), "common/cudasim"]


def said(*command: str) -> str | None:
    """What a tool complains about, or None."""
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return (ended.stdout + ended.stderr).strip() or f"it ended with status {ended.returncode}" if ended.returncode else None


def module(name: str, *words: str) -> str | None:
    return said(str(environment.ENVIRONMENT / "bin" / "python3"), "-m", name, *words)


def program(wheel: str) -> str:
    """The path of clang-format or clang-tidy, which are programs in wheels."""
    environment.use()
    found = importlib.util.find_spec(wheel)
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{wheel} is not in {environment.ENVIRONMENT}")
    return str(pathlib.Path(found.origin).parent / "data" / "bin" / wheel.replace("_", "-"))


def clang_format(*words: str, files: Sequence[str]) -> str | None:
    """Runs it on parts of the files, on all cores."""
    command = program("clang_format")
    parts = [files[start : start + 40] for start in range(0, len(files), 40)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return "\n".join(filter(None, pool.map(lambda part: said(command, *words, *part), parts))) or None


def misformatted(complaints: str | None) -> str | None:
    """The files that clang-format would change, one line each."""
    names = re.findall(r"^(.+?):\d+:\d+: error: code should be clang-formatted", complaints or "", re.MULTILINE)
    return "\n".join(f"{name} is not formatted: make format" for name in dict.fromkeys(names)) or complaints


def schema_of(file: str) -> str | None:
    return next((schema for pattern, schema in SCHEMAS.items() if re.fullmatch(pattern, file)), None)


def python_is_formatted(files: Sequence[str]) -> str | None:
    return module("ruff", "format", "--check", "--quiet", "--diff", *files)


def python_is_clean(files: Sequence[str]) -> str | None:
    return module("ruff", "check", "--quiet", "--output-format=concise", *files)


def cpp_is_formatted(files: Sequence[str]) -> str | None:
    return misformatted(clang_format("--dry-run", "-Werror", files=files))


def follows_schema(file: str, schema: str) -> str | None:
    """There is no runner here, so the schema of a workflow is all that can be checked."""
    return module("check_jsonschema", "--builtin-schema", f"vendor.{schema}", file)


def proofs() -> dict[str, Callable[[], str | None]]:
    """A function for each sentence that is to be true; it returns what speaks against it. For make test, too."""
    found: dict[str, Callable[[], str | None]] = {
        "Python is formatted": lambda: python_is_formatted(python_files()),
        "ruff finds nothing in the Python": lambda: python_is_clean(python_files()),
        "mypy finds nothing in the typed modules": lambda: module("mypy", "--no-error-summary"),
        "C++ and CUDA are formatted": lambda: cpp_is_formatted(sources(*CPP)),
    }
    for file in sources(".yml"):
        if schema := schema_of(file):
            found[f"{file} follows its schema"] = lambda file=file, schema=schema: follows_schema(file, schema)  # type: ignore[misc]
    return found


def why_not() -> str | None:
    return None if facts().get("STYLE") else facts().get("WITHOUT_STYLE") or "make style fetches the tools"


# ---- commands ------------------------------------------------------------------------------------------------------------


def report(found: Iterable[tuple[str, str | None]]) -> int:
    failed = False
    for sentence, why in found:
        print(f"{'✗' if why else '✓'} {sentence}", flush=True)
        if why:
            failed = True
            print("    " + why.replace("\n", "\n    "))
    return 1 if failed else 0


def main(words: Sequence[str] = ()) -> int:
    if why := why_not():
        print(f"Nothing was checked: {why}")
        return 1
    return report((sentence, prove()) for sentence, prove in proofs().items())


def format_all(words: Sequence[str] = ()) -> int:
    """make format."""
    if why := why_not():
        print(f"Nothing was formatted: {why}")
        return 1
    files = python_files()
    complaints = [
        module("ruff", "check", "--quiet", "--select=I", "--fix", *files),
        module("ruff", "format", "--quiet", *files),
        clang_format("-i", files=sources(*CPP)),
    ]
    print("\n".join(filter(None, complaints)) or "Formatted.")
    return 1 if any(complaints) else 0


def tidy(words: Sequence[str] = ()) -> int:
    """make tidy: the common headers and the lessons' programs. It takes minutes, so make test leaves it out."""
    if why := facts().get("WITHOUT_TIDY"):
        print(f"skipped: {why}")
        return 0
    command = program("clang_tidy")
    headers = [str(path.relative_to(ROOT)) for path in (ROOT / "common").glob("*.hpp") if path.name != "torch.hpp"]  # it needs PyTorch
    programs = [file for file in sources("/main.cpp") if file[0].isdigit() and not file.startswith("05-")]
    flags = ["-std=c++17", "-I.", "-isystem", facts()["CUDA_INCLUDE"]]

    def check(file: str) -> tuple[str, str | None]:
        return f"clang-tidy finds nothing in {file}", said(command, "--quiet", "--warnings-as-errors=*", file, "--", "-xc++", *flags)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return report(pool.map(check, [*headers, *programs]))
