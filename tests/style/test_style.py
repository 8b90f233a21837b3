"""The sources are as make style wants them, and make style notices if they are not."""

import re

import pytest

from course import ROOT, help, style

pytestmark = pytest.mark.skipif(bool(style.why_not()), reason=style.why_not() or "")


@pytest.mark.parametrize("sentence", style.proofs())
def test_style(sentence):
    against = style.proofs()[sentence]()
    assert not against, against


# ---- each check finds what it is for


@pytest.mark.parametrize(
    ("check", "name", "content", "complaint"),
    [
        (style.python_is_formatted, "a.py", "x = [1,2]\n", "+x = [1, 2]"),
        (style.python_is_clean, "a.py", "import os\n", "`os` imported but unused"),
        (style.python_is_clean, "a.py", "import subprocess\n\nsubprocess.run([])\n", "PLW1510"),
        (style.cpp_is_formatted, "a.cpp", "int  main() {}\n", "a.cpp is not formatted: make format"),
        (style.cpp_is_formatted, "a.cu", "__global__ void k(int*p) {}\n", "a.cu is not formatted: make format"),
        (lambda files: style.module("mypy", "--no-error-summary", *files), "a.py", "def f(x: int) -> str:\n    return x\n", "Incompatible return value type"),
        (lambda files: style.module("mypy", "--no-error-summary", *files), "a.py", "def f(x):\n    return x\n", "Function is missing a type annotation"),
        (lambda files: style.follows_schema(files[0], "github-workflows"), "a.yml", "on: push\njobs:\n  a:\n    step: []\n", "step"),
        (lambda files: style.follows_schema(files[0], "dependabot"), "a.yml", "version: 2\nupdates:\n  - directory: /\n", "package-ecosystem"),
    ],
)
def test_a_mistake_is_named(tmp_path, check, name, content, complaint):
    for rules in (".clang-format", "pyproject.toml"):
        (tmp_path / rules).write_text((ROOT / rules).read_text(encoding="utf-8"))
    file = tmp_path / name
    file.write_text(content)
    assert complaint in (check([str(file)]) or "nothing")


def test_every_workflow_form_and_setting_has_a_schema():
    files = [file for file in style.sources(".yml") if file.startswith(".github/")]
    assert files and all(style.schema_of(file) for file in files)


def test_actions_are_pinned_by_their_commit_with_the_version_beside_it():
    """A tag can be moved to other code later; dependabot.yml renews the commit and the comment together."""
    used = [
        use for file in style.sources(".yml") if file.startswith(".github/") for use in re.findall(r"uses: (.*)", (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert used and not [use for use in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)]
    assert len(set(used)) == len({use.partition("@")[0] for use in used}), "one version of each action"


def test_tables_and_exercises_of_learners_are_left_alone(monkeypatch):
    assert not [file for file in style.sources(*style.CPP) if file.endswith(".inc")]
    monkeypatch.setattr(style, "is_learners", lambda path: True)
    assert not [file for file in style.sources(*style.CPP, ".py") if re.search(r"^0[^/]*/[^/]*/exercise\.", file)]


# ---- versions


def test_the_changelog_knows_the_version():
    versions = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert help.version() == versions[1] or re.fullmatch(r"\d+\.\d+\.\d+\.dev\d+", help.version())


# ---- for editors


def test_editors_learn_how_make_compiles_each_source():
    from course.compile_commands import entry

    line = "mkdir -p build/x && g++ -std=c++20 -I. -Ibuild/parsed -include build/x/parsed.hpp -include own.hpp -c common/simulator/types.cpp -o build/x/types.o"
    words = ["g++", "-std=c++20", "-I.", "-include", "own.hpp", "-c", "common/simulator/types.cpp", "-o", "build/x/types.o"]
    assert entry(line) == {"directory": str(ROOT), "file": "common/simulator/types.cpp", "arguments": words}
    assert entry("g++ -pthread build/a.o -o build/a") is None and entry("g++ -c gone.cpp -o gone.o") is None
