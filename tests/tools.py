# Tests of the tools that test everything else: the checker of texts, and the reading of Catch2's reports. Run by tests/run.py.
import contextlib
import importlib.util
import io
import os
import pathlib
import pty
import re
import shutil
import stat
import subprocess
import tempfile
import time
import unittest
from unittest import mock

import bench
import check
import checks
import course
import device_side
import made_up
import pictures
import text
import texts
import walk


def refuses(call, *words):
    """Calls, expects a Problem, and returns what it says."""
    try:
        call(*words)
    except texts.Problem as problem:
        return str(problem)
    raise AssertionError("it was accepted")


def an_edit_replaces_lines_where_they_stand():
    assert texts.apply(["-  b;", "+  c;", "+  d;"], "  a;\n  b;\n  a;\n") == "  a;\n  c;\n  d;\n  a;\n"


def an_edit_may_have_several_hunks():
    assert texts.apply(["-a", "+A", "@@", "-c", "+C"], "a\nb\nc\n") == "A\nb\nC\n"


def an_edit_that_fits_nowhere_or_twice_is_refused():
    assert "0 places" in refuses(texts.apply, ["-x", "+y"], "a\nb\n")
    assert "2 places" in refuses(texts.apply, ["-a", "+b"], "a\na\n")
    assert "no line to find its place by" in refuses(texts.apply, ["+b"], "a\n")


def shown_output_is_compared_line_by_line():
    texts.compare(["one", "two"], ["one", "two  "], [])
    assert "-two" in refuses(texts.compare, ["one", "two"], ["one", "three"], [])
    assert "+two" in refuses(texts.compare, ["one"], ["one", "two"], [])


def what_varies_matches_anything_and_nothing_else_does():
    texts.compare(["device | NVIDIA H200 | 1.5 ms"], ["device | Simulated H200    | 27.25 ms"], ["NVIDIA H200", "1.5"])
    assert "-device" in refuses(texts.compare, ["device | 1.5 ms"], ["device | 27.25 s"], ["1.5"])


def a_literal_that_varies_must_occur_in_the_block():
    assert "does not occur" in refuses(texts.compare, ["one"], ["one"], ["two"])


def dots_stand_for_any_number_of_lines():
    texts.compare(["one", "…", "four"], ["one", "two", "three", "four"], [])
    texts.compare(["one", "…", "four"], ["one", "four"], [])


def rows_of_a_table_are_read_as_numbers():
    printed = ["size  | GB/s", "   4 KiB |   0.5 █     |  12.3 ███", "", "no table 7", "a name | CUDA_ERROR_INVALID_VALUE", "1 | 2 of 3"]
    assert bench.rows(printed) == [{"label": "4 KiB", "values": [0.5, 12.3]}, {"label": "1", "values": [2.0, 3.0]}]


def rows_in_columns_are_read_as_numbers_too():
    printed = ["A device, 4 x 4 floats", "", "kernel     idea                 GB/s  of all", "", "registers  64 numbers a thread  12.5  0.80 ██", "none                            3.0     -"]
    assert bench.rows(printed) == [{"label": "registers 64 numbers a thread", "values": [12.5, 0.8]}]


SIMULATOR_SAID = """cudasim: something else
========= simulated GPU: illegal address
  kernel   guilty
  at       kernels.cu:16 (line 64 of the PTX)
========= simulated GPU: not given back
  when     the context was destroyed
"""
COMPUTE_SANITIZER_SAID = """========= COMPUTE-SANITIZER
the program's own line
========= Invalid __global__ write of size 4 bytes
=========     at guilty(int *)+0x90 in kernels.cu:16
=========     by thread (0,0,0) in block (0,0,0)
=========         Host Frame: main [0x5778] in main
=========
========= LEAK SUMMARY: 0 bytes leaked in 0 allocations
========= ERROR SUMMARY: 1 error
"""


def what_looks_for_mistakes_in_kernels_is_read():
    found = device_side.of_simulator(SIMULATOR_SAID)
    assert found == ["illegal address, kernels.cu:16 (line 64 of the PTX)", "not given back, the context was destroyed"]
    found = device_side.of_compute_sanitizer(COMPUTE_SANITIZER_SAID)
    assert found == ["Invalid __global__ write of size 4 bytes, at guilty(int *)+0x90 in kernels.cu:16"]


def only_what_is_intended_may_be_found_and_it_must_be():
    assert device_side.judge([], [], []) == []
    assert device_side.judge(["a race"], [], ["a race"]) == ["it found: a race"]
    assert device_side.judge(["a leak of 4"], ["a leak"], ["a leak of 4"]) == []
    assert device_side.judge([], ["a leak"], ["a leak of 4"]) == []  # another tool has
    assert device_side.judge([], ["a leak"], []) == ["nobody found: a leak"]


def a_lesson_measures_if_its_text_says_so():
    assert bench.measures("03-memory/05-pageable-vs-pinned")
    assert not bench.measures("03-memory/01-alloc-copy-free")


README = """# A lesson

<!-- varies: 7 -->
```console
$ make 02-context/03-stack
seven is 7
$ make check        # in this folder
```

[here](#a-lesson) [there](nowhere.md) [not there](#nowhere) `tests/nothing.py` `tests/NN-chapter` `make everything`
"""


def a_text_copied_from_another_lessons_is_found():
    table = "[02-04 A lesson](04-new/README.md)"
    copied = "# 02-03 A lesson\n$ make 02-context/03-stack\n"
    assert len(texts.misnamed("02-context/04-new", copied, table)) == 3
    assert texts.misnamed("02-context/04-new", copied.replace("02-03", "02-04").replace("03-stack", "04-new"), table) == []
    assert texts.misnamed("02-context/04-new", "# 02-04 A lesson\n$ DEVICE=simulator make 02-context/04-new\n", "") == [
        "the table of 02-context/README.md is to have [02-04 A lesson](04-new/README.md)"
    ]


def a_console_block_is_cut_into_commands_with_their_output():
    first, second = texts.commands("README.md", README)
    assert first.targets() == ["02-context/03-stack"] and first.shown == ["seven is 7"] and first.varies == ["7"]
    assert second.targets() == ["check"] and second.shown == []


def links_names_and_targets_that_lead_nowhere_are_found():
    with tempfile.TemporaryDirectory(dir=course.ROOT / "build") as folder:
        path = pathlib.Path(folder) / "README.md"
        path.write_text(README, encoding="utf-8")
        assert texts.broken_links(path, README) == ["a link leads nowhere: nowhere.md", "no heading for this link: #nowhere"]
        assert texts.broken_names(path, README, {"tests/run.py"}) == ["there is no `tests/nothing.py`"]
        assert texts.broken_targets(path, README, {"check", "02-context/03-stack"}) == ["make has no target everything"]


def a_text_is_cut_into_sections():
    parts = text.sections("# Title\nIntro\n\n## Run\n```sh\n# no heading\n```\n\n## Next\nend\n")
    assert parts == [("Title", "Intro"), ("Run", "```sh\n# no heading\n```"), ("Next", "end")]


# Stands for a Catch2 binary: three test cases, of which the second ends the program unless it is left out.
PROGRAM = """#!/bin/sh
for word in "$@"; do
  case $last in -o) report=$word ;; esac
  case $word in '~"ends\\, the program"') without=yes ;; esac
  last=$word
done
exec >"$report"
echo '<Catch><Group><TestCase name="fails"><Expression success="false" type="CHECK" filename="a.cpp" line="7">'
echo '<Original>a == b</Original><Expanded>1 == 2</Expanded></Expression><OverallResult success="false"/></TestCase>'
[ $without ] || { echo '<TestCase name="ends, the program">'; echo "${SAID:-the call failed}" >&2; exit ${STATUS:-3}; }
echo 'SKIPPED: is skipped: no second device' >&2
echo '<TestCase name="is skipped"><OverallResult success="true"/></TestCase></Group></Catch>'
"""


def cases_of_program(**environment):
    """{name: case} of PROGRAM, which may end with another STATUS and may have SAID something else."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return {case.name: case for case in checks.run_cases(program, {**os.environ, **environment})}


def a_case_that_ends_the_program_fails_and_the_others_still_run():
    cases = cases_of_program()
    assert cases["fails"].failure == "a.cpp:7: CHECK( a == b ) was 1 == 2"
    assert cases["ends, the program"].failure == "the program ended with status 3 in the middle of it\nthe call failed"
    assert cases["is skipped"].failure is None and cases["is skipped"].skipped == "no second device"


def a_program_that_ends_itself_by_a_macro_is_told_of_the_other():
    ended = cases_of_program(STATUS="1", SAID="a.cpp:7: cuInit(0) -> CUDA_ERROR_NO_DEVICE: none")
    assert "status 1 in the middle of it, as CU_CHECK does: CU_THROW throws instead\na.cpp:7: cuInit" in ended["ends, the program"].failure


def a_case_that_rejects_is_enough():
    with tempfile.TemporaryDirectory() as folder:
        program, asked = pathlib.Path(folder) / "check", pathlib.Path(folder) / "asked"
        program.write_text(PROGRAM.replace("\n", f"\necho \"$*\" >> {asked}\n", 1), encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        for until, last in ((checks.ANY, "--abort"), ("fails", '"fails"'), ("ends, the program", '"ends\\, the program"')):
            asked.write_text("", encoding="utf-8")
            cases = {case.name: case for case in checks.run_cases(program, dict(os.environ), until=until)}
            assert until == checks.ANY or cases[until].failure, cases
            (once,) = asked.read_text(encoding="utf-8").splitlines()
            assert once.endswith(" " + last), once
        # Where that one does not reject, all are run.
        program.write_text(f"#!/bin/sh\necho >> {asked}\necho '<Catch><TestCase name=\"p\"><OverallResult success=\"true\"/></TestCase></Catch>' > $4\n", encoding="utf-8")
        asked.write_text("", encoding="utf-8")
        assert [case.failure for case in checks.run_cases(program, dict(os.environ), until="p")] == [None]
        assert asked.read_text(encoding="utf-8") == "\n\n"


# Stands for one that lists its cases as Catch2 3 does, and notes when each begins and ends.
LISTING = """#!/bin/sh
case "$*" in
  *--list-test-names-only*) echo 'no such option'; exit 255 ;;
  *--list-tests*'[alone]') echo 'memory, free'; exit ;;
  *--list-tests*) printf 'a\\nmemory, free\\nb\\nends\\n'; exit ;;
esac
for name in "$@"; do :; done  # the last
echo "begin $name" >> asked
[ "$name" = '"ends"' ] && exit 3
sleep 0.2
echo "end $name" >> asked
echo "<Catch><TestCase name='$(echo "$name" | tr -d '"\\\\')'><OverallResult success='true'/></TestCase></Catch>" > "$4"
"""


def cases_run_side_by_side_but_for_those_that_must_be_alone():
    with tempfile.TemporaryDirectory() as folder:
        program, asked = pathlib.Path(folder) / "check", pathlib.Path(folder) / "asked"
        program.write_text(LISTING, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        cases = {case.name: case for case in checks.run_side_by_side(program, dict(os.environ), folder, 9, 3)}
        told = asked.read_text(encoding="utf-8").splitlines()
    assert list(cases) == ["a", "b", "ends", "memory, free"], list(cases)
    assert [name for name, case in cases.items() if case.failure] == ["ends"], cases["ends"].failure
    assert "ended with status 3" in cases["ends"].failure
    assert told[-2:] == ['begin "memory\\, free"', 'end "memory\\, free"'] and not told[2].startswith("end"), told


def a_program_that_ends_badly_after_its_last_case_fails():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(PROGRAM.replace('success="false"', 'success="true"') + "echo 'leaked' >&2; exit 23\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        *_, last = checks.run_cases(program, dict(os.environ))
    assert last.name == "the test program ends well" and last.failure.startswith("all cases passed, then it ended with status 23\n"), last.failure
    assert last.failure.endswith("leaked"), last.failure


def an_exercise_that_is_being_worked_on_is_not_the_courses():
    with tempfile.TemporaryDirectory() as folder:
        exercise = pathlib.Path(folder) / "exercise.cpp"
        exercise.write_text("// Your code here.\n", encoding="utf-8")
        alone = {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        with mock.patch.dict(os.environ, STRICT="", **alone):
            assert checks.is_edited(exercise) is None and not checks.is_learners(exercise)  # no repository
            with mock.patch.dict(os.environ, PATH=folder):
                assert checks.is_edited(exercise) is None  # no git
            for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "as committed"]):
                subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
            assert checks.is_edited(exercise) is False and not checks.is_learners(exercise)
            exercise.write_text("int half = \n", encoding="utf-8")
            assert checks.is_edited(exercise) and checks.is_learners(exercise)
        with mock.patch.dict(os.environ, STRICT="yes"):
            assert not checks.is_learners(exercise)


def a_place_is_named_from_the_root():
    xml = f'<Expression type="CHECK" filename="{checks.course.ROOT}/tests/02-context/03-stack.cpp" line="43"><Original>a</Original></Expression>'
    assert checks._sentence(checks.ElementTree.fromstring(xml)).startswith("tests/02-context/03-stack.cpp:43: CHECK( a )")


def a_comparison_stands_on_one_line():
    xml = '<Expression filename="a.cpp" line="7"><Original>a == b</Original><Expanded>\n"long"\n==\n"longer"\n</Expanded></Expression>'
    assert checks._sentence(checks.ElementTree.fromstring(xml)) == 'a.cpp:7: CHECK( a == b ) was "long" == "longer"'


def a_handle_is_shown_without_its_zeros():
    xml = '<Expression filename="a.cpp" line="7"><Original>a</Original><Expanded>{ 0x00003c0000000080, 0x0 }\n==\n{  }</Expanded></Expression>'
    assert checks._sentence(checks.ElementTree.fromstring(xml)) == "a.cpp:7: CHECK( a ) was { 0x3c0000000080, 0x0 } == {  }"


def a_crash_is_said_to_be_below_the_line_that_catch2_saw_last():
    xml = '<FatalErrorCondition filename="tests/a.cpp" line="7">SIGSEGV</FatalErrorCondition>'
    assert checks._sentence(checks.ElementTree.fromstring(xml)) == "after tests/a.cpp:7: SIGSEGV, in your code or below it"


def where_nothing_was_thrown_that_is_said():
    xml = '<Expression type="{}" filename="a.cpp" line="7"><Original>f(), int</Original><Expanded>f(), int</Expanded>{}</Expression>'
    said = lambda kind, thrown="": checks._sentence(checks.ElementTree.fromstring(xml.format(kind, thrown)))
    assert said("CHECK_THROWS_AS") == "a.cpp:7: CHECK_THROWS_AS( f(), int ), and nothing was thrown"
    assert said("CHECK_THROWS_AS", "<Exception>no</Exception>") == "a.cpp:7: CHECK_THROWS_AS( f(), int ) threw: no"
    assert said("CHECK") == "a.cpp:7: CHECK( f(), int )"


def what_was_to_be_false_is_shown_as_it_was_asked():
    for original, expanded in ("!(done)", "!true"), ("!(done)", "!(true)"):
        xml = f'<Expression type="CHECK_FALSE" filename="a.cpp" line="7"><Original>{original}</Original><Expanded>{expanded}</Expanded></Expression>'
        assert checks._sentence(checks.ElementTree.fromstring(xml)) == "a.cpp:7: CHECK_FALSE( done ) was true"


# What Catch2 writes of an expression that crashes, and of one that throws.
WITHIN = """<Catch><Group><TestCase name="a"><Expression success="false" type="CHECK" filename="a.cpp" line="7"><Original>f()</Original><Expanded>f()</Expanded>
<Exception filename="a.cpp" line="7">no</Exception></Expression><Expression success="false" type="CHECK" filename="a.cpp" line="8"><Original>g()</Original>
<Expanded>g()</Expanded><FatalErrorCondition filename="a.cpp" line="8">SIGSEGV</FatalErrorCondition></Expression><Exception filename="a.cpp" line="9">nor</Exception>
<OverallResult success="false"/></TestCase></Group></Catch>"""


def a_crash_or_an_exception_within_an_expression_is_told_once():
    with tempfile.NamedTemporaryFile("w") as report:
        report.write(WITHIN)
        report.flush()
        (case,) = checks._read(report.name)
    assert case.failure.splitlines() == ["a.cpp:7: CHECK( f() ) threw: no", "after a.cpp:8: SIGSEGV, in your code or below it", "a.cpp:9: nor"]


def a_kernel_without_c_linkage_is_recognised_by_its_name():
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "exercise.ptx"
        said = lambda failure: checks.misses_c_linkage(ptx, failure)
        assert said("-> CUDA_ERROR_NOT_FOUND") is None
        ptx.write_text(".visible .entry _Z5saxpyifPKfPf(\n", encoding="utf-8")
        assert said("-> CUDA_ERROR_NOT_FOUND") == 'exercise.ptx has no function saxpy; it has _Z5saxpyifPKfPf: is extern "C" missing?'
        assert said("a.cpp:7: CHECK( y == 1 ) was 0 == 1") is None
        ptx.write_text(".visible .entry saxpy(\n", encoding="utf-8")
        assert said("-> CUDA_ERROR_NOT_FOUND") is None


def what_several_cases_fail_of_is_told_once():
    one, two, three = (checks.Case(name) for name in ("one", "two", "three"))
    one.failure = three.failure = "no function"
    two.failure = "another"
    with contextlib.redirect_stdout(io.StringIO()) as shown, mock.patch.object(checks, "judge", lambda *_: [one, two, three]):
        check.judge("02-context/03-stack", mock.Mock(failed=set()), None, True)
    assert shown.getvalue().splitlines()[1:] == ["   - one", "   - three", "      no function", "   - two", "      another"], shown.getvalue()


def a_crash_in_every_case_is_told_once():
    one, two, three = (checks.Case(name) for name in ("one", "two", "three"))
    one.failure, two.failure = (f"after a b.cpp:{line}: SIGSEGV, in your code or below it\nthe program was killed" for line in (7, 9))
    three.failure = "a b.cpp:8: CHECK( done )\n" + two.failure
    with contextlib.redirect_stdout(io.StringIO()) as shown, mock.patch.object(checks, "judge", lambda *_: [one, two, three]):
        check.judge("02-context/03-stack", mock.Mock(failed=set()), None, True)
    assert shown.getvalue().splitlines()[1:5] == ["   - one", "   - two"] + ["      " + line for line in one.failure.splitlines()], shown.getvalue()
    assert shown.getvalue().count("   - ") == 3 and "      a b.cpp:8: CHECK( done )" in shown.getvalue()


def what_the_simulators_checks_find_in_a_right_answer_is_no_solution():
    found = ["a race, exercise.cu:7", "not given back: 4 bytes", "a race, exercise.cu:7"]

    def told(lesson, kind, wish):
        device = texts.course.Device(kind, "", "", {})
        with contextlib.redirect_stdout(io.StringIO()) as shown, mock.patch.object(checks, "judge", lambda *_: [checks.Case("one")]):
            with mock.patch.object(check.device_side, "watched", lambda *_: (found, None, None)), mock.patch.dict(os.environ, CUDASIM_CHECK=wish):
                solved = check.judge(lesson, mock.Mock(failed=set()), device, True)
        lines = shown.getvalue().splitlines()
        assert solved == (lines == [f"{lesson}   solved"]), lines
        return lines[1:]

    # What is not given back is this lesson's subject.
    assert told("03-memory/15-leaks", "simulator", "all") == [f"   - {device_side.CASE}", "      a race, exercise.cu:7"]
    assert told("03-memory/15-leaks", "simulator", "") == told("03-memory/15-leaks", "gpu", "all") == []
    assert told("04-kernels/08-warps", "simulator", "")[1:] == ["      a race, exercise.cu:7", "      not given back: 4 bytes"]
    assert told("04-kernels/08-warps", "gpu", "all") == []


def of_a_race_both_places_are_told_and_the_reason():
    said = """========= simulated GPU: data race
  kernel   block_sums
  thread   (1,0,0) of block (0,0,0) changes 4 bytes atomically at exercise.cu:4 (in
           device_atomic_functions.hpp:107)
  thread   (0,0,0) of block (0,0,0) has written there, at
           exercise.cu:3
  where    0x0 (shared): byte 0 of 's', byte 0 of the block's shared memory
  why      one of them is atomic or volatile, the other is not, and nothing
           orders them
"""
    assert device_side.of_simulator(said) == ["data race, exercise.cu:4 and exercise.cu:3: one of them is atomic or volatile, the other is not, and nothing orders them"]


# Stands for a Catch2 binary whose first test case does not end.
ENDLESS = """#!/bin/sh
for word in "$@"; do [ "$last" = -o ] && report=$word; last=$word; done
echo '<Catch><Group><TestCase name="loops">' >"$report"
exec sleep 60
"""


def a_case_that_hangs_is_stopped_and_named():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(ENDLESS, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (case,) = checks.run_cases(program, dict(os.environ), limit=1)
    assert case.failure.startswith("still running after 1 s: an endless loop, or a wait for what never comes?")


def the_cases_after_a_kernel_that_does_not_end_are_not_tried():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(PROGRAM.replace("the call failed", "-> CUDA_ERROR_LAUNCH_TIMEOUT"), encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        *_, last = checks.run_cases(program, dict(os.environ))
    assert last.failure == "a kernel does not end (the cases after it were not tried)\n-> CUDA_ERROR_LAUNCH_TIMEOUT", last.failure


def a_thread_that_nobody_joins_is_called_that():
    ended = cases_of_program(SAID="terminate called without an active exception")
    assert ": was a std::thread not joined?\nterminate called" in ended["ends, the program"].failure


def what_a_stopped_program_has_started_is_stopped_too():
    with tempfile.TemporaryDirectory() as folder:
        noted = pathlib.Path(folder) / "process"
        try:
            course.run_limited(["sh", "-c", f"sleep 60 & echo $! >{noted}; wait"], 1, stdout=subprocess.PIPE)
            raise AssertionError("it was not stopped")
        except subprocess.TimeoutExpired:
            pass
        state = pathlib.Path(f"/proc/{noted.read_text().strip()}/stat")
        for _ in range(100):
            try:
                if ") Z " in state.read_text():
                    return
            except OSError:
                return
            time.sleep(0.1)
        raise AssertionError("it still runs")


MAKE_SAYS = """make[1]: *** [Makefile:7: build/a.o] Error 1
make[1]: Target 'build/a' not remade because of errors.
make[1]: *** [Makefile:8: build/b] Error 1
make[1]: *** No rule to make target 'c.cpp', needed by 'build/c.o'.
make[1]: Target 'build/c' not remade because of errors.
"""


def what_make_could_not_make_is_read_from_its_words():
    build = course.Build([])
    build.said = MAKE_SAYS
    assert build.given_up(["build/a", "build/b", "build/c", "build/d"]) == {"build/a", "build/b", "build/c"}


# Stands for pytest: a test that passes, one that fails twice, one that is skipped, one that ends the program.
PYTEST = """import json, os
with open(os.environ["TOLD"], "w") as told:
    for name, *came in [["one", "ends", ""], ["two", "failed", "first"], ["two", "failed", "second"], ["three", "skipped", "no GPU"], \\
        ["four"], ["five", "failed", "illegal address"], ["five", "faulty", ""], ["six", "ends", ""]]:
        if name not in json.loads(os.environ["DONE"]):
            print(json.dumps([name] + (came or ["begins", ""])), file=told)
            if not came or came[0] == "faulty":
                told.flush()
                os.abort()
"""


def what_came_of_tests_in_python_is_known_when_one_ends_the_program_and_the_others_still_run():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "pytest.py").write_text(PYTEST, encoding="utf-8")
        environment = dict(os.environ, PYTHONPATH=folder)
        cases = {case.name: case for case in checks.run_pytest(folder, environment)}
        assert [case.name for case in checks.run_pytest(folder, environment, until="four")] == ["one", "two", "three", "four"]
    assert cases["one"].failure is None and cases["two"].failure == "first" and cases["three"].skipped == "no GPU"
    assert cases["four"].failure.startswith("the program was killed by signal 6 (Aborted) in the middle of it")
    assert list(cases) == ["one", "two", "three", "four", "five", "six"]
    assert cases["five"].failure == "illegal address" and cases["six"].failure is None


def an_answer_that_is_no_python_is_said_to_be_none():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "exercise.py"
        source.write_text("def f():\n    return (1\n", encoding="utf-8")
        first, line, caret = checks.syntax_error(source).splitlines()
        assert first.startswith("exercise.py:2: SyntaxError: ") and line.strip() == "return (1" and caret.strip() == "^", (first, line, caret)
        source.write_text("def f():\n    return 1\n", encoding="utf-8")
        assert checks.syntax_error(source) is None


# What make is told, and what it answers; nothing is fetched or built before.
REFUSED = {
    ("run", "DEVICE=card"): "DEVICE=card is none that I know",
    ("run", "DEVICE=a'b"): "DEVICE=a'b is none that I know",
    ("everything",): "There is no target called everything",
    ("check", "everything"): "There is no target called everything",
    ("clean", "check"): "clean goes alone",
    ("check", "in=02-context"): "There is no variable called in, only IN: make check IN=02-context",
    ("run", "Device=gpu"): "There is no variable called Device, only DEVICE: make run DEVICE=gpu",
    ("test", "v=1"): "There is no variable called v, only V: make test V=1",
    ("99-end",): "There is no chapter or lesson called 99-end",
    ("02-context/99-end",): "There is no lesson called 02-context/99-end",
    ("test", "IN=nothing"): "There is no chapter or lesson called nothing",
    ("stac",): "There is no target called stac. Did you mean 02-context/03-stack?",
    ("02-context/03-sta",): "Did you mean 02-context/03-stack? The lessons of 02-context are:",
    ("02-99",): "There is no chapter or lesson called 02-99. The chapters are:",
    ("run", "CXX=no-compiler"): "There is no C++ compiler called no-compiler. Type: make CXX=g++ …, which is here",
    ("run", "CXX=/bin/false"): "/bin/false does not compile a small C++20 program",
    ("run", "CUDA_HOME=/no/where"): "there is no include/cuda.h in it",
    ("run", "CUDA_HOME=/o'clock"): "CUDA_HOME is /o'clock",
    ("run", "TMPDIR=/no/where"): "cannot write their temporary files to /no/where: there is no such folder",
}


def make(*words, **environment):
    """make, as if typed, not called by a make: what that one was given is not given to this one."""
    given = ("CXX", "DEVICE", "INSIDE", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")
    outside = {name: value for name, value in os.environ.items() if name not in given}
    return subprocess.run(["make", *words], cwd=course.ROOT, env={**outside, **environment}, capture_output=True, text=True)


def what_make_cannot_do_is_refused_in_a_sentence():
    for words, sentence in REFUSED.items():
        ended = make(*words)
        assert ended.returncode == 2 and sentence in ended.stderr, (words, ended.returncode, ended.stderr)


def a_python_that_is_missing_or_too_old_is_told_before_anything_is_built():
    for answer, sentence in {"exit 127": "There is no python3 here", "echo 3.8": "is Python 3.8, and the course needs 3.9 or newer"}.items():
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python3"
            python.write_text(f"#!/bin/sh\n{answer}\n")
            python.chmod(0o755)
            for words in (["02-03"], ["doctor"]):
                ended = make(*words, PATH=f"{folder}:{os.environ['PATH']}")
                assert ended.returncode == 2 and ended.stdout == "" and sentence in ended.stderr, (words, ended.stdout, ended.stderr)


# What is typed, in which folder, and the part of the course that is meant.
SHORT = [
    ("02-03", ".", "02-context/03-stack"),
    ("02-03/", ".", "02-context/03-stack"),
    ("02-context/03", ".", "02-context/03-stack"),
    ("03-stack", ".", "02-context/03-stack"),
    ("02", ".", "02-context"),
    ("03", "02-context", "02-context/03-stack"),
    ("04", "02-context/03-stack", "02-context/04-ownership"),
    ("03-06", "02-context", "03-memory/06-pinned-kinds"),
]


def a_number_names_a_chapter_or_a_lesson():
    for typed, folder, meant in SHORT:
        for words in ([typed], ["walk", typed], ["check", f"IN={typed}"]):
            ended = make("-C", folder, "-n", *words)
            shown = " ".join(course.lessons([meant])) + "\n"
            tool = "run" if len(words) == 1 else words[0]
            assert ended.returncode == 0 and re.search(rf"python3 \w+/{tool}\.py {re.escape(shown)}", ended.stdout), (words, folder, ended.stdout[-300:], ended.stderr)


def make_knows_its_compiler_where_it_is_to_forget_its_own_variables():
    for words in (["-R"], ["CXX="]):
        ended = make(*words, "-n", "02-context/03-stack")
        assert re.search(r" CXX='[^']*g\+\+' ", ended.stdout), ended.stdout + ended.stderr


def where_no_program_can_be_started_what_is_made_up_lies_elsewhere():
    assert made_up.place() in (tempfile.gettempdir(), str(made_up.BUILT))
    with mock.patch("os.access", lambda *_: False):
        assert made_up.place() == str(made_up.BUILT) and made_up.BUILT.is_dir()


def a_folder_that_the_loader_cannot_be_told_of_is_refused():
    with tempfile.TemporaryDirectory(suffix="a:b") as folder:
        shutil.copy(course.ROOT / "Makefile", folder)
        ended = make("-C", folder, "help")
    assert "Give the folder another name" in ended.stderr, ended.stderr


def a_folder_that_pytorchs_builder_cannot_be_told_of_is_refused_where_it_is_to_build():
    with tempfile.TemporaryDirectory(suffix="a$b") as folder:
        for name in ("Makefile", "common", *(path.name for path in course.ROOT.glob("0?-*"))):
            (pathlib.Path(folder) / name).symlink_to(course.ROOT / name)
        refused = make("-C", folder, "run", "DEVICE=simulator")
        built = make("-C", folder, "-n", "02-03", "DEVICE=simulator")
        assert refused.returncode == 2 and "a $ in a path" in refused.stderr and f"in {folder}. Give" in refused.stderr, refused.stderr
        assert built.returncode == 0 and not (pathlib.Path(folder) / "build").exists(), built.stderr


def what_a_person_has_set_for_cd_does_not_lead_the_set_up_away():
    ended = make("run", "CUDA_HOME=/no/where", CDPATH=f".:{course.ROOT.parent}")
    assert ended.stdout == "" and ended.stderr.startswith("CUDA_HOME is /no/where"), ended.stdout + ended.stderr


def what_is_given_beside_a_target_reaches_the_set_up():
    with tempfile.TemporaryDirectory() as folder:
        house = pathlib.Path(folder)
        for name in ("Makefile", *(path.name for path in course.ROOT.glob("0?-*"))):
            (house / name).symlink_to(course.ROOT / name)
        (house / "common").mkdir()
        (house / "common/setup.sh").write_text('echo "$TORCH_INDEX, $XDG_CACHE_HOME, $TMPDIR" >&2; exit 1\n')
        ended = make("-C", folder, "run", "TORCH_INDEX=https://a/b", "XDG_CACHE_HOME=/o'clock x", f"TMPDIR={folder}")
    assert ended.stderr.startswith(f"https://a/b, /o'clock x, {folder}\n"), ended.stderr


def what_is_left_of_the_simulator_is_announced_in_the_steps_that_are_counted():
    with tempfile.TemporaryDirectory() as folder:
        house = pathlib.Path(folder)
        for name in ("Makefile", "common", *(path.name for path in course.ROOT.glob("0?-*"))):
            (house / name).symlink_to(course.ROOT / name)
        (house / "build").mkdir()
        (house / "build/setup.mk").write_text("COMPILER := g++\n", encoding="utf-8")
        dry = lambda: make("-C", folder, "-n", "simulator").stdout
        assert "is built first" not in dry(), dry()[:300]  # there is no toolkit
        (house / "build/setup.mk").write_text("COMPILER := g++\nCUDA_INCLUDE := /usr/include\n", encoding="utf-8")
        first = dry()
        steps = dict.fromkeys(re.findall(r" -o (build/simulator/\S+\.o)$", first, re.MULTILINE))
        assert f"The simulated GPU is built first, once: {len(steps)} steps, about" in first, first[:300]
        for file in list(steps)[2:]:
            (house / file).parent.mkdir(parents=True, exist_ok=True)
            (house / file).touch()
        assert f"once: 2 steps of {len(steps)} are left, about 1 min" in dry(), dry()[:300]
        (house / "build/simulator/libcuda.so.1").touch()
        assert "is built first" not in dry(), dry()[:300]


def what_was_fetched_and_what_was_unpacked_of_it_are_counted_apart():
    functions = re.findall(r"^(?:megabytes_in|report_progress)\(\) \{.*?\}$", (course.ROOT / "common/setup.sh").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        for file, megabytes in {"tmp/pip-unpack-a/torch.whl": 3, "tmp/pip-target-b/torch/lib.so": 4, "torch-2/numpy/lib.so": 2, "tmp/venv/python": 7}.items():
            path = pathlib.Path(folder, file)
            path.parent.mkdir(parents=True)
            path.write_bytes(os.urandom(megabytes << 20))
        # At the 16th second, what was downloaded is gone.
        sleep = f"n=0; sleep() {{ ((++n == 16)) && rm -r {folder}/tmp/pip-unpack-a; ((n < 31)); }}"
        said = subprocess.run(["bash", "-c", "\n".join([*functions, sleep, f'report_progress "{folder}" torch-2 0'])], capture_output=True, text=True)
    told = re.fullmatch(r"(?:  still fetching: \d s, (\d) MB downloaded, (\d) MB unpacked\n){2}", said.stdout)
    assert told and 3 <= int(told.group(1)) <= 4 and 6 <= int(told.group(2)) <= 7, said


def where_there_is_no_pip_the_set_up_says_how_to_come_by_one():
    (function,) = re.findall(r"^pip_advice\(\) \{.*?^\}$", (course.ROOT / "common/setup.sh").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for python3, advice in {"true": "Type: python3 -m pip install torch", "false": "Type: sudo apt-get install python3-venv; python3 -m venv env;"}.items():
        said = subprocess.run(["bash", "-c", f"{function}\npython3() {{ {python3}; }}; pip_advice torch"], capture_output=True, text=True)
        assert said.stdout.startswith(advice), said


def a_step_that_takes_long_is_told_as_it_begins():
    """As make holds back what a step prints, other lines come when it has ended."""
    rules = [line for line in (course.ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if line.startswith(("quoted = ", "say = ", "say_first = "))]
    made = "\n".join([*rules, "a: ; $(call say_first,compile,a's headers)", "\t@while [ ! -e b ]; do sleep 0.01; done; echo a has ended", "b: ; $(call say,compile,b)", "\t@sleep 0.3; touch b"])
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(["make", "-j2", "--output-sync=target", "-f", "-", "a", "b"], input=made, cwd=folder, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True)
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert lines[:1] == [["compile", "a's", "headers"]] and ["compile", "b"] in lines and ["a", "has", "ended"] in lines, ended.stdout + ended.stderr


def a_lesson_in_python_finds_the_pip_that_was_fetched():
    for kept, places in {"/kept/pip": ["/torch", "/kept/pip"], "none": ["/torch"], "": ["/torch"]}.items():
        with mock.patch.object(course, "setup", lambda: {"TORCH_PATH": "/torch", "PIP_PATH": kept}), mock.patch.dict(os.environ, USER_PYTHONPATH=""):
            assert course.for_python()["PYTHONPATH"].split(os.pathsep) == [*places, str(course.ROOT)], kept


ONLY_STATIC = """#!/bin/sh
case $1 in -print-file-name=*) echo "${1#*=}";; *) exec g++ "$@";; esac
"""


def a_compiler_without_a_shared_library_is_not_used_for_pytorch():
    with tempfile.TemporaryDirectory() as folder:
        compiler = pathlib.Path(folder) / "c++"
        compiler.write_text(ONLY_STATIC, encoding="utf-8")
        compiler.chmod(0o755)
        ended = make("run", f"CXX={compiler}", "CUDA_HOME=/no/where")
    assert f"Note: {compiler} has no shared libstdc++" in ended.stderr and "is used instead" in ended.stderr, ended.stderr


def set_up(toolkit, nvcc):
    """(What make reads of build/setup.mk, what common/course.py reads, its why_not of a lesson that needs a whole nvcc) with a made-up toolkit in `toolkit`."""
    with tempfile.TemporaryDirectory() as made:
        home, house = pathlib.Path(made) / toolkit, pathlib.Path(made) / "house"
        for file, content in {"include/cuda.h": "#define CUDA_VERSION 12040\n", "bin/nvcc": "#!/bin/sh\n" + nvcc}.items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(content)
        (home / "bin/nvcc").chmod(0o755)
        (house / "common").mkdir(parents=True)
        for file in ("setup.sh", "course.py"):
            shutil.copy(course.ROOT / "common" / file, house / "common" / file)
        (house / "05-extension").symlink_to(course.ROOT / "05-extension")
        subprocess.run([house / "common/setup.sh"], env=dict(os.environ, CUDA_HOME=str(home), CXX="g++"), check=True)
        makefile = "include build/setup.mk\n$(foreach name,NVCC CUDA_INCLUDE,$(info $($(name))))\nall: ;\n"
        by_make = subprocess.run(["make", "-f", "-", "-s"], cwd=house, input=makefile, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]})
        ask = "import course; found = course.setup(); print(found['NVCC']); print(found['CUDA_INCLUDE']); print(course.why_not('05-extension/09-mini-runtime'))"
        by_us = subprocess.run(["python3", "-c", ask], cwd=house / "common", capture_output=True, text=True, check=True)
        *paths, why_not = by_us.stdout.splitlines()
        strip = lambda lines: [line.replace(made, "") for line in lines]
        return strip(by_make.stdout.splitlines()), strip(paths), why_not


def pytorch_stays_found_when_a_terminal_has_another_compiler_or_toolkit():
    with tempfile.TemporaryDirectory() as made:
        home, house = pathlib.Path(made) / "cuda", pathlib.Path(made) / "house"
        for file in ("include/cuda.h", "bin/nvcc"):
            (home / file).parent.mkdir(parents=True)
        (home / "include/cuda.h").write_text("#define CUDA_VERSION 12040\n")
        (home / "bin/nvcc").write_text("#!/bin/sh\necho compute_75\n")
        (home / "bin/nvcc").chmod(0o755)
        for folder in ("common", "build"):
            (house / folder).mkdir(parents=True)
        shutil.copy(texts.course.ROOT / "common/setup.sh", house / "common/setup.sh")
        ours = subprocess.run(["python3", "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=True).stdout.strip()
        for python, kept in (ours if "/shims/" in shutil.which("python3") else shutil.which("python3"), "TORCH := 2.13"), ("/another/python3", "TORCH := "):
            (house / "build/setup.mk").write_text(f"KEY := {python} another compiler\nTORCH := 2.13\n")
            subprocess.run([house / "common/setup.sh"], env=dict(os.environ, CUDA_HOME=str(home), CXX="g++"), check=True)
            assert kept in (house / "build/setup.mk").read_text().splitlines(), kept


def a_version_for_a_private_toolkit_is_said_to_be_none_for_the_one_that_is_here():
    with tempfile.TemporaryDirectory() as made:
        home, house = pathlib.Path(made) / "cuda", pathlib.Path(made) / "house"
        (home / "include").mkdir(parents=True)
        (home / "include/cuda.h").write_text("#define CUDA_VERSION 12040\n")
        (house / "common").mkdir(parents=True)
        shutil.copy(texts.course.ROOT / "common/setup.sh", house / "common/setup.sh")
        for version, told in {"13.0": f"Note: the toolkit in {home}, CUDA 12.4, is used", "12.4": "", "": ""}.items():
            variables = dict(os.environ, CUDA_HOME=str(home), CXX="g++", TOOLKIT_VERSION=version)
            ended = subprocess.run([house / "common/setup.sh"], env=variables, capture_output=True, text=True, check=True)
            assert ended.stderr[: len(told) or None] == told, (version, ended.stderr)


def a_dry_run_says_what_would_be_built_again_and_writes_nothing():
    kept = lambda: {file: file.read_text() for file in [*(texts.course.ROOT / "build").glob("flags.*"), texts.course.ROOT / "build/setup.mk"]}
    before = kept()
    ended = make("-n", "02-context/03-stack", "CXXFLAGS=-DNEW", "CUDA_HOME=/no/where")
    assert ended.returncode == 0 and "-DNEW -MMD" in ended.stdout and kept() == before, ended.stderr


def a_toolkit_may_lie_where_make_and_the_shell_read_something_else():
    for folder in ("tool kit", "a $b #c", "$HOME/o'clock"):
        paths = [f"/{folder}/bin/nvcc", f"/{folder}/include"]
        by_make, by_us, why_not = set_up(folder, "echo compute_75\n")
        assert by_make == paths and by_us == paths and why_not == "None", (folder, by_make, by_us, why_not)


def no_function_of_make_has_a_comment_in_it_for_an_older_make():
    """GNU make 4.2 ends the line at a # wherever it stands; 4.3 and later know better."""
    for rules in [course.ROOT / "Makefile", course.ROOT / "common" / "folder.mk", *course.ROOT.glob("*/*/lesson.mk")]:
        for line in rules.read_text(encoding="utf-8").splitlines():
            assert line.startswith(("#", "\t")) or not re.search(r"\$\([^#]*[^\\#]#", line), (rules, line)


def no_two_lessons_set_the_same_variable_of_make():
    """Their lesson.mk are all read by one make: the later one's value would be the earlier one's, too."""
    set_in = {}
    for rules in sorted(course.ROOT.glob("*/*/lesson.mk")):
        for name in set(re.findall(r"^(\w+) *:?=", rules.read_text(encoding="utf-8"), re.MULTILINE)):
            set_in.setdefault(name, []).append(rules.parent.name)
    assert set_in and not {name: lessons for name, lessons in set_in.items() if len(lessons) > 1}, set_in


def what_needs_a_whole_nvcc_is_told_apart_where_nvrtc_takes_its_place():
    nvcc = 'case $1 in --version) echo "NVRTC in the place of nvcc, release 12.4" ;; *) echo compute_75 ;; esac\n'
    *_, why_not = set_up("cuda", nvcc)
    assert "have no nvcc. Type: make run TOOLKIT_VERSION=" in why_not and "the toolkit of CUDA 12.4" in why_not, why_not


def a_kept_text_is_the_same_whatever_its_length():
    rule = next(line for line in (course.ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if line.startswith("kept_text = "))
    lengths = range(180, 920)
    with tempfile.TemporaryDirectory() as folder:
        for length in lengths:
            pathlib.Path(folder, f"{length}").write_text(length * "a" + "\n", encoding="utf-8")
        lines = [rule, *(f"text.{n} := {n * 'a'}" for n in lengths)]
        lines += ["define compared", "ifneq ($$(call kept_text,$1),$$(text.$1))", "$$(info $1)", "endif", "endef"]  # as the Makefile does it
        lines += [f"$(foreach n,{' '.join(map(str, lengths))},$(eval $(call compared,$n)))", "all: ;"]
        made = subprocess.run(["make", "-s", "-f", "-"], input="\n".join(lines), cwd=folder, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True)
    assert made.stdout + made.stderr == "", made.stdout + made.stderr


def a_bench_that_measured_nothing_keeps_what_is_kept():
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(bench, "RESULTS", pathlib.Path(folder)):
        kept = pathlib.Path(folder, "results.json")
        kept.write_text("figures", encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert bench.main(["01-driver-init/01-hello-driver"]) == 0
        assert "nothing was measured" in shown.getvalue() and kept.read_text(encoding="utf-8") == "figures", shown.getvalue()


LINKER = """/usr/bin/ld: build/tests/a.o: in function `one()':
a.cpp:(.text+0x7): undefined reference to `run_in(CUctx_st*)'
/usr/bin/ld: a.cpp:(.text+0x9): undefined reference to `run_in(CUctx_st*)'
collect2: error: ld returned 1 exit status"""


def a_function_that_the_exercise_does_not_define_is_named_in_a_line():
    assert check.condensed(LINKER, "exercise.cpp") == "exercise.cpp does not define run_in(CUctx_st*)"
    assert check.condensed("exercise.cpp:7:1: error: expected ';'", "exercise.cpp") == "exercise.cpp:7:1: error: expected ';'"
    of_the_driver = LINKER.replace("run_in(CUctx_st*)", "cuFoo")
    assert check.condensed(of_the_driver, "exercise.cpp") == of_the_driver


def of_a_compiler_that_says_thousands_of_lines_the_first_are_shown():
    said = check.condensed("\n".join(f"exercise.cpp:{n}:1: error: stray" for n in range(3000)), "exercise.cpp").splitlines()
    assert said[0] == "exercise.cpp:0:1: error: stray" and said[-1] == "… and 2960 lines more" and len(said) == 41, said
    assert len(check.condensed("exercise.cpp:1:1: error: " + "x" * 9999, "exercise.cpp")) < 300


def a_page_is_no_wider_than_its_terminal():
    assert walk.page(200, 60) == walk.page(100, 24) == walk.page(0, 0) == (98, 21)
    assert walk.page(40, 12) == (38, 9) and walk.page(3, 2) == (20, 5)
    with mock.patch.object(walk, "WIDTH", 38):
        lines = walk.rendered("A sentence of several words, and `some code` in it, that goes on and on.\n\n| a call | what it does there |\n| --- | --- |\n| `cuInit` | something |\n")
    assert len(lines) > 3 and all(len(line.replace("`", "")) <= 38 for line in lines), lines


def a_walk_shows_what_stands_in_a_tables_third_column_under_its_name():
    lines = walk.rendered("| flag | what it does | for whom |\n| --- | --- | --- |\n| `a` | waits | servers |\n| `b` | leaves it | |\n")
    assert [line.replace("`", "").rstrip() for line in lines] == ["  flag  what it does", "  a     waits", "        for whom: servers", "  b     leaves it"], lines


def a_walk_on_the_simulator_shows_what_an_h200_has_measured():
    measured = "<!-- varies: NVIDIA H200 | measured -->\n```console\n$ make 01-a/01-b\nNVIDIA H200\n1.5 ms\n```\n"
    assert walk.recorded(measured)[-2:] == ["NVIDIA H200", "1.5 ms"]
    elsewhere = measured.replace("NVIDIA H200 | ", "")
    assert walk.recorded(elsewhere) == walk.recorded("nothing is shown") == []
    assert walk.recorded("<!-- recorded: NVIDIA H200 -->\n" + elsewhere) == walk.recorded(measured)


WAITS = """import time, walk
time.sleep(0.5)  # somebody is impatient
screen = walk.Screen()
print("ready", flush=True)
try:
    screen.wait("run it")
    print("went on")
except walk.Leave:
    print("left")
"""


def a_walk_takes_what_was_typed_before_it_began_for_no_answer():
    try:
        process, terminal = pty.fork()
    except OSError as refused:  # a chroot without /dev/pts
        raise unittest.SkipTest(str(refused)) from None
    if process == 0:
        os.environ["PYTHONPATH"] = str(texts.course.ROOT / "common")
        os.execvp("python3", ["python3", "-c", WAITS])
    os.write(terminal, b"q\n")
    shown = b""
    with contextlib.suppress(OSError):  # the end
        while some := os.read(terminal, 4096):
            asked, shown = b"leave]" in shown, shown + some
            if not asked and b"leave]" in shown:
                os.write(terminal, b"\n")
    os.close(terminal)
    os.waitpid(process, 0)
    assert b"went on" in shown, shown


def running_lessons(folder="common"):
    """common/run.py, or tests/run.py: two of one name."""
    spec = importlib.util.spec_from_file_location("running", texts.course.ROOT / folder / "run.py")
    running = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(running)
    return running


def a_lesson_that_fails_may_have_been_broken_on_purpose():
    running = running_lessons()
    device = texts.course.Device("simulator", "", "", dict(os.environ))
    with mock.patch.multiple(texts.course, choose_device=lambda: device, program=lambda _: ["false"], why_not=lambda _: None):
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert running.main(["02-context/03-stack"]) == 1
    *_, failed, last = shown.getvalue().splitlines()
    assert failed == "FAILED: 02-context/03-stack ended with status 1" and last.startswith("If you broke it on purpose, all is well; if not,"), shown.getvalue()


def a_program_that_is_edited_is_named_beside_what_failed_of_it():
    testing = running_lessons("tests")
    with tempfile.TemporaryDirectory() as folder:
        alone = {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for name in ("main.cpp", "kernels.cu"):
            pathlib.Path(folder, name).write_text("// as committed\n", encoding="utf-8")
        with mock.patch.dict(os.environ, alone):
            for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "as committed"]):
                subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
            assert testing.edited_files(pathlib.Path(folder)) == []
            pathlib.Path(folder, "main.cpp").write_text("// edited\n", encoding="utf-8")
            assert testing.edited_files(pathlib.Path(folder)) == ["main.cpp"]
    count = testing.Count()
    count.edited = {"02-context/03-stack": ["main.cpp"], "02-context/04-ownership": ["main.cpp"]}
    count.fail("02-context/03-stack/README.md:19", "another output")
    count.fail("02-context/03-stack/README.md:29", "another output")
    count.skip("02-context/04-ownership", "no nvcc")
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        count.group("texts")
        count.group("the next one")
    assert shown.getvalue().count("is edited here") == 1 and "Note: main.cpp of 02-context/03-stack is edited" in shown.getvalue(), shown.getvalue()


def what_failed_or_was_skipped_is_named_beside_its_count():
    running = running_lessons()
    skipped = {"05-extension/08-libraries": "no library", "05-extension/10-packaging": "no pip"}
    device = texts.course.Device("simulator", "", "", dict(os.environ))
    told = lambda lesson: ["false"] if lesson == "02-context/03-stack" else ["true"]
    with mock.patch.multiple(texts.course, choose_device=lambda: device, program=told, why_not=skipped.get):
        for lessons, last in (
            (["01-driver-init/01-hello-driver", "02-context/03-stack", *skipped], "1 lessons ended well, 1 failed (02-03), 2 skipped (05-08, 05-10)"),
            (["01-driver-init/01-hello-driver", "01-driver-init/02-version"], "2 lessons ended well, 0 failed, 0 skipped"),
        ):
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                running.main(lessons)
            assert shown.getvalue().splitlines()[-1] == last, shown.getvalue()


def a_walk_says_that_a_lesson_has_no_text():
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        walk.teach(walk.Screen(), "02-context/99-gone", None, None)
    assert "02-context/99-gone has no README.md: is the file gone?" in shown.getvalue(), shown.getvalue()


def a_picture_is_refused_for_what_nobody_would_see_in_it():
    style = "<style>text { font: 10px monospace } .end { text-anchor: end }</style>"
    drawn = lambda inside: f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50">{style}{inside}</svg>'
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "picture.svg"

        def problems(inside):
            file.write_text(drawn(inside), encoding="utf-8")
            return pictures.problems(file)

        assert problems('<text x="0" y="20">fifteen letters</text><path id="p" d="M0 0H9"/><use href="#p"/>') == []
        assert problems('<text x="20" y="20">fifteen letters</text>') == ["this text leaves the picture: fifteen letters"]
        assert problems('<g transform="translate(60 0)"><text class="end" x="0" y="20">fifteen letters</text></g>') != []
        assert problems('<text x="0" y="50">low</text>') != []
        assert problems('<title id="t">T</title><g id="t"/>') == ["two elements have the id t"]
        assert problems('<use href="#gone"/>') == ["nothing has the id gone"]
        assert "only the last piece" in problems('<path d="M0 0H9M0 9H9" marker-end="url(#tip)"/><marker id="tip"/>')[0]
        assert "is no SVG" in problems("<g>")[0]


def a_lesson_of_too_many_words_is_refused():
    lesson = pathlib.Path("/course/02-context/03-stack/README.md")
    said = "[one](two/README.md) <!-- three --> `four` | - ![five](six.svg)\n\n```text\nseven\n```\n"
    with mock.patch.object(texts, "WORDS", 2), mock.patch.object(texts, "WORDS_OF_A_LADDER", 3):
        assert texts.too_long(lesson, said) == []
        assert texts.too_long(lesson, said + "and more") == ["4 words of prose: at most 2 are read"]
        assert texts.too_long(lesson, said + "and more\n<!-- varies: measured -->\n```console\n```\n") == ["4 words of prose: at most 3 are read"]
        assert texts.too_long(lesson.parents[1] / "README.md", said + "and more") == []


def tables_and_folded_parts_are_no_prose():
    lesson = pathlib.Path("/course/02-context/03-stack/README.md")
    with mock.patch.object(texts, "WORDS", 2):
        assert texts.too_long(lesson, "one two\n\n| three | four |\n\n<details><summary>Hint</summary>\n\nfive\n</details>\n") == []


A_LESSON = """# 02-03 The stack

**Which context is current?**

The top one.

## Predict

## The code

```cpp
{code}
```

## Run

## What happened

## Break it

## Exercise

**References.** None.

> **For the teacher.** 5 minutes.
"""


@contextlib.contextmanager
def a_lesson_beside(source):
    """The path of a lesson's text in a course of its own, whose main.cpp is `source`."""
    with tempfile.TemporaryDirectory() as folder:
        lesson = pathlib.Path(folder) / "02-context" / "03-stack"
        lesson.mkdir(parents=True)
        (pathlib.Path(folder) / "common").mkdir()
        (lesson / "main.cpp").write_text(source, encoding="utf-8")
        with mock.patch.object(course, "ROOT", pathlib.Path(folder)):
            yield lesson / "README.md"


def quoted_code_is_equal_to_the_file_but_for_its_indentation():
    with a_lesson_beside("int main() {\n  if (a) {\n    b();\n  }\n}\n") as readme:
        assert texts.misquoted(readme, A_LESSON.format(code="if (a) {\n  b();\n}")) == []
        assert "line 11" in texts.misquoted(readme, A_LESSON.format(code="if (a) {\n  c();\n}"))[0]
        assert texts.misquoted(readme, A_LESSON.format(code="if (a) {\n}")) != []  # a line was left out


def the_answer_to_an_exercise_is_not_quoted():
    with a_lesson_beside("") as readme:
        (readme.parent / "solution.cpp").write_text("answer();\n", encoding="utf-8")
        assert texts.misquoted(readme, A_LESSON.format(code="answer();")) != []


def a_lesson_has_its_sections_in_order():
    with a_lesson_beside("") as readme:
        assert texts.misshapen(readme, A_LESSON) == []
        assert "its sections are" in texts.misshapen(readme, A_LESSON.replace("## Run\n", ""))[0]
        assert texts.misshapen(readme, A_LESSON.replace("**Which context is current?**", "Contexts.")) == [
            "below the title, it does not begin with a question in bold"
        ]
        assert texts.misshapen(readme, A_LESSON.replace("**References.**", "See")) == [
            "it has no paragraph that begins with **References.**"
        ]


def a_bold_term_links_to_the_glossary():
    with a_lesson_beside("") as readme:
        assert texts.unknown_terms(readme, A_LESSON + "**A lead-in.** A [**term**](../../common/glossary.md#term).\n") == []
        assert texts.unknown_terms(readme, A_LESSON + "A **term**.\n") == ["the bold term term does not link to common/glossary.md"]


def the_glossary_is_in_order_and_names_lessons():
    with a_lesson_beside("") as readme:
        glossary = course.ROOT / texts.GLOSSARY
        entry = "### {}\n\nA thing. Introduced in [02-03](../02-context/03-stack/README.md).\n\n"
        assert texts.disordered_glossary(glossary, entry.format("b") + entry.format("c")) == []
        assert texts.disordered_glossary(glossary, entry.format("c") + entry.format("b")) == ["b comes after c"]
        assert texts.disordered_glossary(glossary, "### a\n\nA thing.\n") == ["a names no lesson"]


def a_part_beside_a_target_is_known():
    said = "`make walk 02-context` `make check 03-stack` `make walk 02-contexts`"
    path = course.ROOT / "02-context" / "README.md"
    known = {"walk", "check", "02-context", "02-context/03-stack"}
    assert texts.broken_targets(path, said, known) == ["make has no target 02-contexts"]


def a_lesson_env_sets_what_is_not_set_already():
    lesson = "02-context/11-two-devices"
    asked = lambda environment: course.Device("simulator", "", "", environment).environment_for(lesson)
    assert asked({"HOME": "/"}) == {"HOME": "/", "CUDASIM_DEVICES": "2", "CUDASIM_QUIET": "1"}
    assert asked({"CUDASIM_DEVICES": "3", "CUDASIM_QUIET": ""}) == {"CUDASIM_DEVICES": "3", "CUDASIM_QUIET": ""}
    assert course.settings("02-context/03-stack") == {}


ASKS_FOR_A_TABLE = """import ctypes, sys
driver, table = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
driver.cuInit(0)
for _ in range(2):
    driver.cuGetExportTable(ctypes.byref(table), bytes(16))
"""


def what_the_runtime_library_lacks_is_told_once_and_not_where_it_is_known():
    def said(quiet):
        command = ["python3", "-c", ASKS_FOR_A_TABLE, str(texts.course.SIMULATOR / "libcuda.so.1")]
        return subprocess.run(command, env=dict(os.environ, CUDASIM_QUIET=quiet), check=True, capture_output=True, text=True).stderr

    assert said("").count("the CUDA runtime library") == 1 and said("1") == "", (said(""), said("1"))


def the_readme_builds_a_program_of_your_own_as_it_says():
    """All lines but `make simulator`, pasted into a shell that knows nothing, beside a program and its kernels."""
    blocks = text.blocks((course.ROOT / "README.md").read_text(encoding="utf-8"))
    (pasted,) = [block.lines for block in blocks if block.lines[0] == "make simulator"]
    lesson = "04-kernels/03-vector-add"
    if course.why_not(lesson) or not shutil.which("g++"):
        return
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        for name in ("build", "common"):
            (here / name).symlink_to(course.ROOT / name)
        shutil.copy(course.ROOT / lesson / "kernels.cu", here)
        shutil.copy(course.ROOT / lesson / "main.cpp", here / "program.cpp")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "LD_"))}
        ran = subprocess.run(["bash", "-e", "-c", "\n".join(pasted[1:])], cwd=here, env=ours, capture_output=True, text=True)
        assert ran.returncode == 0 and ran.stdout.count("1000 of 1000") == 6, ran.stdout + ran.stderr


def all_tests():
    """{name as a sentence: function}"""
    own = {name: thing for name, thing in globals().items() if callable(thing) and name not in ("cases_of_program", "make", "refuses", "set_up", "running_lessons", "all_tests", "a_lesson_beside")}
    return {name.replace("_", " "): thing for name, thing in own.items()}
