"""Who may import whom in the package course: commands import libraries, never the other way round; one module looks at the names of lessons' files."""

import ast
import re

import pytest

from course import ROOT

COURSE = ROOT / "common" / "course"
FILES = {str(path.relative_to(COURSE).with_suffix("")).replace("/", "."): path for path in COURSE.rglob("*.py") if path.name != "__main__.py"}
MODULES = {name.removesuffix(".__init__"): ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}
COMMANDS = {name for name, module in MODULES.items() if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in module.body)}
SCRIPTS = {"test.preloaded", "setup"}  # started as programs of their own; typed.py and the tests also call them


def imported(module):
    """The names of the modules of course that a module imports."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "course":
            inside = node.module.partition(".")[2]
            found |= {inside} | {f"{inside}.{each.name}".strip(".") for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name.partition(".")[2] for each in node.names if each.name.startswith("course.")}
    return found & set(MODULES)


@pytest.mark.parametrize("name", sorted(set(MODULES) - COMMANDS - {"__init__"}))
def test_a_library_imports_no_command(name):
    of_its_own = {name.split(".")[0]}  # everything in test/ belongs to one command
    assert not imported(MODULES[name]) & COMMANDS - SCRIPTS - of_its_own


def test_the_commands_are_told_apart():
    assert {"check", "grade", "learn", "work", "progress", "doctor", "test"} <= COMMANDS
    assert not {"lessons", "verdict", "cases", "faults", "bounds", "process", "history"} & COMMANDS


def test_only_one_module_looks_at_the_names_of_a_lessons_files():
    asks = re.compile(r"""["'](?:main|exercise|solution|kernels)\.(?:cpp|py|cu)["']|\.wrong["']|\blesson\.split\(""")
    looking = {name for name, path in FILES.items() if asks.search(path.read_text(encoding="utf-8"))}
    # An edit's kernels.cu goes along with a changed header (texts), and see.py never asks a lesson.
    assert looking <= {"lessons", "test.texts"}, looking


def test_what_is_imported_from_the_package_exists():
    """Also in the tests, some of which are skipped where a browser is missing."""
    wrong = []
    for path in [*FILES.values(), *(ROOT / "tests" / "tools").glob("*.py"), *(ROOT / "tests" / "doctor").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "course":
                inside = node.module.partition(".")[2]
                defined = MODULES.get(inside or "__init__")
                names = set() if defined is None else names_of(defined)
                wrong += [
                    f"{path.name}: {node.module}.{each.name}"
                    for each in node.names
                    if each.name not in names and f"{inside}.{each.name}".strip(".") not in MODULES
                ]
    assert not wrong, wrong


def names_of(module):
    """What a module defines or imports at its top, also under an if."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {each.asname or each.name for each in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found
