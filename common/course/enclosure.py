"""Runs programs of strangers: what students hand in, and the compiler when it reads that.

With bubblewrap, a program sees the system read-only, has processes, a network and a /tmp of its own, and can write only to the folders that
it is given. Without, it is an ordinary process of ours. In both cases a supervisor limits time, memory and files, and the kernel the number of
its processes (bounds.py), for root, too. In the end everything that the program has started is stopped, which needs no new process.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pathlib
import resource
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from course import ROOT, bounds, fetch
from course.bounds import Bound, OtherUser

MEGABYTE = 1 << 20
LOOK = 0.08  # seconds between two looks at what a program uses
KEPT = 64 * 1024  # bytes of a program's output that are read
PR_SET_CHILD_SUBREAPER = 36


class Limits:
    """What a program may use. `processes` counts those that run at the same time."""

    def __init__(self, memory=3072 * MEGABYTE, file=64 * MEGABYTE, files=256 * MEGABYTE, processes=64):
        self.memory, self.file, self.files, self.processes = memory, file, files, processes


class Stopped(Exception):
    """The supervisor stopped a program: why, as in 'it used more than 3072 MB of memory'."""


def bubblewrap():
    """The path of a bwrap that works here, and otherwise None and the reason."""
    kept = fetch.kept("bubblewrap")
    program = shutil.which("bwrap") or (str(kept / "usr/bin/bwrap") if kept else None)
    if not program:
        return None, "bubblewrap is not installed. Type: sudo apt-get install bubblewrap"
    command = [program, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-all", "--die-with-parent", "true"]
    tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if tried.returncode:
        said = (tried.stderr.strip().splitlines() or ["it gives no reason"])[-1]
        return None, f"bubblewrap does not start here: {said.removeprefix('bwrap: ').partition('. See ')[0]}"
    return program, None


@functools.cache
def confining(program):
    """Words for a bubblewrap that can forbid namespaces of users; nothing for an old one."""
    words = ["--unshare-user", "--disable-userns"]
    tried = subprocess.run([program, *words, "--ro-bind", "/", "/", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return words if tried.returncode == 0 else []


def fetch_bubblewrap():
    """Fetches the distribution's package if the program is missing; without a network, nothing happens."""
    if not shutil.which("bwrap"):
        what = "bubblewrap, which isolates students' programs, is not installed. Fetching the distribution's package, for this course only (50 KB)."
        with contextlib.suppress(fetch.Missing):
            fetch.fetch("bubblewrap", 5, "bubblewrap", what, lambda part: fetch.debian(part, part.files, "bubblewrap"))


# ---- processes -----------------------------------------------------------------------------------------------------------


def children():
    """{process: its children} of all processes on this machine."""
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{entry.name}/stat", "rb") as about:
                    parent = int(about.read().rpartition(b")")[2].split()[1])
                found.setdefault(parent, []).append(int(entry.name))
    return found


def below(process):
    """All processes that a process has started, and those that they have started; the process itself comes first."""
    known, found = children(), [process]
    for each in found:
        found += known.get(each, [])
    return found


def memory_of(processes):
    """The memory that processes use together. What they share is counted once for each, so it is never less than they use."""
    used, page = 0, os.sysconf("SC_PAGE_SIZE")
    for process in processes:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/statm", "rb") as about:
            words = about.read().split()
            used += (int(words[1]) - int(words[2])) * page  # without the pages of files
    return used


def size_of(folder):
    """The bytes of all files below a folder; links are not followed."""
    total, folders = 0, [folder]
    while folders:
        with contextlib.suppress(OSError):
            for entry in os.scandir(folders.pop()):
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def marked(mark):
    """The processes that were started with this variable in their environment, also those whose parents have ended."""
    found = []
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark.encode() in pathlib.Path("/proc", entry.name, "environ").read_bytes():
                found.append(int(entry.name))
    return found


def give(folders, user, passed=()):
    """Makes a user the owner of folders and of what is in them, and lets it pass through others; links are not followed. None: nothing is to be done."""
    if user is None:
        return
    for folder in passed:
        os.chmod(folder, 0o711)
    for folder in folders:
        os.lchown(folder, user, -1)
        for place, names, files in os.walk(folder):
            for name in (*names, *files):
                path = os.path.join(place, name)
                with contextlib.suppress(OSError):
                    if name in names or os.lstat(path).st_nlink == 1:  # a file with another name may be someone else's
                        os.lchown(path, user, -1)


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", "rb") as about:
            return about.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def remove(folder):
    """Removes a folder whatever a program has made of it, also one without permissions or with very deep folders."""
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], stderr=subprocess.DEVNULL, check=False)
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], stderr=subprocess.DEVNULL, check=False)


# ---- the enclosure -------------------------------------------------------------------------------------------------------


def is_within(path, folder):
    return path == folder or folder in path.parents


def opened(path, home):
    """Words that make the folders above a path, so that another user may pass through them."""
    above = [folder for folder in reversed(path.parents) if is_within(folder, home) and folder != home]
    return [word for folder in above for word in ("--perms", "0755", "--dir", str(folder))]


class Enclosure:
    """Where programs run. `hidden`: folders and files that they must not read, such as other students' folders."""

    def __init__(self, hidden=(), limits=None, isolated=None, way=None):
        """isolated: False to do without bubblewrap; None to use it where it works. `way`: one of bounds, if not the first that works here."""
        self.program, self.why_not = bubblewrap() if isolated is not False else (None, "it was not asked for")
        if isolated and not self.program:
            raise Stopped(self.why_not)
        self.way, self.why_unbounded = (way, "") if way else bounds.way()
        if not self.program and not way and OtherUser.why_not() is None:
            self.way = OtherUser  # without a sandbox, root's programs could do anything
        self.limits, self.hidden = limits or Limits(), [pathlib.Path(path).resolve() for path in hidden]
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="graded-"))
        self.empty = self.scratch / "empty"
        self.empty.mkdir()
        os.chmod(self.empty, 0o755)
        if self.way is OtherUser and (why := self.why_closed()):
            self.way, self.why_unbounded = (bounds.Group, "") if bounds.Group.why_not() is None and not way else (None, why)
        with contextlib.suppress(OSError, AttributeError):  # what a program leaves behind becomes our child, not init's
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        remove(self.scratch)

    def describe(self):
        sandbox = "each in a sandbox (bubblewrap)" if self.program else f"without a sandbox: {self.why_not}"
        return f"{sandbox}; their processes are bounded by {self.way.name}" if self.way else f"{sandbox}; nothing bounds their processes: {self.why_unbounded}"

    def why_closed(self):
        """Why another user cannot read what programs need here; None if it can."""
        needed = [ROOT / "common" / "cu.hpp", pathlib.Path(sys.executable)]
        tried = self.run(["/bin/sh", "-c", 'for file in "$@"; do [ -r "$file" ] || exit 1; done', "sh", *needed], 10, pathlib.Path("/"))
        return "the course's folder, or Python, is closed to other users" if tried.returncode else None

    def command(self, words, writable, temporary, folder, bound):
        """`words` inside of bubblewrap, in `folder`; `writable` folders are at their own paths, and `temporary` is /tmp."""
        home = pathlib.Path(os.path.expanduser("~")).resolve()
        # A namespace of users would only know ours, and not the one that the program is to become.
        namespaces = ["--unshare-all"] if bound.uid is None else ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        command = [self.program, *namespaces, *self.confined(bound), "--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
        command += ["--proc", "/proc", "--dev", "/dev", "--bind", str(temporary), "/tmp", "--bind", str(temporary), "/dev/shm", "--remount-ro", "/dev"]
        if str(home) != "/" and home.is_dir():
            command += ["--tmpfs", str(home)]
            for path in self.needed():
                if is_within(path, home) and path != home and path.exists():
                    command += opened(path, home) if bound.uid is not None else []
                    command += ["--ro-bind", str(path), str(path)]
        if is_within(ROOT, pathlib.Path("/tmp")):
            command += ["--ro-bind", str(ROOT), str(ROOT)]
        for path in self.hidden:
            if path.is_dir():
                command += ["--ro-bind", str(self.empty), str(path)]
            elif path.exists():
                command += ["--ro-bind", "/dev/null", str(path)]
        for path in writable:
            command += ["--bind", str(path), str(path)]
        command += ["--remount-ro", str(home)] if "--tmpfs" in command else []
        becomes = []
        if bound.uid is not None:
            becomes = ["setpriv", f"--reuid={bound.uid}", f"--regid={bound.uid}", "--clear-groups", "--bounding-set=-all", "--no-new-privs", "--"]
        return [*command, "--chdir", str(folder), "--", *becomes, *map(str, words)]

    def confined(self, bound):
        """Without capabilities, not even in a namespace that it makes itself, a program cannot mount its control group and lift the bound."""
        if bound.uid is not None:  # setpriv needs them, and drops them
            return []
        return ["--cap-drop", "ALL", *confining(self.program)]

    def needed(self):
        """What programs read in the user's home: the course, downloads, Python, and what the links in build/ lead to."""
        links = [path.resolve() for path in (ROOT / "build").iterdir() if path.is_symlink()] if (ROOT / "build").is_dir() else []
        paths = [pathlib.Path(path) for path in os.environ.get("PATH", "").split(os.pathsep) if path]
        return [ROOT, *fetch.stores(), pathlib.Path(sys.base_prefix), pathlib.Path(sys.prefix), *links, *paths]

    def run(self, words, limit, folder, writable=(), environment=None):
        """Runs a program for at most `limit` seconds; returns how it ended, with the beginnings of its two outputs. Raises Stopped if it used
        too much, and subprocess.TimeoutExpired if it took too long."""
        temporary = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        inside = temporary / "tmp"
        inside.mkdir(mode=0o1777)
        bound = (self.way or Bound)(4 * self.limits.processes + 64, self.limits.memory + 256 * MEGABYTE)
        give([inside, *writable], bound.uid, [self.scratch, temporary])
        mark = f"ENCLOSED={secrets.token_hex(8)}"
        own = {
            **(environment or {}),
            "ENCLOSED": mark.partition("=")[2],
            "HOME": "/tmp" if self.program else str(inside),
            "TMPDIR": "/tmp" if self.program else str(inside),
        }
        command = self.command(words, writable, inside, folder, bound) if self.program else [str(word) for word in words]
        try:
            with open(temporary / "out", "wb") as out, open(temporary / "err", "wb") as err:
                running = subprocess.Popen(
                    command, cwd="/" if self.program else folder, env=own, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                    start_new_session=True, preexec_fn=self.limited(limit, bound),
                )  # fmt: skip
                try:
                    self.supervise(running, limit, [inside, *writable], bound)
                finally:
                    self.end(running, bound, mark)
            out, err = self.said(temporary)
            if self.program and running.returncode == 1 and err.startswith("bwrap: "):
                raise Stopped(f"the sandbox did not start: {err.splitlines()[0]}")
            by_signal = self.program and 128 < running.returncode < 128 + signal.NSIG  # bubblewrap reports signals as a shell does
            return subprocess.CompletedProcess(words, 128 - running.returncode if by_signal else running.returncode, out, err)
        except subprocess.TimeoutExpired as late:
            late.stdout, late.stderr = (text.encode() for text in self.said(temporary))
            raise
        finally:
            bound.close()
            give(writable, None if bound.uid is None else os.getuid())
            remove(temporary)

    def end(self, running, bound, mark):
        """Ends all of its processes. With bubblewrap, they are in a namespace of their own, whose first process takes all others with it."""
        killed = {*below(running.pid)} | bound.kill(running.pid)
        if bound.uid is None:
            killed |= bounds.kill_all(lambda: {each for each in {*below(running.pid), *marked(mark)} if each != os.getpid() and is_alive(each)})
        running.wait()
        bounds.reap(killed - {running.pid})

    def said(self, temporary):
        return tuple((temporary / name).read_bytes()[:KEPT].decode("utf-8", errors="replace") for name in ("out", "err"))

    def limited(self, limit, bound):
        """What the kernel enforces by itself, set in the new process."""
        enter = bound.limit if self.program and bound.uid is not None else bound.enter

        def in_the_new_process():
            bounds.lower(resource.RLIMIT_FSIZE, self.limits.file)
            bounds.lower(resource.RLIMIT_CORE, 0)
            bounds.lower(resource.RLIMIT_CPU, int(limit * os.cpu_count()) + 5)
            enter()

        return in_the_new_process

    def supervise(self, running, limit, written, bound):
        """Waits for the end, and looks at what all processes use together. Files are looked at less often, because there may be many."""
        begun, looks = time.monotonic(), 0
        while True:
            try:
                running.wait(LOOK)
                break
            except subprocess.TimeoutExpired:
                pass
            looks += 1
            processes = below(running.pid)
            if len(processes) > self.limits.processes or bound.is_full():
                raise Stopped(f"it ran more than {self.limits.processes} processes at the same time")
            if memory_of(processes) > self.limits.memory or bound.is_out_of_memory():
                raise Stopped(f"it used more than {self.limits.memory // MEGABYTE} MB of memory")
            if looks % 10 == 0:
                self.look_at_files(written)
            if time.monotonic() - begun > limit:
                raise subprocess.TimeoutExpired(running.args, limit)
        if bound.is_full():
            raise Stopped(f"it ran more than {self.limits.processes} processes at the same time")
        if bound.is_out_of_memory():
            raise Stopped(f"it used more than {self.limits.memory // MEGABYTE} MB of memory")
        self.look_at_files(written)
        if running.returncode in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
            raise Stopped(f"it wrote a file of more than {self.limits.file // MEGABYTE} MB")

    def look_at_files(self, written):
        if sum(size_of(folder) for folder in written) > self.limits.files:
            raise Stopped(f"it wrote more than {self.limits.files // MEGABYTE} MB of files")

    def runner(self):
        """run_limited() for cases.py: the program may write to the folder in which it runs, and to no other."""

        def run_enclosed(command, limit, cwd, env, **_):
            inside = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
            try:
                words = [str(word).replace(str(cwd), str(inside)) for word in command]
                environment = {name: value.replace(str(cwd), str(inside)) if name == "TOLD" else value for name, value in env.items()}
                return self.run(words, limit, inside, [inside], environment)
            finally:
                for name in ("report.xml", "told"):  # nothing else is taken out, and no link is followed
                    source = inside / name
                    with contextlib.suppress(OSError):
                        if stat.S_ISREG(os.lstat(source).st_mode):
                            shutil.copyfile(source, pathlib.Path(cwd) / name)
                remove(inside)

        return run_enclosed
