"""Tests of make grade: what is handed in, the enclosure, the naming of mistakes, the results, and a hostile class.

Programs that try to do harm run only in a sandbox that has a process namespace of its own. Where there is none, their tests are skipped.
"""

import contextlib
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

import pytest

from course import ROOT, bounds, enclosure, grade, mistakes, possible, verdict
from course.device import choose_device
from course.enclosure import MEGABYTE, Enclosure, Limits, Stopped
from course.grade import Submission
from course.lessons import every

LESSON = every()["02-context/06-threads"]
PYTHON = [sys.executable, "-I", "-c"]


# ---- what is handed in ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as place:
        yield pathlib.Path(place)


def put(folder, path, content="int a;\n"):
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content, encoding="utf-8")
    return place


def test_an_exercise_is_found_in_any_of_its_places(folder):
    for student, path in enumerate(
        ("02-context/06-threads/exercise.cpp", "work/06-threads/exercise.cpp", "02-06/exercise.cpp", "02-06.cpp", "02-06-mine.cpp", "a/b/02_06.cpp")
    ):
        put(folder, f"{student}/{path}")
    found, notes = grade.collect(folder, [])
    assert [list(own) for own in found.values()] == [[LESSON]] * 6 and not notes, (found, notes)


def test_what_is_not_an_exercise_is_not_opened(folder):
    secret = put(folder, "secret.cpp")
    put(folder, "a/build/02-06.cpp")
    put(folder, "a/.git/02-06.cpp")
    put(folder, "a/notes.txt")
    (folder / "a" / "02-06.cpp").symlink_to(secret)
    (folder / "linked").symlink_to(folder / "a")
    os.mkfifo(folder / "a" / "02-02.cpp")
    put(folder, "b/02-06.cu")
    put(folder, "b/exercise.cpp")
    put(folder, "b/02-02.cpp", "x" * (grade.LARGEST + 1))
    put(folder, "c/02-context/06-threads/exercise.cpp")
    put(folder, "c/02-06.cpp")
    found, notes = grade.collect(folder, [])
    assert {student: list(own) for student, own in found.items()} == {"a": [], "b": [], "c": [LESSON]}, found
    told = "\n".join(notes)
    for part in (
        "a/02-06.cpp: it is a link",
        "a/02-02.cpp: it is a link, or not a regular file",
        "b/02-06.cu: the exercise of 02-06 is exercise.cpp",
        "b/exercise.cpp: its path does not name a lesson",
        "b/02-02.cpp: it has 1 MB",
    ):
        assert part in told, told
    assert "is judged instead" in told and grade.collect(folder, [every()["02-context/02-scope"]])[0]["c"] == {}


@pytest.mark.parametrize(
    "settings, told",
    [
        ({}, "Which submissions are to be graded?"),
        ({"SUBMISSIONS": "/no/where"}, "SUBMISSIONS=/no/where is not a folder"),
        ({"SUBMISSIONS": ".", "DEVICE": "gpu"}, "simulated GPU only"),
    ],
    ids=["nothing", "no folder", "gpu"],
)
def test_what_cannot_be_graded_is_refused_in_a_sentence(settings, told):
    with mock.patch.dict(os.environ, settings), pytest.raises(SystemExit) as refused:
        os.environ.pop("SUBMISSIONS", None) if "SUBMISSIONS" not in settings else None
        grade.main([])
    assert told in str(refused.value)


# ---- mistakes ------------------------------------------------------------------------------------------------------------


def known(name, failures, source=""):
    return mistakes.Known(name, "", failures, source)


def test_a_submission_is_named_by_the_cases_that_reject_it_then_by_their_messages_then_by_its_words():
    one, other = known("one", {"a": "x was 1 == 2", "b": "y"}, "int f() { return g(1); }"), known("other", {"a": "x was 3 == 2", "b": "y"}, "while (true) h();")
    third = known("third", {"a": "x was 1 == 2"})
    find = lambda failures, source="": getattr(mistakes.match(failures, source, [one, other, third], 5), "name", None)
    assert find({"a": "x was 1 == 2", "b": "y"}) == "one"
    assert find({"a": "x was 3 == 2", "b": "y"}) == "other"
    assert find({"a": "z", "b": "z"}, "while (true) h(); // else") == "other"
    assert find({"b": "y"}) is None
    assert find({"a": "anything"}) == "third"


def test_where_everything_fails_the_source_has_to_be_alike():
    kept = known("kept", {"a": "p", "b": "p"}, "int f() { return g(1); }")
    assert mistakes.match({"a": "q", "b": "q"}, "for (;;) { launch(many, times); }", [kept], 2) is None
    assert mistakes.match({"a": "q", "b": "q"}, "int f() { return g(2); }", [kept], 2) is kept
    assert mistakes.match({"a": "p", "b": "p"}, "other", [kept], 2) is kept


def test_messages_are_compared_without_what_differs_from_run_to_run():
    assert mistakes.normalized("exercise.cpp:12: got 0x7f00 at 12345 in 1.25 s") == mistakes.normalized("exercise.cpp:7: got 0x8a01 at 54321 in 2.5 s")
    assert mistakes.normalized("1 == 2") != mistakes.normalized("3 == 2")


def test_every_kept_wrong_solution_says_what_it_does():
    for source in sorted((ROOT / "tests").glob("0[1-4]-*/*.wrong/*.[cp]*")):
        assert mistakes.explanation(source.read_text(encoding="utf-8")), source


# ---- results -------------------------------------------------------------------------------------------------------------


def sample():
    solved = Submission("ann", LESSON, status="solved", passed=8, cases=8)
    wrong = Submission(
        "=cmd()", LESSON, status="wrong", passed=6, cases=8, failures={"a": "m\x1b[31m", "b": "n"}, why="a", mistake="guard per block", explanation="Why."
    )
    also = Submission("bob", LESSON, status="wrong", passed=6, cases=8, failures={"a": "m", "b": "n"}, why="a", mistake="guard per block", explanation="Why.")
    return [[solved], [wrong], [also], [Submission("../eve", LESSON)]]


def test_the_summary_counts_mistakes_over_the_class():
    assert grade.summary(sample()) == ["02-06 Threads ★: 1 of 3 solved", "  2 of 3: guard per block (Why.)"]
    rows = grade.table(sample())
    assert (
        rows[0].split() == ["student", "solved", "02-06"]
        and rows[1].split() == ["ann", "1", "yes"]
        and rows[2].split() == ["=cmd()", "0", "6/8"]
        and rows[4].split() == ["../eve", "0", "-"]
    )


def test_the_results_can_be_read_by_others(folder):
    with mock.patch.object(grade, "RESULTS", folder):
        grade.write(sample(), ["x: y"])
    with open(folder / "grades.csv", encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["student", "solved", "02-06"], ["ann", "1", "1"], ["'=cmd()", "0", "0"], ["bob", "0", "0"], ["../eve", "0", "0"]]
    with open(folder / "details.csv", encoding="utf-8", newline="") as file:
        assert [row["mistake"] for row in csv.DictReader(file)] == ["", "guard per block", "guard per block", ""]
    places = sorted(path.relative_to(folder / "gradescope").as_posix() for path in folder.glob("gradescope/**/results.json"))
    assert places == ["_cmd__-1/results.json", "_eve-3/results.json", "ann/results.json", "bob/results.json"], places
    told = json.loads((folder / "gradescope/_cmd__-1/results.json").read_text(encoding="utf-8"))
    assert told["score"] == 0 and told["tests"][0]["max_score"] == 1 and told["tests"][0]["status"] == "failed"
    assert (
        "6 of 8 test cases pass" in told["tests"][0]["output"]
        and "guard per block. Why." in told["tests"][0]["output"]
        and "\x1b" not in told["tests"][0]["output"]
    )
    assert "Not judged:\nx: y" in (folder / "table.txt").read_text(encoding="utf-8")


# ---- the enclosure, with programs that mean no harm ----------------------------------------------------------------------


@pytest.fixture(params=["bubblewrap", "processes"])
def enclosed(request):
    if request.param == "bubblewrap":
        enclosure.fetch_bubblewrap()
        program, why_not = enclosure.bubblewrap()
        if not program:
            pytest.skip(why_not)
    with Enclosure(limits=Limits(memory=200 * MEGABYTE, file=8 * MEGABYTE, files=12 * MEGABYTE, processes=12), isolated=request.param == "bubblewrap") as made:
        yield made


def test_what_a_program_prints_and_how_it_ends_is_known(enclosed, folder):
    code = "import os, sys; open('made', 'w').write('here'); print('out'); print('err', file=sys.stderr); sys.exit(int(os.environ['STATUS']))"
    ended = enclosed.run([*PYTHON, code], 20, folder, [folder], {"STATUS": "3", "PATH": os.environ["PATH"]})
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "out\n", "err\n") and (folder / "made").read_text() == "here"
    assert enclosed.run([*PYTHON, "import os; os.abort()"], 20, folder, [folder]).returncode == -6


@pytest.mark.parametrize(
    "code, why",
    [
        ("held = bytearray(300 << 20); import time; time.sleep(10)", "more than 200 MB of memory"),
        ("open('large', 'wb').write(bytes(9 << 20))", None),
        ("[open(str(n), 'wb').write(bytes(4 << 20)) for n in range(5)]; import time; time.sleep(10)", "more than 12 MB of files"),
        ("import subprocess, time; held = [subprocess.Popen(['sleep', '20']) for _ in range(16)]; time.sleep(10)", "more than 12 processes"),
    ],
    ids=["memory", "a large file", "many files", "processes"],
)
def test_a_program_that_uses_too_much_is_stopped(enclosed, folder, code, why):
    if why is None:  # the kernel refuses it: Python ignores the signal and sees the error
        ended = enclosed.run([*PYTHON, code], 20, folder, [folder], dict(os.environ))
        assert ended.returncode == 1 and "File too large" in ended.stderr and (folder / "large").stat().st_size <= 8 * MEGABYTE
    else:
        with pytest.raises(Stopped, match=why):
            enclosed.run([*PYTHON, code], 20, folder, [folder], dict(os.environ))


def test_a_program_that_takes_too_long_is_stopped_with_all_that_it_has_started(enclosed, folder):
    mark = f"7{os.getpid() % 100000:05}.25"
    code = f"import subprocess; subprocess.Popen(['sleep', '{mark}'], start_new_session=True); print('begun', flush=True); import time; time.sleep(60)"
    with pytest.raises(subprocess.TimeoutExpired) as late:
        enclosed.run([*PYTHON, code], 2, folder, [folder], dict(os.environ))
    assert late.value.stdout == b"begun\n"
    ended = enclosed.run([*PYTHON, code.replace("; time.sleep(60)", "")], 20, folder, [folder], dict(os.environ))  # it ends, its child does not
    assert ended.returncode == 0
    end = time.monotonic() + 5
    while (running := [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in nothing_or(path)]) and time.monotonic() < end:
        time.sleep(0.1)
    assert not running, running


# Starts processes without end, as far as 1500 at a time for 40 seconds, in case that nothing else bounds it. "leaves": each makes a session of its own.
BOMB = """
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char** words) {
  const bool leaves = count > 1 && !std::strcmp(words[1], "leaves");
  int* started = static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::signal(SIGTERM, SIG_IGN);
  for (alarm(40);;) {
    if (__atomic_load_n(started, __ATOMIC_RELAXED) > 1500) pause();
    if (fork() != 0) continue;
    __atomic_fetch_add(started, 1, __ATOMIC_RELAXED);
    alarm(40);
    if (leaves) setsid();
  }
}
"""
# A bomb needs another program to bound it, should what is tested fail: a machine on which root may have so many processes, or a limit.
WAYS = [way for way in (bounds.Group, bounds.OtherUser, bounds.UserLimit) if way.why_not() is None]


@pytest.fixture(scope="module")
def bomb():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        program = pathlib.Path(place) / "bomb"
        subprocess.run(["g++", "-O1", "-x", "c++", "-", "-o", program], input=BOMB, text=True, check=True)
        yield program


def processes_of(program):
    return [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if str(program).encode() in nothing_or(path)]


class Others:
    """Inside the with block, other programs are started all the time; `slowest` is how long one took, in seconds."""

    def __enter__(self):
        self.slowest, self.started, self.ends = 0.0, 0, threading.Event()
        self.thread = threading.Thread(target=self.start)
        self.thread.start()
        return self

    def start(self):
        while not self.ends.wait(0.05):
            begun = time.monotonic()
            with contextlib.suppress(OSError):
                self.started += subprocess.run(["true"], check=False).returncode == 0
            self.slowest = max(self.slowest, time.monotonic() - begun)

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


@pytest.mark.parametrize("kind", ["stays", "leaves"])
@pytest.mark.parametrize("isolated", [True, False], ids=["bubblewrap", "processes"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_program_that_forks_without_end_is_stopped_and_others_can_start(way, isolated, kind, bomb, folder):
    if isolated and not enclosure.bubblewrap()[0]:
        pytest.skip(enclosure.bubblewrap()[1])
    with Enclosure(limits=Limits(processes=20), isolated=isolated, way=way) as enclosed, Others() as others:
        if not enclosed.way:
            pytest.skip(enclosed.why_unbounded)
        shutil.copy(bomb, folder)
        begun = time.monotonic()
        with pytest.raises(Stopped, match="more than 20 processes at the same time"):
            enclosed.run([folder / "bomb", kind], 15, folder, [folder], {"PATH": os.environ["PATH"]})
        taken = time.monotonic() - begun
    assert taken < 12 and others.started and others.slowest < 10, (taken, others.started, others.slowest)
    assert not processes_of(folder / "bomb") and not processes_of(enclosed.scratch)


LEARNERS = """import json, subprocess, sys
from course import bounds, process
bounds.OF_LEARNERS, bounds.way_for_learners = 60, lambda: getattr(bounds, sys.argv[1])
bounds.Group.why_not()
ended = process.run_limited([sys.argv[2], "stays"], 20, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
print(json.dumps([ended.returncode, ended.stderr]))
"""


@pytest.mark.parametrize("way", [way.__name__ for way in (*WAYS, bounds.Watched) if way is not bounds.OtherUser])
def test_a_learners_program_that_forks_without_end_is_stopped_too(way, bomb):
    with Others() as others:
        begun, environment = time.monotonic(), {**os.environ, "PYTHONPATH": str(ROOT / "common")}
        told = subprocess.run([sys.executable, "-c", LEARNERS, way, bomb], env=environment, capture_output=True, text=True, check=True).stdout
        taken = time.monotonic() - begun
    with contextlib.suppress(ChildProcessError):  # as a grader, this process adopts what programs leave behind
        while os.waitpid(-1, 0):
            pass
    status, errors = json.loads(told)
    if way == "UserLimit":  # the kernel refuses more of them, and the time ends
        assert status is not None
    else:
        assert status == -9 and "it ran more than 60 processes at the same time" in errors and taken < 12, (told, taken)
    assert others.started and not processes_of(bomb)


def test_a_bound_that_does_not_hold_is_not_trusted():
    assert not bounds.holds(bounds.Bound)
    with mock.patch.object(bounds, "holds", lambda _: False), mock.patch.object(bounds.Group, "parents", []):
        found, why = bounds.way.__wrapped__()
    assert found is None and why.startswith("no control group can be made here, "), why


def test_where_nothing_bounds_them_submissions_are_refused_unless_they_are_trusted():
    with mock.patch.object(bounds, "way", lambda: (None, "no way")), mock.patch.object(bounds.OtherUser, "why_not", lambda: "no way"):
        with Enclosure(isolated=False) as enclosed:
            assert "nothing bounds their processes: no way" in enclosed.describe()
            with pytest.raises(SystemExit) as refused:
                grade.refuse_unbounded(enclosed)
            with mock.patch.dict(os.environ, UNBOUNDED="1"):
                grade.refuse_unbounded(enclosed)
    assert "a submission that starts processes without end could stop this machine" in str(refused.value) and "make grade UNBOUNDED=1" in str(refused.value)


def nothing_or(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


# ---- a hostile class -----------------------------------------------------------------------------------------------------

HEAD = '#include "common/cu.hpp"\n#include <functional>\n#include <thread>\n'
SIGNATURE = "void in_worker(const std::function<void()>& work)"
SOLUTION = (LESSON.folder / "solution.cpp").read_text(encoding="utf-8")
FORGES = """#include <unistd.h>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>
// Runs before main: writes a report in which every case of the check's source passes, and leaves.
static const int forged = [] {
  std::ifstream in("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\\0');) words.push_back(word);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "-o") continue;
    std::ofstream out(words[i + 1]);
    out << "<Catch><Group>";
    std::ifstream check("@ROOT@/tests/02-context/06-threads.cpp");
    std::stringstream text;
    text << check.rdbuf();
    const std::string source = text.str();
    const std::regex name("TEST_CASE_METHOD\\\\(Caller, \\"([^\\"]*)\\"");
    for (std::sregex_iterator at(source.begin(), source.end(), name), end; at != end; ++at) {
      out << "<TestCase name=\\"" << (*at)[1] << "\\"><OverallResult success=\\"true\\"/></TestCase>";
    }
    out << "</Group></Catch>";
    out.close();
    _exit(0);
  }
  return 0;
}();
"""
# {student: (the submission, its status, a part of why)}. Each is bounded, in case that the sandbox is not one.
HOSTILE = {
    "loops": (HEAD + SIGNATURE + " { for (volatile long i = 0;;) i = i + 1; }\n", "wrong", "the work runs in the caller's context"),
    "forks": (
        BOMB.replace("int main(int count, char** words)", "static int bomb(int count, const char** words)")
        + HEAD
        + SIGNATURE
        + ' { const char* words[] = {"", "leaves"}; bomb(2, words); }\n',
        "stopped",
        "processes at the same time",
    ),
    "grows": (
        HEAD
        + "#include <fstream>\n"
        + SIGNATURE
        + " { std::ofstream out(\"large\"); for (long i = 0; i < 400; ++i) out << std::string(1 << 20, 'x') << std::flush; }\n",
        "stopped",
        "wrote a file of more than",
    ),
    "hoards": (
        HEAD
        + "#include <vector>\n"
        + SIGNATURE
        + " { std::vector<char> held(1000u << 20, 'x'); std::this_thread::sleep_for(std::chrono::seconds(10)); work(); }\n",
        "stopped",
        "MB of memory",
    ),
    "signals": (
        HEAD
        + "#include <csignal>\n#include <unistd.h>\n"
        + SIGNATURE
        + " { kill(getppid(), SIGKILL); kill(getppid(), SIGSTOP); kill(-1, SIGTERM); kill(-1, SIGKILL); work(); }\n",
        "wrong",
        "",
    ),
    "forges": (FORGES + SOLUTION, "forged", "was not written by the check"),
    "leaves": (HEAD + "#include <unistd.h>\n" + SIGNATURE + " { _exit(0); }\n", "wrong", "the work runs in the caller's context"),
    "includes": ('#include "02-context/06-threads/solution.cpp"\n', "does not compile", "solution.cpp"),
    "reads": (
        SOLUTION + '\n#include <cstdio>\nstatic const int stolen = [] { return std::fopen("@FOLDER@/loops/02-06.cpp", "r") ? std::abort(), 0 : 0; }();\n',
        "solved",
        "",
    ),
    "writes": (
        SOLUTION
        + '\n#include <cstdio>\nstatic const int harm = [] { for (auto path : {"@ROOT@/build/grade-hostile/known.json", "@ROOT@/tests/02-context/06-threads.cpp", "@FOLDER@/ann/02-06.cpp"}) if (std::fopen(path, "a")) std::abort(); return 0; }();\n',
        "solved",
        "",
    ),
    "ann": (SOLUTION + "\n", "solved", ""),
    "bob": (
        (ROOT / "tests" / f"{LESSON}.wrong/null-is-set.cpp").read_text(encoding="utf-8").replace("callers", "theirs"),
        "wrong",
        "a caller without a context",
    ),
    "cy": ("int main() { this is no program }\n", "does not compile", "exercise.cpp:1: "),
}


@pytest.fixture(scope="module")
def hostile_class():
    if why := possible.why_not(LESSON, for_check=True):
        pytest.skip(why)
    enclosure.fetch_bubblewrap()
    if not (found := enclosure.bubblewrap())[0]:
        pytest.skip(f"hostile programs run only in a sandbox: {found[1]}")
    before = {path: path.read_bytes() for path in (ROOT / "tests/02-context/06-threads.cpp", LESSON.folder / "solution.cpp")}
    with tempfile.TemporaryDirectory() as place, mock.patch.object(grade, "RESULTS", ROOT / "build" / "grade-hostile"), mock.patch.object(verdict, "LIMIT", 10):
        with mock.patch.dict(os.environ, DEVICE="simulator"):
            for student, (content, _, _) in HOSTILE.items():
                put(pathlib.Path(place), f"{student}/02-06.cpp", content.replace("@FOLDER@", place).replace("@ROOT@", str(ROOT)))
            submissions, _ = grade.collect(pathlib.Path(place), [])
            with Enclosure(
                [place, ROOT / "build/grade-hostile/known.json", LESSON.folder / "solution.cpp"], Limits(memory=900 * MEGABYTE), isolated=True
            ) as enclosed:
                graded = grade.Grading(pathlib.Path(place), submissions, [], enclosed, choose_device()).run(2)
        handed_in = {student: (pathlib.Path(place) / student / "02-06.cpp").exists() for student in HOSTILE}
    enclosure.remove(ROOT / "build" / "grade-hostile")
    yield {own[0].student: own[0] for own in graded}, handed_in, before


@pytest.mark.parametrize("student", HOSTILE)
def test_a_hostile_submission_is_graded_right(hostile_class, student):
    _, status, why = HOSTILE[student]
    submission = hostile_class[0][student]
    assert submission.status == status and why in submission.why, (submission.status, submission.why, submission.failures)


def test_the_mistake_is_named_although_the_submission_uses_other_names(hostile_class):
    submission = hostile_class[0]["bob"]
    assert submission.mistake == "null is set" and "cuCtxSetCurrent(nullptr) succeeds" in submission.explanation, submission


def test_a_hostile_class_has_harmed_nothing(hostile_class):
    _, handed_in, before = hostile_class
    assert all(handed_in.values()) and all(path.read_bytes() == content for path, content in before.items())
    mine = f"build/tests/{LESSON}/graded-"
    running = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if mine.encode() in nothing_or(path)]
    assert not running and not list((ROOT / "build" / "tests" / LESSON.name).glob("graded-*")), running
