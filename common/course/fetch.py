"""Fetches what set-up did not find: without root, one thing at a time, and either whole or not at all.

A download is kept once per user, in ${XDG_CACHE_HOME:-~/.cache}/cuda-from-the-driver-up; where that cannot be written, in
build/downloads.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import glob
import itertools
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator

from course import ROOT

NO_ANSWER = re.compile(r"resolv|resolution|unreachable|connection|timed out|could not connect", re.IGNORECASE)
PAUSE = 600  # seconds until a program that reached no server is tried again
# Wait two seconds for a name server that does not respond; the C library would wait for ten.
IMPATIENT = {"RES_OPTIONS": "timeout:1 attempts:2", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


class Refused(Exception):
    """Nothing can be built here: a sentence for the user."""


class Missing(Exception):
    """Why something cannot be had, a clause without a period, and a better advice than the usual one."""

    def __init__(self, why: str, advice: str = ""):
        super().__init__(why)
        self.advice = advice


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)


say_once = functools.lru_cache(None)(say)


def attempt(name: str, find: Callable[[], dict[str, str]], advice: str) -> dict[str, str]:
    """What find() finds; or else the reason why not, which is said with the advice."""
    try:
        return find()
    except Missing as why:
        say(f"Note: {why}. {why.advice or advice}")
        return {f"WITHOUT_{name}": str(why)}


def link(name: str, target: str | os.PathLike[str]) -> str:
    """Makes build/<name> lead to the target; returns its path from the root."""
    path, new = ROOT / "build" / name, ROOT / "build" / f"{name}.{os.getpid()}"
    target = os.path.abspath(target)
    if target == str(path):  # CUDA_HOME=build/toolkit, for example
        target = os.path.realpath(path)
    try:
        os.symlink(target, new)
        os.replace(new, path)
    except OSError as problem:  # a file system without links
        if re.fullmatch(r"[\w./+-]+", target):
            return target
        raise Refused(f"Cannot create build/{name} as a link to {target}: {problem.strerror}. Move the course to a file system that supports links.") from None
    return f"build/{name}"


def output(*command: object) -> str:
    """What a command prints; nothing if it fails."""
    try:
        ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return ran.stdout


def free_megabytes(folder: pathlib.Path) -> int:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize >> 20


def stores() -> list[pathlib.Path]:
    """Where downloads are kept, the first choice first."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME") and os.environ["HOME"] + "/.cache"
    shared = [pathlib.Path(cache).absolute() / "cuda-from-the-driver-up"] if cache else []
    return [*shared, ROOT / "build" / "downloads"]


def kept(name: str) -> pathlib.Path | None:
    """The folder of an earlier download."""
    return next((store / name for store in stores() if (store / name).is_dir()), None)


def store_for(megabytes: int) -> pathlib.Path:
    """The first store that can be written and has room."""
    why = []
    for store in stores():
        try:
            store.mkdir(parents=True, exist_ok=True)
            with open(store / "lock", "a"):
                free = free_megabytes(store)
        except OSError as problem:
            why.append(f"cannot write to {store} ({problem.strerror})")
            continue
        if free >= megabytes:
            return store
        why.append(f"{store} has {free} MB free, but {megabytes} MB are needed")
    raise Missing("; ".join(why) + "; make … XDG_CACHE_HOME=/another/folder chooses another place")


def offline() -> bool:
    """Has this machine no route to anywhere? Then pip and apt-get would search for a network for half a minute each."""
    if any(os.environ.get(name) for kind in ("http", "https", "all") for name in (f"{kind}_proxy", f"{kind}_proxy".upper())):
        return False
    for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # sends nothing
            return False
    return True


def unreachable() -> list[str]:
    """The programs that reached no server in the last minutes, in this run or an earlier one: build/unreachable names them."""
    mark = ROOT / "build" / "unreachable"
    with contextlib.suppress(OSError):
        if abs(time.time() - mark.stat().st_mtime) < PAUSE:
            return mark.read_text(encoding="utf-8").split()
        mark.unlink()
    return []


@contextlib.contextmanager
def locked(file: pathlib.Path, waiting: str) -> Iterator[None]:
    """One process at a time."""
    with open(file, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(name: str, megabytes: int, what: str, announcement: str, fill: Callable[[Part], None]) -> pathlib.Path:
    """The folder of an earlier download, or of a new one that fill() does; `megabytes` is the room that it takes."""
    if folder := kept(name):
        return folder
    try:
        store = store_for(megabytes)
        with locked(store / "lock", "Another make is fetching something; waiting for it."):
            for rest in store.glob("part.*"):  # of a process that was killed
                shutil.rmtree(rest, ignore_errors=True)
            temporary = tempfile.mkdtemp(prefix="part.", dir=store)
            try:
                if not (store / name).is_dir():
                    part = Part(temporary, announcement)
                    fill(part)
                    os.rename(part.files, store / name)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except (Missing, OSError) as why:
        if unreachable():
            say_once(f"The package servers did not respond. The next try is in {PAUSE // 60} minutes, or at once after: rm build/unreachable")
        raise Missing(f"there is no {what}, and it could not be fetched: {why}") from None
    say(f"It is in {store / name}.")
    return store / name


class Part:
    """A download in progress: what will be kept is in `files`, everything else in `temporary`."""

    def __init__(self, folder: str, announcement: str = ""):
        self.files, self.temporary, self.announcement = pathlib.Path(folder, "files"), pathlib.Path(folder, "tmp"), announcement
        self.files.mkdir()
        self.temporary.mkdir()
        self.begun, self.downloaded = time.monotonic(), 0

    def run(self, *command: object, **environment: str) -> None:
        """Runs a command with its output in the log, and reports progress; raises Missing if it fails."""
        program = "pip" if "pip" in command else os.path.basename(str(command[0]))
        if program in unreachable() or offline():
            raise Missing("the package servers cannot be reached")
        if self.announcement:
            say(self.announcement)
        self.announcement, log_file = "", self.files.with_name(f"{program}.log")
        environment = {**IMPATIENT, **os.environ, "TMPDIR": str(self.temporary), **environment}
        every, end = (1, "\r") if sys.stderr.isatty() else (15, "\n")
        with open(log_file, "ab") as log:
            running = subprocess.Popen([str(word) for word in command], cwd=self.temporary, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)  # fmt: skip
        try:
            while running.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(every)
                    break
                say(self.progress(), end)
        finally:  # an interruption ends every process that the command has started
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        if running.returncode != 0:
            said = log_file.read_text(encoding="utf-8", errors="replace")  # of all its runs: apt-get update succeeds even if no server responds
            if NO_ANSWER.search(said):
                with contextlib.suppress(OSError), open(ROOT / "build" / "unreachable", "a", encoding="utf-8") as mark:
                    mark.write(f"{program}\n")
                raise Missing("the package servers cannot be reached")
            raise Missing(next((line.strip() for line in reversed(said.splitlines()) if line.strip()), f"{program} failed"))

    def progress(self) -> str:
        """Downloaded and unpacked apart: both are on the disk until everything is unpacked, and pip removes the first at the end."""
        self.downloaded = max(self.downloaded, megabytes_in(self.temporary.glob("pip-unpack-*"), self.temporary.glob("*.deb")))
        unpacked = megabytes_in(self.temporary.glob("pip-target-*"), [self.files])
        seconds = time.monotonic() - self.begun
        return f"  still fetching: {seconds:.0f} s, {self.downloaded} MB downloaded, {unpacked} MB unpacked"


def megabytes_in(*lists: Iterable[pathlib.Path]) -> int:
    tops = list(itertools.chain(*lists))
    inside = (pathlib.Path(folder, file) for top in tops for folder, _, files in os.walk(top) for file in files)
    sizes = 0
    for file in itertools.chain(tops, inside):
        with contextlib.suppress(OSError):  # pip has removed it
            sizes += os.lstat(file).st_size
    return sizes >> 20


def has_pip() -> bool:
    return bool(output(sys.executable, "-c", "import pip; print('yes')"))


def pip(part: Part, *words: object) -> None:
    """Installs packages into part.files, on machines without pip, too: Debian's Python comes without it."""
    mine = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}  # not what a user has configured for packages of his own
    if not has_pip():
        store = part.files.parents[1]
        folders = [os.path.dirname(os.__file__) + "/ensurepip/_bundled", "/usr/share/python-wheels", store]
        wheel = next((wheel for folder in folders for wheel in glob.glob(f"{folder}/pip-*.whl")), "")
        if not wheel:
            debian(part, part.temporary / "pip", "python3-pip-whl")
            (unpacked,) = (part.temporary / "pip").glob("usr/share/python-wheels/pip-*.whl")
            wheel = str(shutil.move(str(unpacked), store))  # for the next download
        mine["PYTHONPATH"] = wheel
    part.run(sys.executable, "-m", "pip", "install", "--only-binary=:all:", "--no-cache-dir", "--retries", 1, "--target", part.files, *words, **mine)


def debian(part: Part, folder: pathlib.Path, *packages: str) -> None:
    """Unpacks Debian packages into a folder, which needs no root."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise Missing("there is no apt-get on this machine")
    apt_get = ["apt-get", "-q", "-o", "Acquire::Retries=1", "-o", "Acquire::EnableSrvRecords=false"]  # each name is looked up twice at most
    try:
        part.run(*apt_get, "download", *packages)
    except Missing:  # the machine's lists of packages are missing or old, as in a bare container
        if offline() or "apt-get" in unreachable():
            raise
        for own in ("lists/partial", "cache/archives/partial"):
            (part.temporary / own).mkdir(parents=True, exist_ok=True)
        settings = [f"Dir::State::lists={part.temporary}/lists", f"Dir::Cache={part.temporary}/cache", "Debug::NoLocking=true", "APT::Sandbox::User="]
        options = [word for setting in settings for word in ("-o", setting)]
        part.run(*apt_get, *options, "update")
        part.run(*apt_get, *options, "download", *packages)
    for package in part.temporary.glob("*.deb"):
        part.run("dpkg", "-x", package, folder)
        package.unlink()
