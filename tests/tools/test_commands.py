"""Tests of the commands that run lessons: run, walk, bench."""

import contextlib
import io
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from course import ROOT, bench, interpreter, possible, run, text, walk
from course.device import SIMULATOR, Device
from course.lessons import Lesson, every
from course.test import everything, suites
from course.test.count import Count


def test_rows_of_a_table_are_read_as_numbers():
    printed = ["size  | GB/s", "   4 KiB |   0.5 █     |  12.3 ███", "", "no table 7", "a name | CUDA_ERROR_INVALID_VALUE", "1 | 2 of 3"]
    assert bench.rows(printed) == [{"label": "4 KiB", "values": [0.5, 12.3]}, {"label": "1", "values": [2.0, 3.0]}]


def test_rows_in_columns_are_read_as_numbers_too():
    printed = [
        "A device, 4 x 4 floats",
        "",
        "kernel     idea                 GB/s  of all",
        "",
        "registers  64 numbers a thread  12.5  0.80 ██",
        "none                            3.0     -",
    ]
    assert bench.rows(printed) == [{"label": "registers 64 numbers a thread", "values": [12.5, 0.8]}]


def test_a_lesson_measures_if_its_text_says_so():
    assert bench.measures(every()["03-memory/04-pageable-vs-pinned"])
    assert not bench.measures(every()["03-memory/01-alloc-copy-free"])


def test_a_bench_that_measured_nothing_keeps_what_is_kept():
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(bench, "RESULTS", pathlib.Path(folder)):
        kept = pathlib.Path(folder, "results.json")
        kept.write_text("figures", encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert bench.main(["01-driver-init/01-hello-driver"]) == 0
        assert "nothing was measured" in shown.getvalue() and kept.read_text(encoding="utf-8") == "figures", shown.getvalue()


def test_a_page_is_no_wider_than_its_terminal():
    assert walk.page(200, 60) == walk.page(100, 24) == walk.page(0, 0) == (98, 21)
    assert walk.page(40, 12) == (38, 9) and walk.page(3, 2) == (20, 5)
    with mock.patch.object(walk, "WIDTH", 38):
        lines = walk.rendered(
            "A sentence of several words, and `some code` in it, that goes on and on.\n\n| a call | what it does there |\n| --- | --- |\n| `cuInit` | something |\n"
        )
    assert len(lines) > 3 and all(len(line.replace("`", "")) <= 38 for line in lines), lines


def test_a_walk_shows_what_stands_in_a_tables_third_column_under_its_name():
    lines = walk.rendered("| flag | what it does | for whom |\n| --- | --- | --- |\n| `a` | waits | servers |\n| `b` | leaves it | |\n")
    assert [line.replace("`", "").rstrip() for line in lines] == ["  flag  what it does", "  a     waits", "        for whom: servers", "  b     leaves it"], (
        lines
    )


def test_a_walk_on_the_simulator_shows_what_an_h200_has_measured():
    measured = "<!-- varies: NVIDIA H200 | measured -->\n```console\n$ make 01-a/01-b\nNVIDIA H200\n1.5 ms\n```\n"
    assert text.recorded(measured) == ["NVIDIA H200", "1.5 ms"]
    elsewhere = measured.replace("NVIDIA H200 | ", "")
    assert text.recorded(elsewhere) == text.recorded("nothing is shown") == []
    assert text.recorded("<!-- recorded: NVIDIA H200 -->\n" + elsewhere) == text.recorded(measured)


WAITS = """import time
from course import walk
time.sleep(0.5)  # typed too early
screen = walk.Screen()
print("ready", flush=True)
try:
    screen.wait("run it")
    print("went on")
except walk.Leave:
    print("left")
"""


def test_a_walk_takes_what_was_typed_before_it_began_for_no_answer():
    try:
        process, terminal = pty.fork()
    except OSError as refused:  # a chroot without /dev/pts
        raise unittest.SkipTest(str(refused)) from None
    if process == 0:
        os.environ["PYTHONPATH"] = str(ROOT / "common")
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


def test_a_lesson_that_fails_may_have_been_broken_on_purpose():
    device = Device("simulator", "", "", dict(os.environ))
    with mock.patch.multiple(run, choose_device=lambda: device, why_not=lambda _: None), programs(lambda _: ["false"]):
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert run.main(["02-context/03-current"]) == 1
    *_, failed, last = shown.getvalue().splitlines()
    assert failed == "FAILED: 02-context/03-current ended with status 1" and last.startswith("If you did not break it on purpose, `git diff` shows"), (
        shown.getvalue()
    )


def test_a_program_that_is_edited_is_named_beside_what_failed_of_it():
    with tempfile.TemporaryDirectory() as folder:
        alone = {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for name in ("main.cpp", "kernels.cu"):
            pathlib.Path(folder, name).write_text("// as committed\n", encoding="utf-8")
        with mock.patch.dict(os.environ, alone):
            for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "as committed"]):
                subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
            lesson = Lesson(folder, frozenset(["main.cpp", "kernels.cu"]))
            assert everything.edited_files(lesson) == []
            pathlib.Path(folder, "main.cpp").write_text("// edited\n", encoding="utf-8")
            assert everything.edited_files(lesson) == ["main.cpp"]
    count = Count()
    count.edited = {every()["02-context/03-current"]: ["main.cpp"], every()["02-context/04-ownership"]: ["main.cpp"]}
    count.fail("02-context/03-current/README.md:19", "another output")
    count.fail("02-context/03-current/README.md:29", "another output")
    count.skip("02-context/04-ownership", "no nvcc")
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        count.group("texts")
        count.group("the next one")
    assert shown.getvalue().count("is edited here") == 1 and "Note: main.cpp of 02-context/03-current is edited" in shown.getvalue(), shown.getvalue()


def test_what_failed_or_was_skipped_is_named_beside_its_count():
    skipped = {"05-extension/12-libraries": "no library", "05-extension/13-packaging": "no pip"}
    device = Device("simulator", "", "", dict(os.environ))
    told = lambda lesson: ["false"] if lesson.name == "02-context/03-current" else ["true"]
    with mock.patch.multiple(run, choose_device=lambda: device, why_not=lambda lesson: skipped.get(lesson.name)), programs(told):
        for lessons, last in (
            (["01-driver-init/01-hello-driver", "02-context/03-current", *skipped], "1 lessons succeeded, 1 failed (02-03), 2 skipped (05-12, 05-13)"),
            (["01-driver-init/01-hello-driver", "01-driver-init/02-whole-arc"], "2 lessons succeeded, 0 failed, 0 skipped"),
        ):
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                run.main(lessons)
            assert shown.getvalue().splitlines()[-1] == last, shown.getvalue()


def programs(of_lesson):
    """Inside the with block, the program of a lesson is the command that `of_lesson` returns."""
    return mock.patch.object(Lesson, "program", of_lesson)


def programs_started(kind, one_output, commands, shown):
    """Runs the commands as programs of lessons; returns their names and statuses as `shown` gets them one by one."""
    device = Device(kind, "", "", dict(os.environ))
    with mock.patch.multiple(run, why_not=lambda _: None, one_output=lambda: one_output), programs(lambda lesson: commands[lesson.name]):
        with contextlib.closing(run.started([Lesson(name, frozenset()) for name in commands], device)) as started:
            return [(lesson.name, shown(running)) for lesson, running in started]


def test_on_the_simulator_programs_run_before_their_turn_and_print_in_order(tmp_path, capfd):
    file = tmp_path / "begun"
    commands = {"first": ["sh", "-c", f"until [ -e {file} ]; do sleep 0.01; done; printf one"], "second": ["sh", "-c", f"touch {file}; echo two; exit 3"]}
    assert programs_started("simulator", True, commands, run.Running.show) == [("first", 0), ("second", 3)]
    assert capfd.readouterr().out == "one\ntwo\n"


def test_on_a_gpu_or_with_errors_shown_elsewhere_programs_run_one_after_the_other(tmp_path):
    file = tmp_path / "begun"
    commands = {"first": ["sh", "-c", f"sleep 0.2; ! [ -e {file} ]"], "second": ["touch", str(file)]}
    for kind, one_output in (("gpu", True), ("simulator", False)):
        assert programs_started(kind, one_output, commands, run.Running.show) == [("first", 0), ("second", 0)]
        file.unlink()


def test_an_interruption_ends_the_programs_that_run_before_their_turn():
    processes = []

    def interrupted(running):
        processes.append(running.process)
        raise KeyboardInterrupt

    with mock.patch.object(subprocess.Popen, "kill", autospec=True, side_effect=subprocess.Popen.kill) as killed, contextlib.suppress(KeyboardInterrupt):
        programs_started("simulator", True, {"first": ["true"], "second": ["sleep", "60"], "third": ["sleep", "60"]}, interrupted)
    ended = [call.args[0] for call in killed.call_args_list]
    assert [process.args for process in ended] == [["sleep", "60"]] * 2 and [process.wait(10) for process in [*processes, *ended]] == [0, -9, -9]


def test_a_walk_says_that_a_lesson_has_no_text():
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        walk.teach(walk.Screen(), Lesson("02-context/99-gone", frozenset()), None, None)
    assert "02-context/99-gone has no README.md. If the file was deleted" in shown.getvalue(), shown.getvalue()


def test_a_lesson_env_sets_what_is_not_set_already():
    lesson = every()["02-context/10-two-devices"]
    asked = lambda environment: Device("simulator", "", "", environment).environment_for(lesson)
    assert asked({"HOME": "/"}) == {"HOME": "/", "CUDASIM_DEVICES": "2", "CUDASIM_QUIET": "1"}
    assert asked({"CUDASIM_DEVICES": "3", "CUDASIM_QUIET": ""}) == {"CUDASIM_DEVICES": "3", "CUDASIM_QUIET": ""}
    assert every()["02-context/03-current"].settings == {}


ASKS_FOR_A_TABLE = """import ctypes, sys
driver, table = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
driver.cuInit(0)
for _ in range(2):
    driver.cuGetExportTable(ctypes.byref(table), bytes(16))
"""


def test_what_the_runtime_library_lacks_is_told_once_and_not_where_it_is_known():
    def said(quiet):
        command = ["python3", "-c", ASKS_FOR_A_TABLE, str(SIMULATOR / "libcuda.so.1")]
        return subprocess.run(command, env=dict(os.environ, CUDASIM_QUIET=quiet), check=True, capture_output=True, text=True).stderr

    assert said("").count("NVIDIA's CUDA runtime") == 1 and said("1") == "", (said(""), said("1"))


def test_the_readme_runs_a_program_of_your_own_as_it_says():
    """All lines but `make simulator`, pasted into a shell that knows nothing, beside a program of the runtime API."""
    blocks = text.blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    (pasted,) = [block.lines for block in blocks if block.lines[0].startswith("make simulator")]
    lesson = every()["01-driver-init/02-whole-arc"]
    if possible.why_not(lesson) or not (SIMULATOR.parent / "runtime" / "libcudart.so").exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        for name in ("build", "common"):
            (here / name).symlink_to(ROOT / name)
        shutil.copy(lesson.folder / "twin.cu", here / "prog.cu")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "LD_"))}
        ran = subprocess.run(["bash", "-e", "-c", "\n".join(pasted[1:])], cwd=here, env=ours, capture_output=True, text=True, check=False)
        assert ran.returncode == 0 and "1000 of 1000" in ran.stdout, ran.stdout + ran.stderr


def test_what_a_text_shows_of_a_second_gpu_holds_where_there_are_two():
    alone, pair, simulated = (Device(kind, "", "", {}, count=count) for kind, count in [("gpu", 1), ("gpu", 2), ("simulator", 2)])
    agree = [[device.agrees_with([only]) for device in (alone, pair, simulated)] for only in ("gpu", "simulator", "second GPU")]
    assert agree == [[True, True, False], [False, False, True], [False, True, False]]


def test_programs_that_tests_make_up_are_elsewhere_if_none_may_start_in_the_temporary_folder():
    built = str(ROOT / "build" / "temporary")
    assert suites.executable_place() in (tempfile.gettempdir(), built)
    with mock.patch("os.access", lambda *_: False):
        assert suites.executable_place() == built and os.path.isdir(built)


def test_a_lesson_in_python_runs_with_the_environments_python_and_finds_common():
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(interpreter, "ROOT", pathlib.Path(folder)):
        assert interpreter.python() == sys.executable
        python = pathlib.Path(folder, "build/python/bin/python3")
        python.parent.mkdir(parents=True)
        python.touch()
        for users, path in {"": folder, "/mine": f"{folder}:/mine"}.items():
            with mock.patch.dict(os.environ, PYTHONPATH=users):
                found = interpreter.for_python()
            assert interpreter.python() == str(python) and found["PATH"].startswith(f"{python.parent}:") and found["PYTHONPATH"] == path, users
