"""Tests of make learn, through a terminal as a learner uses it."""

import codecs
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time
import unittest
from unittest import mock

import pytest

from course import ROOT, build, clean, environment, feedback, places, possible, reading
from course.cases import Case
from course.commands import COMMANDS, VARIABLES
from course.lessons import beside, every, lessons
from course.places import Place
from course.verdict import Kind, Verdict
from houses import house

environment.use()
LESSON = "02-context/06-threads"
WRONG = ROOT / "tests" / f"{LESSON}.wrong"
FIRST, SECOND = "the work runs in the caller's context", "the work runs on another thread and has finished when in_worker returns"
PATIENCE = 120  # seconds, on a machine that does much else


def plain(shown):
    """What a terminal shows, without codes for colors and places."""
    return re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])", "", shown)


class Terminal:
    """The trainer in a pseudo-terminal. `frame` is what the screen shows: the last frame that has arrived whole."""

    def __init__(self, folder, *words, columns=80, lines=24, **settings):
        kept = {name: value for name, value in os.environ.items() if name not in (*build.FROM_MAKE, "DEVICE", "CXX", "PYTHONPATH", "NO_COLOR", "STRICT")}
        own = {**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "DEVICE": "simulator", **settings}
        try:
            self.process, self.terminal = pty.fork()
        except OSError as refused:  # a chroot without /dev/pts
            raise unittest.SkipTest(str(refused)) from None
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.chdir(folder)
            os.execvpe("make", ["make", "learn", *words], own)
        self.shown, self.decoder = "", codecs.getincrementaldecoder("utf-8")()

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if ready:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                data = b""
            self.shown += self.decoder.decode(data)
            return bool(data)
        return True

    @property
    def frame(self):
        return plain(self.shown.rpartition("\x1b[J")[0].rpartition("\x1b[H")[2]).replace("\r", "")

    def until(self, *texts, gone=()):
        """Waits until the screen shows all of them, however they are wrapped, and none of what is to be `gone`."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            words = " ".join(self.frame.split())
            if all(text in words for text in texts) and not any(text in words for text in gone):
                return self.frame
            assert self.read(0.2), f"the trainer ended; {texts} did not come:\n{plain(self.shown)[-3000:]}"
        raise AssertionError(f"{texts} did not come:\n{self.frame}")

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def end(self):
        """Waits for the end of make and returns (its status, what was printed after the screen was given back)."""
        end = time.monotonic() + PATIENCE
        while self.read(1):
            assert time.monotonic() < end, f"the trainer does not end:\n{self.frame}"
        _, status = os.waitpid(self.process, 0)
        self.process = None
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status), plain(self.shown.rpartition("\x1b[?1049l")[2])

    def close(self):
        """As a closed window does."""
        if self.process:
            os.close(self.terminal)
            os.waitpid(self.process, 0)
            self.process = None


@pytest.fixture(scope="module")
def folder():
    if why := possible.why_not(every()[LESSON], for_check=True):
        pytest.skip(why)
    with tempfile.TemporaryDirectory() as place:
        yield house(place, LESSON)


@pytest.fixture
def course(folder):
    """The course as it came: nothing solved, nothing edited."""
    shutil.rmtree(folder / ".progress", ignore_errors=True)
    shutil.copy(ROOT / LESSON / "exercise.cpp", folder / LESSON / "exercise.cpp")
    return folder


@pytest.fixture
def open_trainer(course):
    with contextlib.ExitStack() as opened:

        def open_it(*words, **settings):
            terminal = Terminal(course, *words, **settings)
            opened.callback(terminal.close)
            return terminal

        yield open_it


def save(course, source):
    """Saves a solution as careful editors do: a new file takes the old one's place."""
    content = source.read_text(encoding="utf-8") if isinstance(source, pathlib.Path) else source
    new = course / LESSON / "exercise.cpp~"
    new.write_text(content, encoding="utf-8")
    new.replace(course / LESSON / "exercise.cpp")


def kept(course):
    return json.loads((course / ".progress" / "progress.json").read_text(encoding="utf-8"))["lessons"].get(LESSON, {})


# ---- a lesson from its question to its solution --------------------------------------------------------------------------


def test_the_prediction_is_asked_before_the_result_and_both_are_kept(open_trainer, course):
    trainer = open_trainer("02-06")
    frame = trainer.until("My program works until I add a second thread", "Your prediction:")
    assert "CUDA_ERROR_INVALID_CONTEXT" not in frame and "its stack disappears" not in frame, frame
    trainer.type("only the last\x7f\x7f\x7f\x7fthird\r")
    trainer.until("You predicted: only the third", "$ make 02-06", "worker | cuMemAlloc | CUDA_ERROR_INVALID_CONTEXT | none")
    trainer.type("\x1b[F")
    trainer.until("Result", "its stack disappears")
    trainer.type("\r")
    trainer.until('You predicted: "only the third"', "The result: About 2 ms", "is unchanged")
    entry = kept(course)
    assert entry["prediction"] == "only the third" and any("CUDA_ERROR_INVALID_CONTEXT" in line for line in entry["result"]), entry
    trainer.type("q")
    status, last = trainer.end()
    assert status == 0 and "0 of 68 exercises solved. `make learn` continues with 02-06 Threads" in last.replace(str(len(lessons())), "68"), last


def test_a_prediction_for_a_question_that_has_changed_is_not_shown(open_trainer, course):
    (course / ".progress").mkdir()
    entry = {"predicted": "2026-01-01T00:00:00+00:00", "prediction": "none of them", "question": "an older question"}
    (course / ".progress" / "progress.json").write_text(json.dumps({"version": 1, "at": "", "lessons": {LESSON: entry}}), encoding="utf-8")
    trainer = open_trainer("02-06")
    assert "none of them" not in trainer.until("Your prediction:")
    trainer.type("the third\r")
    trainer.until("You predicted: the third")


def test_each_save_shows_the_first_sentence_that_is_not_true_and_its_place(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    trainer.until("is unchanged")
    save(course, WRONG / "never-made-current.cpp")
    frame = trainer.until(f"✗ {FIRST}", "7 more wait for this one", "(1 attempt)")
    assert "the called function: void in_worker(" in " ".join(frame.split()) and SECOND not in frame, frame
    save(course, WRONG / "on-the-calling-thread.cpp")
    trainer.until(f"✓ {FIRST}", f"✗ {SECOND}", "6 more wait", "(2 attempts)")
    save(course, ROOT / LESSON / "solution.cpp")
    trainer.until("Solved.", f"n opens {beside(every()[LESSON], 1).number}", "1 of ")
    assert kept(course)["solved"] and len(kept(course)["attempts"]) == 3
    trainer.type("s")
    trainer.until("One possible solution", "Your file is the same as the solution")
    trainer.type("q")
    save(course, WRONG / "on-the-calling-thread.cpp")  # solved stays solved
    trainer.until(f"✗ {SECOND}", "1 of ")


def test_a_failing_call_is_shown_in_the_learners_file(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    save(
        course,
        '#include "common/cu.hpp"\n#include <functional>\nvoid in_worker(const std::function<void()>&) {\n  CU_THROW(cuCtxSetCurrent((CUcontext)1));\n}\n',
    )
    trainer.until(f"✗ {FIRST}", "exercise.cpp:4 CU_THROW(cuCtxSetCurrent((CUcontext)1));", "CUDA_ERROR_INVALID_CONTEXT")


def test_a_crash_is_shown_in_the_learners_file(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    save(course, "#include <functional>\nstatic void crash(int* p) {\n  *p = 1;\n}\nvoid in_worker(const std::function<void()>&) {\n  crash(nullptr);\n}\n")
    trainer.until(
        f"✗ {FIRST}", "exercise.cpp:3 *p = 1;", "killed by signal 11 (Segmentation fault) during this test case, in exercise.cpp:3", gone=["frames:", "+0x"]
    )
    save(course, "#include <functional>\n#include <thread>\nvoid in_worker(const std::function<void()>& work) {\n  std::thread other(work);\n}\n")
    trainer.until("was a std::thread not joined?", "exercise.cpp:5 }")


def test_the_solution_opens_after_three_attempts_and_hints_come_in_order(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    trainer.until("h hint 1 of 3")
    trainer.type("s")
    trainer.until("The solution opens after 3 attempts that compile; you have made 0")
    trainer.type("h")
    trainer.until("Hint: Which thread", gone=["Hint: How"])
    trainer.type("hh")
    trainer.until("Hint: Which", "Hint: How", "Hint: An exception", gone=["h hint"])
    trainer.type("h")
    trainer.until("There are no more hints")
    for attempts, name in enumerate(("never-made-current", "null-is-set", "set-unchecked"), start=1):
        save(course, WRONG / f"{name}.cpp")
        trainer.until("(1 attempt)" if attempts == 1 else f"({attempts} attempts)")
    trainer.type("s")
    trainer.until("One possible solution", "lines with - are yours", gone=["opens after"])
    trainer.type("\x1b[F")
    assert re.search(r"^ *\+ .*std::async", trainer.until("std::async"), re.MULTILINE)


def test_the_list_leads_to_other_lessons_and_back(open_trainer):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    trainer.until("watching 02-context/06-threads/exercise.cpp")
    trainer.type("l")
    trainer.until("▸ 02-06 Threads", f"0 of {len(lessons(['02-context']))}")
    trainer.type("\x1b[A\r")
    trainer.until("02-05 The primary context", "Your prediction:")
    trainer.type("\x1b")
    trainer.until("watching 02-context/05-primary/exercise.cpp")
    trainer.type("n")
    trainer.until("watching 02-context/06-threads/exercise.cpp")
    trainer.type("t")
    trainer.until("02-context/06-threads/README.md")
    trainer.type("q")
    trainer.type("pp")
    trainer.until("02-04", "Your prediction")


# ---- files that cannot be judged -----------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_judged_gets_a_line_that_helps(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    save(course, "#include <functional>\n\nvoid in_worker(const std::function<void()>& work) { wrk(); }\n")
    frame = trainer.until("does not compile yet", "exercise.cpp:3 void in_worker")
    assert re.search(r"✗ .*wrk", frame), frame
    save(course, "#include <functional>\n")
    trainer.until("✗ exercise.cpp does not define in_worker(")
    save(course, "int a;\n<<<<<<< HEAD\nint b;\n=======\nint c;\n>>>>>>> theirs\n")
    trainer.until("exercise.cpp:2 begins a merge conflict", "delete the lines that begin with <<<<<<<")
    save(course, "")
    trainer.until("exercise.cpp is empty")
    (course / LESSON / "exercise.cpp").write_bytes(b"\0\1\2")
    trainer.until("could not be read: it contains zero bytes")
    (course / LESSON / "exercise.cpp").unlink()
    trainer.until("exercise.cpp is missing")
    assert not kept(course).get("attempts")


def test_an_endless_answer_is_stopped_by_the_next_save(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    save(course, "#include <functional>\nvoid in_worker(const std::function<void()>&) { for (volatile int i = 0;;) i = i + 1; }\n")
    trainer.until("building and judging")
    time.sleep(3)
    save(course, ROOT / LESSON / "solution.cpp")
    trainer.until("Solved.")
    mine = str(course / "build" / "tests" / LESSON)
    running = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if mine.encode() in read_or_nothing(path)]
    assert not running, running


def read_or_nothing(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_reset_restores_the_file_and_keeps_the_learners(open_trainer, course):
    ours, original = WRONG / "null-is-set.cpp", (course / LESSON / "exercise.cpp").read_bytes()
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    trainer.until("watching")
    save(course, ours)
    trainer.until("attempt")
    trainer.type("r")
    trainer.until("Reset 02-context/06-threads/exercise.cpp?")
    trainer.type("x")
    trainer.until("Nothing was reset")
    assert (course / LESSON / "exercise.cpp").read_bytes() == ours.read_bytes()
    trainer.type("r")
    trainer.until("Reset 02-context/06-threads/exercise.cpp?")
    trainer.type("y")
    trainer.until("was restored", "Your file: .progress/before-reset/")
    assert (course / LESSON / "exercise.cpp").read_bytes() == original
    (copy,) = (course / ".progress" / "before-reset" / LESSON).iterdir()
    assert copy.read_bytes() == ours.read_bytes()


# ---- endings and terminals -----------------------------------------------------------------------------------------------


def test_ctrl_c_loses_nothing_and_gives_the_terminal_back(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("the sec\x03")
    status, last = trainer.end()
    assert status == 0 and "continues with 02-06 Threads" in last and "Interrupt" not in last, last
    assert trainer.shown.count("\x1b[?1049h") == trainer.shown.count("\x1b[?1049l") == 1 and trainer.shown.rpartition("\x1b[?25")[2].startswith("h")
    trainer = open_trainer()
    trainer.until("Your prediction: the sec")
    trainer.type("ond\r")
    trainer.until("You predicted: the second")
    trainer.type("\x03")  # while the program is built, or runs
    assert trainer.end()[0] == 0
    trainer = open_trainer()
    trainer.until('You predicted: "the second"')
    save(course, WRONG / "null-is-set.cpp")
    trainer.until("building and judging")
    trainer.type("\x03")
    assert trainer.end()[0] == 0
    trainer = open_trainer()
    trainer.until("attempt", "a caller without a context gets an error")


def test_a_line_that_breaks_loses_nothing(open_trainer, course):
    trainer = open_trainer("02-06")
    trainer.until("Your prediction:")
    trainer.type("three")
    trainer.until("Your prediction: three")
    trainer.close()  # as when an SSH connection ends
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and kept(course).get("draft") != "three":
        time.sleep(0.1)
    assert kept(course)["draft"] == "three"


@pytest.mark.parametrize("columns, lines", [(80, 24), (60, 16), (132, 50)])
def test_no_line_is_wider_than_the_terminal_and_the_keys_are_always_there(open_trainer, course, columns, lines):
    trainer = open_trainer("02-06", columns=columns, lines=lines)
    for keys, wait in (
        ("", "Your prediction"),
        ("\x1b", "? help"),
        ("h", "Hint:"),
        ("t", "arrows, Space scroll"),
        ("ql", "Enter open it"),
        ("q?", "Keys"),
        ("q", "? help"),
    ):
        trainer.type(keys)
        frame = trainer.until(wait)
        rows = frame.split("\n")
        assert len(rows) <= lines and max(len(row.rstrip()) for row in rows) <= columns, frame


def test_colors_are_left_out_where_they_are_not_wanted_and_a_small_terminal_is_told(open_trainer, course):
    colored = re.compile(r"\x1b\[[0-9;]*3[1-7]m")
    for settings, has_colors in (({}, True), ({"NO_COLOR": "1"}, False)):
        shutil.rmtree(course / ".progress", ignore_errors=True)
        save(course, ROOT / LESSON / "exercise.cpp")
        trainer = open_trainer("02-06", **settings)
        trainer.until("Your prediction:")
        trainer.type("\x1b")
        trainer.until("watching")
        save(course, WRONG / "never-made-current.cpp")
        trainer.until(f"✗ {FIRST}")
        assert bool(colored.search(trainer.shown)) == has_colors
        trainer.type("q")
        trainer.end()
    trainer = open_trainer("02-06", LC_ALL="C")
    trainer.until(f"x {FIRST}", gone=["✗"])
    trainer = open_trainer("02-06", columns=30, lines=8)
    trainer.until("The terminal has 30 x 8 characters, and the trainer needs 40 x 12")
    trainer.type("q")


def test_an_editor_gets_the_terminal_and_its_save_is_judged(open_trainer, course):
    editor = course / "editor"
    editor.write_text(f'#!/bin/sh\necho "it edits"\nread line\ncp "{WRONG}/null-is-set.cpp" "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    trainer = open_trainer("02-06", EDITOR=str(editor))
    trainer.until("Your prediction:")
    trainer.type("\x1b")
    trainer.until("? help")
    trainer.type("e")
    end = time.monotonic() + PATIENCE
    while "it edits" not in trainer.shown and time.monotonic() < end:
        trainer.read(0.2)
    trainer.type("\n")
    trainer.until("✗ a caller without a context gets an error, and the work does not run")
    editor.unlink()
    trainer.type("e")
    trainer.until("did not start: No such file or directory")


def test_tmux_shows_the_same_screen(course):
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    socket = f"course-{os.getpid()}"
    tmux = lambda *words: subprocess.run(["tmux", "-L", socket, *words], capture_output=True, text=True, check=False)
    alone = {name: value for name, value in os.environ.items() if name not in (*build.FROM_MAKE, "TMUX", "PYTHONPATH", "STRICT", "NO_COLOR")}
    command = ["tmux", "-L", socket, "-f", "/dev/null", "-u", "new-session", "-d", "-x", "80", "-y", "24", "make learn 02-06 DEVICE=simulator"]
    started = subprocess.run(command, cwd=course, env={**alone, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(f"tmux does not start here: {started.stderr.strip()}")
    try:

        def until(text):
            end, shown = time.monotonic() + PATIENCE, ""
            while time.monotonic() < end:
                shown = tmux("capture-pane", "-p").stdout
                if text in " ".join(shown.split()):
                    return shown.rstrip("\n").split("\n")
                time.sleep(0.3)
            raise AssertionError(f"{text} did not come:\n{shown}")

        rows = until("Your prediction:")
        assert rows[0].startswith(" CUDA from the Driver Up") and rows[-1].startswith(" Enter keep it") and len(rows) == 24, rows
        tmux("send-keys", "Escape")
        until("is unchanged")
        save(course, WRONG / "never-made-current.cpp")
        assert any(row.startswith(f"    ✗ {FIRST}") for row in until("7 more wait for this one"))
        tmux("send-keys", "C-c")
    finally:
        tmux("kill-server")


def test_the_trainer_needs_a_terminal(course):
    asked = subprocess.run(["make", "learn"], cwd=course, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=build.as_typed(), check=False)
    assert asked.returncode and "make learn needs a terminal" in asked.stderr, asked.stderr


# ---- parts ---------------------------------------------------------------------------------------------------------------


def test_keys_are_told_apart_also_if_they_arrive_in_pieces():
    from course import screen

    assert screen.split_keys("a\x1b[A\x1bOB\rü\x03") == (["a", "up", "down", "enter", "ü", "ctrl-c"], "")
    assert screen.split_keys("\x1b[") == ([], "\x1b[") and screen.split_keys("\x1b[" + "5~") == (["page up"], "")
    assert screen.split_keys("\x1b") == (["escape"], "") and screen.split_keys("\x1b[99~q") == (["q"], "")


@pytest.mark.parametrize("lesson", lessons(), ids=str)
def test_the_trainer_can_show_every_lesson(lesson):
    """Its question, prediction, exercise and hints are found, and the place of a failure in the solution for every test case."""
    found = reading.read(lesson)
    assert found.question and found.predict and found.results and found.exercise and len(found.hints) > 1, found
    assert "make check" not in found.exercise and "<details>" not in found.whole + found.exercise, found
    film = re.search(r"<summary>What the film shows</summary>\s*(.*?)</details>", lesson.text, re.DOTALL)
    assert not film or not any(hint in reading.plain(film[1]) for hint in found.hints), found.hints
    assert places.definitions(lesson.solution.source), lesson
    from course import screen

    console = screen.Console(theme=screen.THEME, width=80, force_terminal=False, highlight=False)
    for part in (found.idea, found.predict, found.exercise, found.whole_with_results, *found.hints):
        for line in screen.Lines(console, 78).markdown(part).lines:
            assert sum(segment.cell_length for segment in line) <= 78, (lesson, line)


def test_a_frame_reads_no_file(own_progress):
    """It is drawn several times a second: what the disk says is asked when a lesson is opened, and once for each verdict."""
    from course import learn, screen, views

    still = mock.Mock(columns=80, height=24, marks=screen.MARKS)
    console = screen.Console(theme=screen.THEME, width=80, force_terminal=False, highlight=False)
    still.lines = lambda: screen.Lines(console, 78)
    for lesson in (every()[LESSON], next(lesson for lesson in lessons() if lesson.is_python)):
        trainer = learn.Trainer(still, lesson)
        trainer.verdict = Verdict(Kind.FAILED, "b", cases=(Case("a"), Case("b", "m")), place=Place("exercise.cpp", 1, "x();", 2))
        for view in (views.Work(), views.Outcome(), views.Ask(""), views.Chooser(lesson)):
            trainer.view = view
            first = trainer.frame()
            reading = {name: mock.Mock(side_effect=AssertionError(name)) for name in ("read_text", "read_bytes", "exists", "glob", "iterdir", "stat")}
            with mock.patch.multiple(pathlib.Path, **reading), mock.patch("builtins.open", side_effect=AssertionError("open")):
                assert trainer.frame() == first


def test_a_hint_is_shown_sentence_by_sentence():
    assert reading.steps("Use `a.b` first. It is 3.5 wide, e.g. here. Then:\n\n```cpp\nint a. B;\n```\n") == [
        "Use `a.b` first.",
        "It is 3.5 wide, e.g. here.",
        "Then:\n\n```cpp\nint a. B;\n```",
    ]


def test_places_of_compilers_reports_and_tracebacks_are_found():
    with tempfile.TemporaryDirectory() as here:
        source = pathlib.Path(here, "exercise.cu")
        source.write_text("one\n  two\nthree\n", encoding="utf-8")
        for said, line, column in (
            ("02-context/x/exercise.cu:2:5: error: no", 2, 3),
            ("x/exercise.cu(3): error: no", 3, 0),
            ("  at       exercise.cu:1 (line 64 of the PTX)", 1, 0),
            ('  File "/x/exercise.cu", line 2, in f', 2, 0),
            ("my-exercise.cu:1: no\nexercise.cu:99: no\nexercise.cu:3: yes", 3, 0),
        ):
            found = places.place_in(said, source)
            assert (found.line, found.column, found.exact) == (line, column, True), said
        assert places.place_in("main.cu:2", source) is None


def test_a_comparison_of_sentences_is_shown_without_the_checks_code():
    assert feedback.in_words('tests/a.cpp:9: CHECK( observed().lost == "" ) was "a load is lost" == ""') == "a load is lost   (tests/a.cpp:9)"
    assert feedback.in_words("tests/a.cpp:9: CHECK( a == b ) was 1 == 2\nmore") == "tests/a.cpp:9: CHECK( a == b ) was 1 == 2\nmore"


# ---- progress ------------------------------------------------------------------------------------------------------------


def test_progress_is_outside_of_build_and_of_git(course):
    assert "/.progress/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    (course / ".progress").mkdir()
    (course / ".progress" / "progress.json").write_text("{}", encoding="utf-8")
    with tempfile.TemporaryDirectory() as place, mock.patch.object(clean, "ROOT", pathlib.Path(place)):
        for name in ("build", ".progress"):
            pathlib.Path(place, name).mkdir()
            pathlib.Path(place, name, "file").touch()
        assert clean.main() == 0
        assert not pathlib.Path(place, "build", "file").exists() and pathlib.Path(place, ".progress", "file").exists()


def test_the_commands_are_listed():
    assert {"learn", "progress", "grade"} <= set(COMMANDS) and "SUBMISSIONS" in VARIABLES
