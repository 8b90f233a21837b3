"""Calls make again, with the files that are to be built. make knows how, and which of them are out of date."""

import os
import re
import subprocess

from course import ROOT
from course.lessons import is_python, lessons
from course.possible import setup, why_not

SIMULATOR = "build/simulator/libcuda.so"
RUNTIME = "build/runtime/libcudart.so"  # for programs of the user's own
# The simulator's own Makefile is always called for these, so `make -q` cannot tell whether they are out of date.
DELEGATED = (SIMULATOR, RUNTIME, "build/tests/simulator/check")
# What make tells the programs that it starts. A make that is to behave as if a person had typed it gets none of it.
FROM_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "INSIDE", "IN", "HERE", "ARGS")


def make_flags():
    """The flags that make was given, like ['kn', '-j2', '--no-print-directory']; one-letter flags come first, without a dash."""
    return os.environ.get("MAKEFLAGS", "").split(" -- ")[0].split()


def is_dry_run():
    """Was make called with -n? Then nothing is fetched, built, run or written."""
    return any("n" in word for word in make_flags()[:1] if not word.startswith("-"))


def given_variables():
    """The names of the variables that were set on make's command line."""
    return re.findall(r"(?:^|(?<!\\) )([A-Za-z_]\w*)=", os.environ.get("MAKEFLAGS", "").partition("-- ")[2])


def as_typed():
    """The environment for a make that does not know that another make has started it."""
    return {name: value for name, value in os.environ.items() if name not in FROM_MAKE}


def compiler():
    return setup().get("CXX_INSTEAD") or os.environ.get("CXX") or "g++"


def call(words, **how):
    """Runs make in the root, for files: CXX is always given, and without -j all cores work."""
    jobs = [] if any(word.startswith("-j") for word in make_flags()) else [f"-j{len(os.sched_getaffinity(0))}"]
    command = [os.environ.get("MAKE_COMMAND", "make"), "--no-print-directory", "--output-sync=target", *jobs, f"CXX={compiler()}", *words]
    # LC_ALL=C: what make and the compilers say is English. close_fds=False: the outer make's job slots come through open files.
    environment = dict(os.environ, INSIDE="1", LC_ALL="C.UTF-8")
    environment.pop("CDPATH", None)
    return subprocess.run(command, cwd=how.pop("folder", ROOT), env=environment, text=True, errors="replace", close_fds=False, check=False, **how)


def build(targets, show_commands=False):
    """Builds files for a person who waits for them; true if all could be built. Shows progress, or the commands of a single lesson."""
    if not targets:
        return True
    quiet = [] if show_commands or os.environ.get("V") else ["QUIET=yes"]
    return call(["wanted", f"WANTED={' '.join(targets)}", *quiet]).returncode == 0


def program_targets(lesson):
    """What make has to build before the lesson's program can run; nothing if it cannot run here."""
    return [] if why_not(lesson) else targets_in(f"build/{lesson}", lesson)


def targets_in(folder, lesson):
    """The program of a lesson, or of an edited copy of it, that is built in `folder`."""
    if is_python(lesson):
        return [f"{folder}/ready"]
    return [f"{folder}/main"] + ([f"{folder}/kernels.ptx"] if (ROOT / lesson / "kernels.cu").exists() else [])


def lesson_of(target):
    """The lesson that a file below build/ belongs to, or None."""
    return next((lesson for lesson in lessons() if f"/{lesson}/" in f"/{target}"), None)


class Build:
    """Many targets, as many of them as can be built. Progress goes to the terminal; what the compilers say is kept."""

    def __init__(self, targets):
        self.failed, self.said, self.status = set(), "", 0
        if not targets:
            return
        quiet = [] if os.environ.get("V") else ["QUIET=yes"]
        built = call(["-k", "wanted", f"WANTED={' '.join(targets)}", *quiet], stderr=subprocess.PIPE)
        self.said, self.status = built.stderr, built.returncode
        if built.returncode != 0:
            self.failed = set(out_of_date([target for target in targets if target not in DELEGATED]))
            for target in DELEGATED:
                if target in targets and call([target, "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
                    self.failed.add(target)

    def complaint(self, target):
        """What the compilers say about a target that failed: it is built again, alone."""
        again = call([target, "QUIET=yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return without_make(again.stderr) or f"the build failed without a message: make {target}"


def without_make(said):
    """What compilers and linkers said, without make's own lines."""
    return "\n".join(line for line in said.splitlines() if "No rule to make target" in line or not re.match(r"make(\[\d+\])?: ", line))


def out_of_date(targets):
    """The targets that make would still have to build, found by halves."""
    asked = call(["-q", "-o", SIMULATOR, *targets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if asked.returncode == 0:
        return []
    if len(targets) == 1:
        return targets
    middle = len(targets) // 2
    return out_of_date(targets[:middle]) + out_of_date(targets[middle:])
