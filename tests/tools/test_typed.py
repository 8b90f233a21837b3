"""Tests of the command line: what a person may type after make, and how the Makefiles build what follows from it."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from unittest import mock

import pytest

from course import ROOT, build, help, typed
from course.lessons import called, every, lessons
from course.test import suites

# What make is told, and what it answers; nothing is fetched or built before.
REFUSED = {
    ("run", "DEVICE=card"): "DEVICE=card is not a device",
    ("run", "DEVICE=a'b"): "DEVICE=a'b is not a device",
    ("everything",): "There is no target called everything",
    ("check", "everything"): "There is no target called everything",
    ("clean", "check"): "Run clean on its own",
    ("check", "in=02-context"): "There is no variable called in, only IN: make check IN=02-context",
    ("run", "Device=gpu"): "There is no variable called Device, only DEVICE: make run DEVICE=gpu",
    ("test", "v=1"): "There is no variable called v, only V: make test V=1",
    ("99-end",): "There is no chapter or lesson called 99-end",
    ("02-context/99-end",): "There is no lesson called 02-context/99-end",
    ("test", "IN=nothing"): "There is no chapter or lesson called nothing",
    ("curr",): "There is no target called curr. Did you mean 02-context/03-current?",
    ("02-context/03-cur",): "Did you mean 02-context/03-current? The lessons of 02-context are:",
    ("02-99",): "There is no lesson called 02-99. The lessons of 02-context are: 01-create-destroy",
    ("2-3",): "There is no chapter or lesson called 2-3. Did you mean 02-context/03-current?",
    ("02-contxt",): "There is no chapter or lesson called 02-contxt. Did you mean 02-context?",
    ("03-curent",): "There is no chapter or lesson called 03-curent. Did you mean 02-context/03-current?",
    ("03-stack",): "There is no chapter or lesson called 03-stack. It is now 02-context/03-current.",
    ("02-context/07-scope",): "There is no lesson called 02-context/07-scope. It is now 02-context/02-scope.",
    ("03-16",): "There is no lesson called 03-16. It is now 04-kernels/09-pitched.",
    ("rnu",): "There is no target called rnu. Did you mean run?",
    ("run", "CXX=no-compiler"): "There is no C++ compiler called no-compiler. Type: make CXX=g++ … (which is installed)",
    ("run", "CXX=/bin/false"): "There is no C++ compiler called /bin/false",
    ("run", "CXX=/bin/cat"): "/bin/cat does not compile a small C++20 program",
    ("run", "CUDA_HOME=/no/where"): "there is no include/cuda.h in it",
    ("run", "CUDA_HOME=/o'clock"): "CUDA_HOME is /o'clock",
    ("run", "TMPDIR=/no/where"): "cannot write their temporary files to /no/where: there is no such folder",
}


def make(*words, folder=ROOT, **environment):
    """make, as if typed: what a make above us was given is not given to this one."""
    given = (*build.FROM_MAKE, "CXX", "DEVICE", "PYTHONPATH")
    outside = {name: value for name, value in os.environ.items() if name not in given}
    return subprocess.run(["make", *words], cwd=folder, env={**outside, **environment}, capture_output=True, text=True, check=False)


def house(folder, *missing):
    """Makes a course of its own in a folder, with links to everything except build/ and what is to be missing."""
    for name in ("Makefile", "common", "tests", *(path.name for path in ROOT.glob("0?-*"))):
        if name not in missing:
            (pathlib.Path(folder) / name).symlink_to(ROOT / name)
    return pathlib.Path(folder)


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_make_cannot_do_is_refused_in_a_sentence(words):
    ended = make(*words)
    assert ended.returncode == 2 and REFUSED[words] in ended.stderr, ended.stdout + ended.stderr


def test_one_lesson_at_most_gets_arguments():
    ended = make("02", "ARGS=--controls")
    assert ended.returncode == 2 and "ARGS is for the program of one lesson" in ended.stderr, ended.stderr


OLD = """#!{python}
import runpy, sys
sys.version_info = (3, 8, 0)
sys.argv = sys.argv[3:]
sys.path.insert(0, "common")
runpy.run_module("course", run_name="__main__")
"""


@pytest.mark.parametrize(
    "program, sentence", [("#!/bin/sh\nexit 127\n", "No working python3 was found"), (OLD, "is Python 3.8, and the course needs 3.10 or newer")]
)
def test_a_python_that_is_missing_or_too_old_is_reported_before_anything_is_built(program, sentence):
    with tempfile.TemporaryDirectory() as folder:
        python = pathlib.Path(folder) / "python3"
        python.write_text(program.format(python=sys.executable))
        python.chmod(0o755)
        for words in (["02-03"], ["doctor"]):
            ended = make(*words, PATH=f"{folder}:{os.environ['PATH']}")
            assert ended.returncode == 2 and ended.stdout == "" and sentence in ended.stderr, (words, ended.stdout, ended.stderr)


# What is typed, in which folder, and the part of the course that is meant.
SHORT = [
    ("02-03", ".", "02-context/03-current"),
    ("02-03/", ".", "02-context/03-current"),
    ("02-context/03", ".", "02-context/03-current"),
    ("03-current", ".", "02-context/03-current"),
    ("02", ".", "02-context"),
    ("03", "02-context", "02-context/03-current"),
    ("04", "02-context/03-current", "02-context/04-ownership"),
    ("03-05", "02-context", "03-memory/05-pinning"),
]


@pytest.mark.parametrize("typed, folder, meant", SHORT)
def test_a_number_names_a_chapter_or_a_lesson(typed, folder, meant):
    for words in ([typed], ["walk", typed], ["check", f"IN={typed}"]):
        ended = make("-n", *words, folder=ROOT / folder)
        shown = f"python3 -m course {'run' if len(words) == 1 else words[0]} {' '.join(lesson.name for lesson in lessons([meant]))}\n"
        assert ended.returncode == 0 and shown in ended.stdout, (words, folder, ended.stdout[-300:], ended.stderr)


@pytest.mark.parametrize(
    "words, part", [([], "run 02-context/03-current"), (["check"], "check 02-context/03-current"), (["test"], "test 02-context/03-current")]
)
def test_in_a_lessons_folder_a_target_means_that_lesson(words, part):
    ended = make("-n", *words, folder=ROOT / "02-context/03-current")
    assert ended.returncode == 0 and f"python3 -m course {part}\n" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "part, settings, needed",
    [
        (["02-context/03-current"], {}, "catch2"),
        (["02-context/03-current"], {"QUICK": "1"}, "catch2"),
        (["conformance"], {}, "catch2"),
        (["simulator"], {}, "catch2 pytest"),
        (["doctor"], {}, "catch2 pytest"),
        (["tools"], {}, "catch2 pytest tools book browser"),
        (["tools"], {"QUICK": "1"}, "catch2 pytest"),
        ([str(called("doctor"))], {}, "catch2 pytest"),
        ([str(called("speed"))], {}, "catch2 torch pytest"),
        (["style"], {}, "catch2 pytest style"),
        ([], {"QUICK": "1"}, "catch2 pytest style"),
        ([], {}, "catch2 pytest package notebook style tools book browser torch numba triton"),
        (["05-extension/08-front-doors"], {}, "catch2 torch pytest numba triton"),
        (["05-extension/17-decode-engine"], {}, "catch2 torch"),
        (["05-extension/17-decode-engine"], {"QUICK": "1"}, "catch2"),
    ],
)
def test_a_part_of_the_tests_sets_up_only_what_it_needs(part, settings, needed):
    """No browser and no book for one lesson; PyTorch only for a lesson that uses it."""
    with mock.patch.dict(os.environ, {"QUICK": "", **settings}):
        assert typed.needs(typed.steps(["test"], part)) == needed.split()


def test_folders_of_tests_that_belong_to_no_lesson_are_suites():
    assert {"tools", "doctor", "conformance", "simulator"} <= set(suites.suites()) and not any(name[:1].isdigit() for name in suites.suites())
    assert {"tools", "doctor", "package", "simulator", "style"} == set(suites.in_python())
    assert [file.name for file in suites.python_files("simulator")] == ["rooms.py"] and suites.python_files("tools")[0].name == "test_pages.py"
    for suite in ("tools", "doctor"):
        assert f"python3 -m course test {suite}\n" in make("-n", "test", f"IN={suite}").stdout


@pytest.mark.parametrize("words", [["-R"], ["CXX="]])
def test_make_knows_its_compiler_if_it_is_to_forget_its_own_variables(words):
    ended = make(*words, "-n", "-B", "02-context/03-current")
    assert re.search(r"^g\+\+ .* -c 02-context/03-current/main.cpp", ended.stdout, re.MULTILINE), ended.stdout + ended.stderr


@pytest.mark.parametrize("name", ["a:b", "a;b"])
def test_a_folder_that_the_loader_cannot_find_is_refused(name):
    with tempfile.TemporaryDirectory(suffix=name) as folder:
        ended = make("help", folder=house(folder))
    assert "Give the folder another name" in ended.stderr, ended.stderr


def test_a_folder_that_pytorchs_builder_cannot_find_is_refused_if_it_is_to_build():
    with tempfile.TemporaryDirectory(suffix="a$b") as folder:
        pretended = make("-n", "02-03", "DEVICE=simulator", folder=house(folder))
        is_untouched = not (pathlib.Path(folder) / "build").exists()
        refused = make("run", "DEVICE=simulator", folder=folder)
        assert refused.returncode == 2 and "a $ in a path" in refused.stderr and f"in {folder}. Give" in refused.stderr, refused.stderr
        assert pretended.returncode == 0 and is_untouched, pretended.stderr


@pytest.mark.parametrize("name", ["a b", "o'clock", 'a "b"', "a #b"])
def test_a_lesson_is_built_and_run_in_a_folder_with_any_name(name):
    """The simulator is not built again: its library is linked to, and is younger than its sources."""
    with tempfile.TemporaryDirectory(suffix=name) as folder:
        house(folder)
        (pathlib.Path(folder) / "build").mkdir()
        (pathlib.Path(folder) / "build/simulator").symlink_to(ROOT / "build/simulator")
        ended = make("02-03", "DEVICE=simulator", folder=folder)
        assert ended.returncode == 0 and "cuCtxPushCurrent A" in ended.stdout, ended.stdout[-500:] + ended.stderr


def test_a_persons_cdpath_does_not_lead_anything_away():
    ended = make("run", "CUDA_HOME=/no/where", CDPATH=f".:{ROOT.parent}")
    assert ended.stdout == "" and ended.stderr.startswith("CUDA_HOME is /no/where"), ended.stdout + ended.stderr


SETUP = """import os, sys
def main(words):
    print(os.environ["TORCH_INDEX"], os.environ["XDG_CACHE_HOME"], os.environ["TMPDIR"], file=sys.stderr)
    return 1
"""


def test_variables_given_beside_a_target_reach_the_set_up():
    with tempfile.TemporaryDirectory() as folder:
        made = house(folder, "common")
        shutil.copytree(ROOT / "common", made / "common", ignore=shutil.ignore_patterns("simulator"))
        (made / "common/course/setup.py").write_text(SETUP)
        ended = make("run", "TORCH_INDEX=https://a/b", "XDG_CACHE_HOME=/o'clock x", f"TMPDIR={folder}", folder=folder)
    assert ended.stderr.startswith(f"https://a/b /o'clock x {folder}\nNothing was built; the reason is above\n"), ended.stderr


def test_the_simulators_build_is_announced_with_the_number_of_its_steps():
    with tempfile.TemporaryDirectory() as folder:
        made = house(folder)
        (made / "build").mkdir()
        (made / "build/setup.mk").write_text("COMPILER = g++\nCUDA_INCLUDE = /usr/include\n", encoding="utf-8")
        pretend = lambda: make("-n", "simulator", folder=folder).stdout
        first = pretend()
        steps = dict.fromkeys(re.findall(r" -o (build/simulator/\S+\.o)", first))
        assert f"The simulated GPU is built first, once: {len(steps)} files, about" in first, first[:300]
        for file in list(steps)[10:]:
            (made / file).parent.mkdir(parents=True, exist_ok=True)
            (made / file).touch()
        assert "once: 10 files, about 1 min" in pretend(), pretend()[:300]
        for file in steps:
            (made / file).parent.mkdir(parents=True, exist_ok=True)
            (made / file).touch()
        assert "is built first" not in pretend(), pretend()[:300]


def test_a_step_that_takes_long_is_shown_when_it_begins():
    """make holds back what a step prints until the step has ended."""
    rules = (ROOT / "common/make/lessons.mk").read_text(encoding="utf-8")
    rules = rules[rules.index("define step_begins") : rules.index("endef") + 6]
    made = (
        rules + "a: file\n\t$(call step_begins,compile)\n\t@while [ ! -e b ]; do sleep 0.01; done; echo a has ended\nb: ; @sleep 0.3; touch b; echo b\nfile:\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = ["make", "-j2", "--output-sync=target", "QUIET=yes", "-f", "-", "a", "b"]
        ended = subprocess.run(command, input=made, cwd=folder, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False)
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert lines[:1] == [["compile", "file", "(it", "takes", "a", "while)"]] and ["b"] in lines and ["a", "has", "ended"] in lines, ended.stdout + ended.stderr


def test_a_dry_run_says_what_would_be_built_again_and_writes_nothing():
    kept = lambda: {file: file.read_text() for file in [*(ROOT / "build").glob("flags.*"), ROOT / "build/setup.mk"]}
    before = kept()
    ended = make("-n", "02-context/03-current", "CXXFLAGS=-DNEW", "CUDA_HOME=/no/where")
    assert ended.returncode == 0 and re.search(r"^g\+\+ .* -DNEW$", ended.stdout, re.MULTILINE) and kept() == before, ended.stdout + ended.stderr


def test_a_single_lesson_shows_its_commands_and_several_show_progress():
    wanted = ["-n", "-B", "-o", build.SIMULATOR, "wanted", f"WANTED={' '.join(build.program_targets(every()['04-kernels/03-vector-add']))}"]
    one, several = (build.call([*wanted, *quiet], stdout=subprocess.PIPE).stdout for quiet in ([], ["QUIET=yes"]))
    assert re.search(
        r"^build/toolkit/bin/nvcc -ptx .* 04-kernels/03-vector-add/kernels.cu -o build/04-kernels/03-vector-add/kernels.ptx$", one, re.MULTILINE
    ), one
    assert re.search(
        r"^g\+\+ -pthread build/04-kernels/03-vector-add/main.o -o build/04-kernels/03-vector-add/main -Lbuild/simulator -lcuda *$", one, re.MULTILINE
    ), one
    assert "'compile' '04-kernels/03-vector-add/main.cpp'" in several and "'compile'" not in one, several


# A file whose command says why it fails, one that needs it, one that fails silently, and one that is made with a warning.
FAILING = """
SHELL := $(if $(LOGGED),%s/common/make/logged,/bin/bash)
.SHELLFLAGS = $(if $(LOGGED),$@) -c
a: b ; touch a
b:
\t@true
\t@{ echo 'b.cpp:1: error: no' >&2; exit 1; }
silent: ; @exit 1
fine: ; @echo 'fine.cpp:1: warning: hm' >&2; touch fine
"""


def test_what_make_could_not_build_is_known_with_the_compilers_words(tmp_path):
    (tmp_path / "Makefile").write_text(FAILING % ROOT)
    with mock.patch.object(build, "ROOT", tmp_path), mock.patch.dict(os.environ, MAKEFLAGS=""):
        built = build.Build(["fine", "a", "b", "gone", "silent"])
        assert built.failed == {"a", "b", "gone", "silent"} and built.complaint("fine") is None, built.said
        (tmp_path / "Makefile").write_text((tmp_path / "Makefile").read_text().replace("exit 1", "touch built-again; exit 1"))
        assert built.complaint("a") == built.complaint("b") == "b.cpp:1: error: no"
        assert "No rule to make target 'gone'" in built.complaint("gone")
        assert built.complaint("silent") == "the build failed without a message: make silent"
    assert not (tmp_path / "built-again").exists() and not (tmp_path / "fine.log").exists()


def test_the_help_fits_on_one_screen(capsys):
    help.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80


def test_the_makefile_can_be_read_in_one_go():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120 and max(map(len, lines)) <= 100


def test_no_function_of_make_has_a_comment_in_it_for_an_older_make():
    """GNU make 4.2 ends the line at a # wherever it stands; 4.3 and later know better."""
    for rules in [
        ROOT / "Makefile",
        *ROOT.glob("common/make/*.mk"),
        ROOT / "common/folder.mk",
        ROOT / "common/simulator/Makefile",
        *ROOT.glob("*/*/lesson.mk"),
    ]:
        for line in rules.read_text(encoding="utf-8").splitlines():
            assert line.startswith(("#", "\t")) or not re.search(r"\$\([^#]*[^\\#]#", line), (rules, line)


def test_no_two_lessons_set_the_same_variable_of_make():
    """Their lesson.mk are all read by one make: the later one's value would be the earlier one's, too."""
    set_in = {}
    for rules in sorted(ROOT.glob("*/*/lesson.mk")):
        for name in set(re.findall(r"^(\w+) *:?=", rules.read_text(encoding="utf-8"), re.MULTILINE)):
            set_in.setdefault(name, []).append(rules.parent.name)
    assert set_in and not {name: lessons for name, lessons in set_in.items() if len(lessons) > 1}, set_in


def test_a_kept_text_is_the_same_whatever_its_length():
    rule = next(line for line in (ROOT / "common/make/flags.mk").read_text(encoding="utf-8").splitlines() if line.startswith("kept_text = "))
    lengths = range(180, 920)
    with tempfile.TemporaryDirectory() as folder:
        for length in lengths:
            pathlib.Path(folder, f"{length}").write_text(length * "a" + "\n", encoding="utf-8")
        lines = [rule, *(f"text.{n} := {n * 'a'}" for n in lengths)]
        lines += ["define compared", "ifneq ($$(call kept_text,$1),$$(text.$1))", "$$(info $1)", "endif", "endef"]  # as the Makefile does it
        lines += [f"$(foreach n,{' '.join(map(str, lengths))},$(eval $(call compared,$n)))", "all: ;"]
        made = subprocess.run(
            ["make", "-s", "-f", "-"], input="\n".join(lines), cwd=folder, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
        )
    assert made.stdout + made.stderr == "", made.stdout + made.stderr
