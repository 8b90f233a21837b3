"""Bounds for a program that may start processes without end: how many there may be at a time, and an end for all of them at once.

Ending them needs no new process, because there may be no room for one. There are three ways, and the first that works on this machine is taken:

Group       a control group of its own (version 2 or 1). It holds for every user who may make one, root included, and bounds memory, too.
OtherUser   for root: a user of its own, who may have so many processes. The kernel does not count root's.
UserLimit   for everyone else: the kernel counts this user's processes.

Each is tried before it is trusted: a program that may have one process must fail to start a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import pathlib
import pwd
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

OF_LEARNERS = 1000  # threads of a learner's own program, at most
NUMBERS = itertools.count()
LIBC = ctypes.CDLL(None)
PR_SET_NO_NEW_PRIVS = 38


class Bound:
    """What bounds one program. `tasks`: how many processes and threads it may have at a time."""

    name = ""
    uid: int | None = None  # the user that the program becomes; None: it stays ours

    def __init__(self, tasks: int, memory: int | None = None):
        self.tasks, self.memory = tasks, memory

    def enter(self) -> None:
        """In the new process, before it becomes the program."""

    def is_full(self) -> bool:
        """Has the program tried to have more processes than it may? False where that is not known."""
        return False

    def is_out_of_memory(self) -> bool:
        return False

    def kill(self, process: int) -> set[int]:
        """Kills the program, the leader of a process group, and all that it has started. Returns those that it knows of."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        return set()

    def close(self) -> None:
        """When all of them have ended."""


def kill_all(find: Callable[[], set[int]]) -> set[int]:
    """Kills all processes that `find` finds, and returns them. They are stopped first: a stopped process counts, but starts none, so none can take
    its place."""
    stopped: set[int] = set()
    for _ in range(200):
        running = find() - stopped
        if not running:
            break
        send(signal.SIGSTOP, running)
        stopped |= running
    send(signal.SIGKILL, stopped)
    return stopped


def reap(processes: set[int], seconds: float = 5) -> None:
    """Of processes that were killed, forgets those that have become our children because their parents ended. Until then, each counts."""
    end = time.monotonic() + seconds
    while processes and time.monotonic() < end:
        for process in list(processes):
            try:
                ended = os.waitpid(process, os.WNOHANG)[0]
            except ChildProcessError:
                ended = not os.path.exists(f"/proc/{process}")
            if ended:
                processes.discard(process)
        time.sleep(0.005 if processes else 0)


def send(number: int, processes: set[int]) -> None:
    for process in processes - {os.getpid()}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


# ---- control groups ------------------------------------------------------------------------------------------------------


def mounted(kind: str, controller: str = "") -> tuple[pathlib.Path, str] | None:
    """Where a hierarchy of control groups is mounted, and which part of it; None if it is not."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        filesystem, _, options = after.split(" ", 2)
        if filesystem == kind and (not controller or controller in options.split(",")):
            return pathlib.Path(before.split()[4]), before.split()[3]
    return None


def own_group(kind: str, controller: str = "") -> pathlib.Path | None:
    """The folder of the control group that this process is in."""
    found = mounted(kind, controller)
    pattern = rf"^\d+:(?:[^:\n]*,)?{controller}(?:,[^:\n]*)?:(/.*)$" if controller else r"^0::(/.*)$"
    named = re.search(pattern, pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8"), re.MULTILINE)
    if not found or not named or named[1].startswith("/.."):
        return None
    inside = os.path.relpath(named[1], found[1]) if named[1].startswith(found[1]) else "."
    return pathlib.Path(os.path.normpath(found[0] / inside))


def parents_of_groups() -> Iterator[list[pathlib.Path]]:
    """Folders in which a control group may be made: of version 2, beside our own group or in it; of version 1, in our own of each hierarchy."""
    if own := own_group("cgroup2"):
        for parent in (own, own.parent):
            with contextlib.suppress(OSError):
                control = parent / "cgroup.subtree_control"
                if "pids" not in control.read_text(encoding="utf-8").split() and parent == own:
                    control.write_text("+pids", encoding="utf-8")  # refused in a group that has processes of its own
                    control.write_text("+memory", encoding="utf-8")
                if "pids" in control.read_text(encoding="utf-8").split():
                    yield [parent]
    if pids := own_group("cgroup", "pids"):
        yield [pids, *filter(None, [own_group("cgroup", "memory")])]


class Group(Bound):
    name = "a control group"
    parents: list[pathlib.Path] = []  # found by why_not()

    def __init__(self, tasks: int, memory: int | None = None):
        super().__init__(tasks, memory)
        name = f"course-{os.getpid()}-{next(NUMBERS)}"
        self.folders = [parent / name for parent in self.parents]
        for folder in self.folders:
            folder.mkdir(exist_ok=True)  # a process that had our number, and was killed, may have left it
            self.write(folder, "pids.max", tasks)
            if memory:
                self.write(folder, "memory.max", memory)
                self.write(folder, "memory.swap.max", 0)
                self.write(folder, "memory.limit_in_bytes", memory)

    @staticmethod
    def write(folder: pathlib.Path, name: str, value: int) -> None:
        with contextlib.suppress(OSError):
            if (folder / name).exists():
                (folder / name).write_text(str(value), encoding="ascii")

    def enter(self) -> None:
        for folder in self.folders:
            control = os.open(folder / "cgroup.procs", os.O_WRONLY)
            os.write(control, b"0")
            os.close(control)

    def events(self, name: str, event: str) -> int:
        counted = 0
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found = re.search(rf"^{event} (\d+)", (folder / name).read_text(encoding="ascii"), re.MULTILINE)
                counted += int(found[1]) if found else 0
        return counted

    def is_full(self) -> bool:
        with contextlib.suppress(OSError, ValueError):
            if int((self.folders[0] / "pids.current").read_text(encoding="ascii")) >= self.tasks:
                return True
        return self.events("pids.events", "max") > 0

    def is_out_of_memory(self) -> bool:
        return self.events("memory.events", "oom_kill") + self.events("memory.oom_control", "oom_kill") > 0

    def processes(self) -> set[int]:
        with contextlib.suppress(OSError):
            return {int(line) for line in (self.folders[0] / "cgroup.procs").read_text(encoding="ascii").split()} - {0}
        return set()

    def kill(self, process: int) -> set[int]:
        self.write(self.folders[0], "pids.max", 0)  # from now on, none starts another
        killed = self.processes()
        super().kill(process)
        self.write(self.folders[0], "cgroup.kill", 1)
        end = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < end:
            send(signal.SIGKILL, left)
            time.sleep(0.005)
        return killed

    def close(self) -> None:
        end = time.monotonic() + 2
        for folder in self.folders:
            while folder.exists() and time.monotonic() < end:
                try:
                    folder.rmdir()
                except OSError:
                    time.sleep(0.005)

    @classmethod
    def why_not(cls) -> str | None:
        for cls.parents in parents_of_groups():
            if holds(cls):
                return None
        return "no control group can be made here"


# ---- limits of a user ----------------------------------------------------------------------------------------------------


def lower(which: int, value: int) -> None:
    _, most = resource.getrlimit(which)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(which, (value, value))


class OtherUser(Bound):
    """A user that no one has. The program cannot read what is closed to other users."""

    name = "a user of its own"

    def __init__(self, tasks: int, memory: int | None = None):
        super().__init__(tasks, memory)
        self.uid: int = free_user()

    def enter(self) -> None:
        self.limit()
        os.setgroups([])
        os.setresgid(self.uid, self.uid, self.uid)
        os.setresuid(self.uid, self.uid, self.uid)
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # no program makes it another user

    def limit(self) -> None:
        """Without becoming that user yet."""
        lower(resource.RLIMIT_NPROC, self.tasks)

    def kill(self, process: int) -> set[int]:
        super().kill(process)
        return kill_all(lambda: processes_of(self.uid))

    @classmethod
    def why_not(cls) -> str | None:
        if os.geteuid() != 0:
            return "only root can start programs as another user"
        return None if holds(cls) else "root may not start programs as another user here"


def free_user() -> int:
    """A number of a user that has no name, no processes, and that this namespace knows."""
    maps = [line.split() for line in pathlib.Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    first, count = max(((int(inside), int(length)) for inside, _, length in maps), key=lambda each: each[1])
    lowest, choice = (10**9, 10**9) if count > 2 * 10**9 else (first + count // 2, max(1, count // 2 - 2))
    for place in itertools.count(os.getpid() * 64 + next(NUMBERS)):
        number = lowest + place % choice
        with contextlib.suppress(KeyError):
            pwd.getpwuid(number)
            continue
        if number not in (0, 65534) and not processes_of(number):
            return number
    raise AssertionError


def processes_of(user: int | None) -> set[int]:
    found = set()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                with open(f"/proc/{entry.name}/status", encoding="utf-8", errors="replace") as about:
                    status = about.read()
                if re.search(rf"^Uid:\t{user}\t", status, re.MULTILINE) and not re.search(r"^State:\t[ZX]", status, re.MULTILINE):
                    found.add(int(entry.name))
    return found


class UserLimit(Bound):
    name = "a limit for this user"

    def __init__(self, tasks: int, memory: int | None = None):
        super().__init__(tasks, memory)
        self.most = threads_of_user() + tasks if tasks > 1 else 1  # 1: the trial

    def enter(self) -> None:
        lower(resource.RLIMIT_NPROC, self.most)

    @classmethod
    def why_not(cls) -> str | None:
        return None if holds(cls) else "the kernel does not limit this user's processes"


def threads_of_user() -> int:
    """How many threads this user has: the kernel's limit counts these."""
    total, user = 0, os.getuid()
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                total += len(os.listdir(f"/proc/{entry.name}/task"))
    return total


# ---- which of them -------------------------------------------------------------------------------------------------------


def holds(way: type[Bound]) -> bool:
    """Can a program start under it, and not start another if it may have one process?"""
    return ends_well(way, 8) and not ends_well(way, 1)


def ends_well(way: type[Bound], tasks: int) -> bool:
    """Does a shell start another process, under this bound?"""
    try:
        bound = way(tasks)
    except OSError:
        return False
    try:
        shell = ["/bin/sh", "-c", "(exit 0); exit $?"]
        tried = subprocess.Popen(
            shell, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=bound.enter
        )
        return tried.wait(10) == 0
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        bound.close()


@functools.cache
def way() -> tuple[type[Bound] | None, str]:
    """The first way that works here; None and the reasons if none does."""
    reasons = []
    for each in (Group, OtherUser, UserLimit):
        reason = each.why_not()
        if not reason:
            return each, ""
        reasons.append(reason)
    return None, ", ".join(reasons)


# ---- the learner's own programs ------------------------------------------------------------------------------------------


class Watched(Bound):
    """For root where no control group can be made: as another user, a learner's program could not read the learner's files. It is watched, and
    ended together if it has too many processes. A program that leaves its process group on purpose escapes; one that does so by mistake is rare."""

    name = "looking at it"

    def __init__(self, tasks: int, memory: int | None = None):
        super().__init__(tasks, memory)
        self.before, self.process = threads_of_machine(), 0

    def is_full(self) -> bool:
        return threads_of_machine() - self.before > self.tasks and self.size_of_group() > self.tasks

    def size_of_group(self) -> int:
        count = 0
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    count += os.getpgid(int(entry.name)) == self.process
        return count


def threads_of_machine() -> int:
    return int(pathlib.Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])


@functools.cache
def way_for_learners() -> type[Bound]:
    if Group.why_not() is None:
        return Group
    return UserLimit if os.geteuid() and UserLimit.why_not() is None else Watched
