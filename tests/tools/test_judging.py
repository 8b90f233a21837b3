"""Tests of what judges answers: the reading of Catch2's and pytest's reports, and of what finds faults in kernels."""

import contextlib
import io
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import time
from unittest import mock

import pytest

from course import ROOT, cases, check, complaints, faults, lessons, possible, verdict
from course.cases import Case
from course.device import Device
from course.interpreter import python
from course.lessons import Answer, every
from course.places import Place
from course.process import run_limited
from course.test import everything, preloaded, sanitize
from course.verdict import How, Kind, Verdict

SIMULATED = Device("simulator", "", "", {})
SIMULATOR_SAID = """cudasim: something else
========= simulated GPU: illegal address
  kernel   guilty
  at       kernels.cu:16 (line 64 of the PTX)
========= simulated GPU: not released
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


def test_what_looks_for_mistakes_in_kernels_is_read():
    found = faults.of_simulator(SIMULATOR_SAID)
    assert found == ["illegal address, kernels.cu:16 (line 64 of the PTX)", "not released, the context was destroyed"]
    found = faults.of_compute_sanitizer(COMPUTE_SANITIZER_SAID)
    assert found == ["Invalid __global__ write of size 4 bytes, at guilty(int *)+0x90 in kernels.cu:16"]


def test_only_what_is_intended_may_be_found_and_it_must_be():
    assert faults.judge_findings([], [], []) == []
    assert faults.judge_findings(["a race"], [], ["a race"]) == ["unexpected: a race"]
    assert faults.judge_findings(["a leak of 4"], ["a leak"], ["a leak of 4"]) == []
    assert faults.judge_findings([], ["a leak"], ["a leak of 4"]) == []  # another tool has
    assert faults.judge_findings([], ["a leak"], []) == ["missing: a leak"]


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


def test_the_stack_of_a_crash_is_taken_out_of_what_was_said():
    stack = "before\nframes:\n/x/check(+0x12) [0x55]\n/lib/libc.so.6(+0x3c050) [0x7f]\n/x/check(main+0x1) [0x56]\nafter"
    assert cases.without_frames(stack, "/x/check") == ("before\nafter", None)
    assert cases.without_frames("no frames: here", "/x/check") == ("no frames: here", None)


def cases_of_program(**environment):
    """{name: case} of PROGRAM, which may end with another STATUS and may have SAID something else."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return {case.name: case for case in cases.run_cases(program, {**os.environ, **environment})}


def test_a_case_that_ends_the_program_fails_and_the_others_still_run():
    found = cases_of_program()
    assert found["fails"].failure == "a.cpp:7: CHECK( a == b ) was 1 == 2"
    assert found["ends, the program"].failure == "the program ended with status 3 during this test case\nthe call failed"
    assert found["is skipped"].failure is None and found["is skipped"].skipped == "no second device"


def test_a_program_that_ends_itself_by_a_macro_is_told_of_the_other():
    ended = cases_of_program(STATUS="1", SAID="a.cpp:7: cuInit(0) -> CUDA_ERROR_NO_DEVICE: none")
    assert "status 1 during this test case, as CU_CHECK does; CU_THROW throws an exception instead\na.cpp:7: cuInit" in ended["ends, the program"].failure


def test_a_case_that_rejects_is_enough():
    with tempfile.TemporaryDirectory() as folder:
        program, asked = pathlib.Path(folder) / "check", pathlib.Path(folder) / "asked"
        program.write_text(PROGRAM.replace("\n", f'\necho "$*" >> {asked}\n', 1), encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        for until, last in ((cases.ANY, "--abort"), ("fails", '"fails"'), ("ends, the program", '"ends\\, the program"')):
            asked.write_text("", encoding="utf-8")
            found = {case.name: case for case in cases.run_cases(program, dict(os.environ), until=until)}
            assert until == cases.ANY or found[until].failure, found
            (once,) = asked.read_text(encoding="utf-8").splitlines()
            assert once.endswith(" " + last), once
        # Where that one does not reject, all are run.
        program.write_text(
            f'#!/bin/sh\necho >> {asked}\necho \'<Catch><TestCase name="p"><OverallResult success="true"/></TestCase></Catch>\' > $4\n', encoding="utf-8"
        )
        asked.write_text("", encoding="utf-8")
        assert [case.failure for case in cases.run_cases(program, dict(os.environ), until="p")] == [None]
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


def test_a_check_shares_the_gpu_unless_it_compares_free_memory_itself():
    program_only, check_too = every()["04-kernels/31-attention"], every()["03-memory/13-leaks"]
    assert program_only.looks_at_free_memory and not program_only.check_looks_at_free_memory
    assert check_too.looks_at_free_memory and check_too.check_looks_at_free_memory
    assert [everything.is_alone(check_too, number) for number in (0, 1)] == [True, True]
    assert [everything.is_alone(program_only, number) for number in (0, 1)] == [True, False]  # the solution's speed is measured
    assert not everything.is_alone(every()["04-kernels/08-warps"], 0)


def test_cases_run_side_by_side_but_for_those_that_must_be_alone():
    with tempfile.TemporaryDirectory() as folder:
        program, asked = pathlib.Path(folder) / "check", pathlib.Path(folder) / "asked"
        program.write_text(LISTING, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        found = {case.name: case for case in cases.run_side_by_side(program, dict(os.environ), folder, 9, 3)}
        told = asked.read_text(encoding="utf-8").splitlines()
    assert list(found) == ["a", "b", "ends", "memory, free"], list(found)
    assert [name for name, case in found.items() if case.failure] == ["ends"], found["ends"].failure
    assert "ended with status 3" in found["ends"].failure
    assert told[-2:] == ['begin "memory\\, free"', 'end "memory\\, free"'] and not told[2].startswith("end"), told


def test_a_program_that_ends_badly_after_its_last_case_fails():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(PROGRAM.replace('success="false"', 'success="true"') + "echo 'leaked' >&2; exit 23\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        *_, last = cases.run_cases(program, dict(os.environ))
    assert last.name == "the test program exits normally" and last.failure.startswith("all cases passed, then it ended with status 23\n"), last.failure
    assert last.failure.endswith("leaked"), last.failure


def test_an_exercise_that_is_being_worked_on_is_not_the_courses():
    with tempfile.TemporaryDirectory() as folder:
        exercise = pathlib.Path(folder) / "exercise.cpp"
        exercise.write_text("// Your code here.\n", encoding="utf-8")
        alone = {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        with mock.patch.dict(os.environ, STRICT="", **alone):
            assert lessons.is_edited(exercise) is None and not lessons.is_learners(exercise)  # no repository
            with mock.patch.dict(os.environ, PATH=folder):
                assert lessons.is_edited(exercise) is None  # no git
            for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "as committed"]):
                subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
            assert lessons.is_edited(exercise) is False and not lessons.is_learners(exercise)
            exercise.write_text("int half = \n", encoding="utf-8")
            assert lessons.is_edited(exercise) and lessons.is_learners(exercise)
        with mock.patch.dict(os.environ, STRICT="yes"):
            assert not lessons.is_learners(exercise)


def test_a_place_is_named_from_the_root():
    xml = f'<Expression type="CHECK" filename="{ROOT}/tests/02-context/03-current.cpp" line="43"><Original>a</Original></Expression>'
    assert cases._sentence(cases.ElementTree.fromstring(xml)).startswith("tests/02-context/03-current.cpp:43: CHECK( a )")


def test_a_comparison_stands_on_one_line():
    xml = '<Expression filename="a.cpp" line="7"><Original>a == b</Original><Expanded>\n"long"\n==\n"longer"\n</Expanded></Expression>'
    assert cases._sentence(cases.ElementTree.fromstring(xml)) == 'a.cpp:7: CHECK( a == b ) was "long" == "longer"'


def test_a_handle_is_shown_without_its_zeros():
    xml = '<Expression filename="a.cpp" line="7"><Original>a</Original><Expanded>{ 0x00003c0000000080, 0x0 }\n==\n{  }</Expanded></Expression>'
    assert cases._sentence(cases.ElementTree.fromstring(xml)) == "a.cpp:7: CHECK( a ) was { 0x3c0000000080, 0x0 } == {  }"


def test_a_crash_is_said_to_be_below_the_line_that_catch2_saw_last():
    xml = '<FatalErrorCondition filename="tests/a.cpp" line="7">SIGSEGV</FatalErrorCondition>'
    assert cases._sentence(cases.ElementTree.fromstring(xml)) == "after tests/a.cpp:7: SIGSEGV, in your code or below it"


def test_where_nothing_was_thrown_that_is_said():
    xml = '<Expression type="{}" filename="a.cpp" line="7"><Original>f(), int</Original><Expanded>f(), int</Expanded>{}</Expression>'
    said = lambda kind, thrown="": cases._sentence(cases.ElementTree.fromstring(xml.format(kind, thrown)))
    assert said("CHECK_THROWS_AS") == "a.cpp:7: CHECK_THROWS_AS( f(), int ), and nothing was thrown"
    assert said("CHECK_THROWS_AS", "<Exception>no</Exception>") == "a.cpp:7: CHECK_THROWS_AS( f(), int ) threw: no"
    assert said("CHECK") == "a.cpp:7: CHECK( f(), int )"


def test_what_was_to_be_false_is_shown_as_it_was_asked():
    for original, expanded in ("!(done)", "!true"), ("!(done)", "!(true)"):
        xml = f'<Expression type="CHECK_FALSE" filename="a.cpp" line="7"><Original>{original}</Original><Expanded>{expanded}</Expanded></Expression>'
        assert cases._sentence(cases.ElementTree.fromstring(xml)) == "a.cpp:7: CHECK_FALSE( done ) was true"


# What Catch2 writes of an expression that crashes, and of one that throws.
WITHIN = """<Catch><Group><TestCase name="a"><Expression success="false" type="CHECK" filename="a.cpp" line="7"><Original>f()</Original><Expanded>f()</Expanded>
<Exception filename="a.cpp" line="7">no</Exception></Expression><Expression success="false" type="CHECK" filename="a.cpp" line="8"><Original>g()</Original>
<Expanded>g()</Expanded><FatalErrorCondition filename="a.cpp" line="8">SIGSEGV</FatalErrorCondition></Expression><Exception filename="a.cpp" line="9">nor</Exception>
<OverallResult success="false"/></TestCase></Group></Catch>"""


def test_a_crash_or_an_exception_within_an_expression_is_told_once():
    with tempfile.NamedTemporaryFile("w") as report:
        report.write(WITHIN)
        report.flush()
        (case,) = cases._read(report.name)
    assert case.failure.splitlines() == ["a.cpp:7: CHECK( f() ) threw: no", "after a.cpp:8: SIGSEGV, in your code or below it", "a.cpp:9: nor"]


def test_a_kernel_without_c_linkage_is_recognised_by_its_name():
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "exercise.ptx"
        said = lambda failure: complaints.missing_c_linkage(ptx, failure)
        assert said("-> CUDA_ERROR_NOT_FOUND") is None
        ptx.write_text(".visible .entry _Z5saxpyifPKfPf(\n", encoding="utf-8")
        assert said("-> CUDA_ERROR_NOT_FOUND") == 'exercise.ptx has no function saxpy; it has _Z5saxpyifPKfPf: is extern "C" missing?'
        assert said("a.cpp:7: CHECK( y == 1 ) was 0 == 1") is None
        ptx.write_text(".visible .entry saxpy(\n", encoding="utf-8")
        assert said("-> CUDA_ERROR_NOT_FOUND") is None


def shown(*failing):
    """What make check prints below the lesson's name."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        check.show(every()["02-context/03-current"], Verdict(Kind.FAILED, cases=failing), True)
    return out.getvalue().splitlines()[1:]


def test_what_several_cases_fail_of_is_told_once():
    lines = shown(Case("one", "no function"), Case("two", "another"), Case("three", "no function"))
    assert lines == ["   - one", "   - three", "      no function", "   - two", "      another"], lines


def test_a_crash_in_every_case_is_told_once():
    first, second = (f"after a b.cpp:{line}: SIGSEGV, in your code or below it\nthe program was killed" for line in (7, 9))
    lines = shown(Case("one", first), Case("two", second), Case("three", "a b.cpp:8: CHECK( done )\n" + second))
    assert lines[:4] == ["   - one", "   - two"] + ["      " + line for line in first.splitlines()], lines
    assert len([line for line in lines if line.startswith("   - ")]) == 3 and "      a b.cpp:8: CHECK( done )" in lines


def test_every_kind_of_verdict_is_shown_by_make_check():
    for kind in Kind:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            check.show(every()["02-context/03-current"], Verdict(kind, "why", "said", (Case("a case", "m"),)), True)
        assert out.getvalue().startswith("02-context/03-current   ") and out.getvalue().count("\n") >= 1, kind


def test_a_verdict_is_the_same_after_it_was_written_and_read():
    found = Verdict(
        Kind.FAILED, "why", "said", (Case("one"), Case("two", "m"), Case("three", None, "s")), 2, Place("exercise.cpp", 7, "x();", 3), "a device", 1.5, 2.5
    )
    assert Verdict.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert [case.name for case in found.failing] == ["two"] and found.passed == ["one", "three"] and not found.is_solved


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        (None, Kind.MISSING, "exercise.cpp is missing."),
        (b" \n", Kind.EMPTY, "exercise.cpp is empty."),
        (b"int\0", Kind.UNREADABLE, "exercise.cpp could not be read: it contains zero bytes, so it is not a text file."),
        (
            b"a\n<<<<<<< HEAD\n=======\n>>>>>>> theirs\n",
            Kind.CONFLICT,
            "exercise.cpp:2 begins a merge conflict: git pull changed lines that you had changed, too.",
        ),
    ],
    ids=["missing", "empty", "zero bytes", "conflict"],
)
def test_a_file_that_cannot_be_judged_is_not_built(tmp_path, content, kind, sentence):
    answer = Answer(every()["02-context/03-current"], "exercise", tmp_path / "exercise.cpp")
    if content is not None:
        answer.source.write_bytes(content)
    found = verdict.judge(answer, How(SIMULATED), lambda: pytest.fail("it was built"))
    assert found.kind == kind and found.sentence("exercise.cpp") == sentence


def test_what_a_compiler_says_is_a_verdict_with_a_place(tmp_path):
    answer = Answer(every()["02-context/03-current"], "exercise", tmp_path / "exercise.cpp")
    answer.source.write_text("int a;\n  int b\n", encoding="utf-8")
    with mock.patch.object(possible, "why_not", lambda *_, **__: None):
        found = verdict.judge(answer, How(SIMULATED), lambda: "x/exercise.cpp:2:8: error: expected ';'\nmore")
    assert (found.kind, found.why, found.place) == (Kind.COMPILE, "expected ';'", Place("exercise.cpp", 2, "int b", 6))


def test_what_the_simulators_checks_find_in_a_right_answer_is_no_solution(tmp_path):
    found = "".join(
        f"========= simulated GPU: {what}\n  at       {where}\n"
        for what, where in (("a race", "exercise.cu:7"), ("not released", "4 bytes"), ("a race", "exercise.cu:7"))
    )

    def failures(lesson, suffix, kind, wish, came=None):
        answer = Answer(every()[lesson], "exercise", tmp_path / f"exercise{suffix}")
        with mock.patch.object(cases, "run_cases", lambda *_, **__: [Case("one", came)]), mock.patch.dict(os.environ, CUDASIM_CHECK=wish):
            with mock.patch.object(faults, "run_watched", lambda *_: subprocess.CompletedProcess([], 0, "", found)):
                return {case.name: case.failure for case in verdict.judged_cases(answer, How(Device(kind, "", "", {}))) if case.failure}

    # What is not released is this lesson's subject.
    assert failures("03-memory/13-leaks", ".cpp", "simulator", "all") == {faults.CASE: "a race, exercise.cu:7"}
    assert failures("03-memory/13-leaks", ".cpp", "simulator", "") == failures("03-memory/13-leaks", ".cpp", "gpu", "all") == {}
    assert failures("04-kernels/08-warps", ".cu", "simulator", "") == {faults.CASE: "a race, exercise.cu:7\nnot released, 4 bytes"}
    assert failures("04-kernels/08-warps", ".cu", "simulator", "", "no") == {"one": "no"}
    assert failures("04-kernels/08-warps", ".cu", "gpu", "all") == {}


def test_of_a_race_both_places_are_told_and_the_reason():
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
    assert faults.of_simulator(said) == [
        "data race, exercise.cu:4 and exercise.cu:3: one of them is atomic or volatile, the other is not, and nothing orders them"
    ]


# Stands for a Catch2 binary whose first test case does not end.
ENDLESS = """#!/bin/sh
for word in "$@"; do [ "$last" = -o ] && report=$word; last=$word; done
echo '<Catch><Group><TestCase name="loops">' >"$report"
exec sleep 60
"""


def test_a_case_that_hangs_is_stopped_and_named():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(ENDLESS, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (case,) = cases.run_cases(program, dict(os.environ), limit=1)
    assert case.failure.startswith("still running after 1 s: an infinite loop, or a wait that never ends?")


def test_the_cases_after_a_kernel_that_does_not_end_are_not_tried():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "check"
        program.write_text(PROGRAM.replace("the call failed", "-> CUDA_ERROR_LAUNCH_TIMEOUT"), encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        *_, last = cases.run_cases(program, dict(os.environ))
    assert last.failure == "a kernel does not finish (later test cases were not run)\n-> CUDA_ERROR_LAUNCH_TIMEOUT", last.failure


def test_a_thread_that_nobody_joins_is_called_that():
    ended = cases_of_program(SAID="terminate called without an active exception")
    assert ": was a std::thread not joined?\nterminate called" in ended["ends, the program"].failure


def test_what_a_stopped_program_has_started_is_stopped_too():
    with tempfile.TemporaryDirectory() as folder:
        noted = pathlib.Path(folder) / "process"
        try:
            run_limited(["sh", "-c", f"sleep 60 & echo $! >{noted}; wait"], 1, stdout=subprocess.PIPE)
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


def test_what_came_of_tests_in_python_is_known_when_one_ends_the_program_and_the_others_still_run():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "pytest.py").write_text(PYTEST, encoding="utf-8")
        environment = dict(os.environ, PYTHONPATH=folder)
        found = {case.name: case for case in cases.run_pytest(folder, environment)}
        assert [case.name for case in cases.run_pytest(folder, environment, until="four")] == ["one", "two", "three", "four"]
    assert found["one"].failure is None and found["two"].failure == "first" and found["three"].skipped == "no GPU"
    assert found["four"].failure.startswith("the program was killed by signal 6 (Aborted) during this test case")
    assert list(found) == ["one", "two", "three", "four", "five", "six"]
    assert found["five"].failure == "illegal address" and found["six"].failure is None


def test_an_answer_that_is_no_python_is_said_to_be_none():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "exercise.py"
        source.write_text("def f():\n    return (1\n", encoding="utf-8")
        first, line, caret = complaints.syntax_error(source).splitlines()
        assert first.startswith("exercise.py:2: SyntaxError: ") and line.strip() == "return (1" and caret.strip() == "^", (first, line, caret)
        source.write_text("def f():\n    return 1\n", encoding="utf-8")
        assert complaints.syntax_error(source) is None


def test_an_answer_that_is_nested_too_deeply_does_not_end_the_judge(tmp_path):
    source = tmp_path / "exercise.py"
    for content in ("x = " + "-" * 200_000 + "1\n", "x = " + "(" * 150 + "1" + ")" * 150 + "\n", "x = " + "a." * 200_000 + "a\n"):
        source.write_text(content, encoding="utf-8")
        assert complaints.syntax_error(source) is None or complaints.syntax_error(source).startswith("exercise.py"), content[:20]


def test_a_program_that_does_not_list_its_cases_has_none(tmp_path):
    program = tmp_path / "check"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    with mock.patch.object(cases, "LISTING", 1):
        assert cases.case_names(program, dict(os.environ)) == []


LINKER = """/usr/bin/ld: build/tests/a.o: in function `one()':
a.cpp:(.text+0x7): undefined reference to `run_in(CUctx_st*)'
/usr/bin/ld: a.cpp:(.text+0x9): undefined reference to `run_in(CUctx_st*)'
collect2: error: ld returned 1 exit status"""


def test_a_function_that_the_exercise_does_not_define_is_named_in_a_line():
    assert complaints.condensed(LINKER, "exercise.cpp") == "exercise.cpp does not define run_in(CUctx_st*)"
    assert complaints.condensed("exercise.cpp:7:1: error: expected ';'", "exercise.cpp") == "exercise.cpp:7:1: error: expected ';'"
    of_the_driver = LINKER.replace("run_in(CUctx_st*)", "cuFoo")
    assert complaints.condensed(of_the_driver, "exercise.cpp") == of_the_driver


def test_of_a_compiler_that_says_thousands_of_lines_the_first_are_shown():
    said = complaints.condensed("\n".join(f"exercise.cpp:{n}:1: error: stray" for n in range(3000)), "exercise.cpp").splitlines()
    assert said[0] == "exercise.cpp:0:1: error: stray" and said[-1] == "… and 2960 more lines" and len(said) == 41, said
    assert len(complaints.condensed("exercise.cpp:1:1: error: " + "x" * 9999, "exercise.cpp")) < 300


# ---- programs in a process that has imported what they need --------------------------------------------------------------------

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": ""}


@pytest.fixture(scope="module")
def server():
    with preloaded.Server(ENVIRONMENT, ["decimal", "pytest"]) as server:
        yield server


def run_in(server, tmp_path, source, *words, limit=30, stderr=subprocess.STDOUT, **variables):
    file = tmp_path / "program.py"
    file.write_text(source, encoding="utf-8")
    return server.run([python(), str(file), *words], limit, subprocess.PIPE, stderr, cwd=tmp_path, env={**ENVIRONMENT, **variables})


def test_a_program_finds_what_it_would_find_in_a_process_of_its_own(server, tmp_path):
    (tmp_path / "beside.py").write_text("WORD = 'beside'\n", encoding="utf-8")
    source = "import beside, os, sys\nprint(__name__, __file__, sys.argv[1:], beside.WORD, os.getcwd(), os.environ['OWN'], 'decimal' in sys.modules)\nprint('bad', file=sys.stderr)\nsys.exit(3)\n"
    ended = run_in(server, tmp_path, source, "a", "b c", stderr=subprocess.PIPE, OWN="variable")
    assert ended.stdout == f"__main__ {tmp_path}/program.py ['a', 'b c'] beside {tmp_path} variable True\n"
    assert (ended.stderr, ended.returncode) == ("bad\n", 3)


def test_an_exception_and_a_signal_end_a_program_as_usual(server, tmp_path):
    raised = run_in(server, tmp_path, "print('first')\nraise ValueError('no')\n")
    assert raised.returncode == 1 and "first\n" in raised.stdout
    assert raised.stdout.count("ValueError: no\n") == 1 and "Traceback" in raised.stdout and raised.stderr is None
    assert run_in(server, tmp_path, "import os\nos.abort()\n").returncode == -6


def test_a_program_that_takes_too_long_is_stopped_with_what_it_has_started(server, tmp_path):
    source = "import subprocess\nprint(subprocess.Popen(['sleep', '60']).pid, flush=True)\nwhile True: pass\n"
    with pytest.raises(subprocess.TimeoutExpired) as stopped:
        run_in(server, tmp_path, source, limit=1)
    gone = time.monotonic() + 10
    while has_started(int(stopped.value.output)) and time.monotonic() < gone:
        time.sleep(0.01)
    assert not has_started(int(stopped.value.output))


def has_started(process):
    """Is it there, and not a zombie?"""
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def test_tests_are_judged_in_it_as_in_a_process_of_their_own(server, tmp_path):
    (tmp_path / "test_it.py").write_text("def test_one_is_one():\n    assert 1 == 1\n\n\ndef test_one_is_two():\n    assert 1 == 2\n", encoding="utf-8")
    for run in (server.run, run_limited):
        found = {case.name: case.failure for case in cases.run_pytest(tmp_path, dict(os.environ), run=run)}
        assert found["one is one"] is None and "assert 1 == 2" in found["one is two"], found


def test_the_server_does_without_a_module_that_starts_cuda(tmp_path):
    (tmp_path / "starts_cuda.py").write_text("import ctypes\nctypes.CDLL('libcuda.so.1').cuInit(0)\n", encoding="utf-8")
    environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(ROOT / "build" / "simulator")}
    source = "import ctypes, sys\nprint('decimal' in sys.modules, 'starts_cuda' in sys.modules, ctypes.CDLL('libcuda.so.1').cuInit(0))\n"
    with mock.patch.object(preloaded, "for_python", lambda: {"PYTHONPATH": str(tmp_path)}), preloaded.Server(environment, ["starts_cuda", "decimal"]) as server:
        assert run_in(server, tmp_path, source, LD_LIBRARY_PATH=environment["LD_LIBRARY_PATH"]).stdout == "True False 0\n"


def test_without_the_server_programs_are_started_as_usual(tmp_path):
    with preloaded.Server(ENVIRONMENT, ["decimal"]) as server:
        server.process.kill()
        server.process.wait()
        assert run_in(server, tmp_path, "import sys\nprint('decimal' in sys.modules)\n").stdout == "False\n"


@pytest.mark.parametrize(
    ("words", "judge"),
    [
        (["thread", "common"], "sanitized"),  # a suite, although there is a folder common, too
        (["address,undefined"], "sanitized"),
        (["address,undefined", "02-context"], "host_side"),
        (["valgrind", "02-context"], "host_side"),
        (["checks", "04-kernels"], "kernels"),
    ],
)
def test_a_sanitizer_judges_suites_or_lessons(monkeypatch, words, judge):
    called = []
    monkeypatch.setattr(sanitize, "sanitized", lambda *_: called.append("sanitized"))
    monkeypatch.setattr(sanitize.host_side, "main", lambda *_: called.append("host_side"))
    monkeypatch.setattr(sanitize.kernels, "main", lambda *_: called.append("kernels"))
    sanitize.main(words)
    assert called == [judge]
