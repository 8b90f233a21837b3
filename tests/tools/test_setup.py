"""Tests of set-up: what it finds on made-up machines, what it fetches from made-up servers, and what it says if that fails."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from unittest import mock

import pytest

from course import ROOT, environment, facts, fetch, setup

NVCC = "#!/bin/sh\n"
LISTS = "echo compute_75\n"
BY_NVRTC = 'case $1 in --version) echo "NVRTC in the place of nvcc, release 12.4" ;; *) echo compute_75 ;; esac\n'
# Commands that a machine needs beside those that a test makes up.
SYSTEM = ("sh", "env", "g++", "as", "ld", "cc1plus", "collect2", "uname", "sed", "make", "ldconfig", "dpkg", "mkdir", "touch", "sleep", "cp")


# Whatever this machine has in /usr/local/cuda.
PYTHON = getattr(sys, "_base_executable", sys.executable)  # not the course's environment, in which the tests run
SET_UP = [PYTHON, "-c", "import sys; from course import setup; setup.INSTALLED = []; sys.exit(setup.main(sys.argv[1:]))"]


class House:
    """A course of its own, in a folder: common/ is linked, build/ is empty. Commands are run as on a bare machine."""

    def __init__(self, folder):
        self.folder, self.root, self.bin = pathlib.Path(folder), pathlib.Path(folder) / "course", pathlib.Path(folder) / "bin"
        self.cache = self.folder / "cache" / "cuda-from-the-driver-up"
        self.root.mkdir()
        self.bin.mkdir()
        for name in ("common", *(path.name for path in ROOT.glob("0?-*"))):
            (self.root / name).symlink_to(ROOT / name)
        for name in SYSTEM:
            if shutil.which(name):
                (self.bin / name).symlink_to(shutil.which(name))
        self.command("python3", f'exec {PYTHON} "$@"\n')
        self.environment = {"PATH": str(self.bin), "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPATH": "common"}

    def command(self, name, script):
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text("#!/bin/sh\n" + script)
        (self.bin / name).chmod(0o755)

    def toolkit(self, place, nvcc=LISTS, version=12040):
        home = self.folder / place
        for file, content in {"include/cuda.h": f"#define CUDA_VERSION {version}\n", "bin/nvcc": NVCC + nvcc}.items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(content)
        (home / "bin/nvcc").chmod(0o755)
        return home

    def set_up(self, *needs, **environment):
        return subprocess.run([*SET_UP, *needs], cwd=self.root, env={**self.environment, **environment}, capture_output=True, text=True, check=False)

    def found(self):
        return dict(line.split(" = ", 1) for line in (self.root / "build/setup.mk").read_text().splitlines())

    def packages(self, script):
        """A pip that does what the script says instead; $target is the folder to fill, and the arguments are in "$@"."""
        package = self.folder / "python" / "pip"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(
            f"import subprocess, sys; sys.exit(subprocess.run(['sh', '-c', {FIND_TARGET + script!r}, 'pip', *sys.argv[1:]]).returncode)\n"
        )
        self.environment["PYTHONPATH"] = f"common:{package.parent}"


FIND_TARGET = 'for word in "$@"; do [ "$last" = --target ] && target=$word; last=$word; done\n'
# A toolkit, as NVIDIA's wheels unpack it.
WHEELS = 'mkdir -p $target/nvidia/cu13/include $target/nvidia/cu13/bin; echo "#define CUDA_VERSION 13000" > $target/nvidia/cu13/include/cuda.h\n'


@pytest.fixture(name="house")
def a_house():
    with tempfile.TemporaryDirectory() as folder:
        yield House(folder)


def nothing_half_made(house):
    rest = [path.name for store in (house.cache, house.root / "build/downloads") if store.is_dir() for path in store.iterdir()]
    return set(rest) <= {"lock"} and not list((house.root / "build").glob("setup.mk*"))


# ---- what is here


@pytest.mark.parametrize("place", ["toolkit", "tool kit", "a $b #c", "$HOME/o'clock", "per%cent \\back"])
def test_a_toolkit_may_be_where_make_and_the_shell_read_something_else(house, place):
    home = house.toolkit(place)
    ended = house.set_up(CUDA_HOME=str(home))
    assert ended.returncode == 0, ended.stderr
    makefile = "include build/setup.mk\n$(foreach name,NVCC CUDA_INCLUDE CUDA_VERSION,$(info $($(name))))\nall: ; @ls $(NVCC)\n"
    by_make = subprocess.run(
        ["make", "-f", "-", "-s"], cwd=house.root, input=makefile, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}
    )
    found = house.found()
    assert by_make.stdout.split() == [found["NVCC"], found["CUDA_INCLUDE"], "12040", found["NVCC"]]
    assert os.path.samefile(house.root / found["CUDA_INCLUDE"], home / "include")
    assert {*"".join(found.values())} & {*"$#\\'\"`()&|<>;*?[]{}!~%"} == set()


def test_every_name_is_in_the_result_and_the_next_run_changes_nothing(house):
    home = house.toolkit("toolkit")
    house.set_up(CUDA_HOME=str(home))
    assert list(house.found()) == setup.NAMES
    before = (house.root / "build/setup.mk").stat()
    house.command("g++", "exit 1\n")  # would be noticed, if it was asked
    os.utime(house.bin / "g++", ns=(0, 0))
    (house.bin / "g++").unlink()
    (house.bin / "g++").symlink_to(shutil.which("g++"))
    assert house.set_up(CUDA_HOME=str(home)).stderr == "" and (house.root / "build/setup.mk").stat().st_mtime_ns == before.st_mtime_ns


def test_another_toolkit_is_noticed(house):
    for place, version in (("one", 12040), ("other", 12080)):
        house.set_up(CUDA_HOME=str(house.toolkit(place, version=version)))
        assert house.found()["CUDA_VERSION"] == str(version) and house.found()["TOOLKIT"].endswith(place)


def test_the_toolkit_may_be_named_by_the_link_that_leads_to_it(house):
    home = house.toolkit("one")
    house.set_up(CUDA_HOME=str(home))
    ended = house.set_up(CUDA_HOME=str(house.root / "build/toolkit"))
    assert ended.returncode == 0 and os.path.samefile(house.root / "build/toolkit", home), ended.stderr


def test_a_toolkit_without_a_whole_nvcc_is_told_apart(house):
    house.set_up(CUDA_HOME=str(house.toolkit("cuda", BY_NVRTC)))
    assert "the wheels of CUDA 12 have no nvcc" in house.found()["WITHOUT_HOST_NVCC"]
    house.set_up(CUDA_HOME=str(house.toolkit("whole")))
    assert house.found()["WITHOUT_HOST_NVCC"] == ""


def test_a_toolkit_without_nvcc_has_headers_only(house):
    house.set_up(CUDA_HOME=str(house.toolkit("cuda", "exit 127\n")))
    assert (house.found()["NVCC"], house.found()["CUDA_INCLUDE"]) == ("", "build/toolkit/include")


@pytest.mark.parametrize(("wish", "said"), [("13.0", "Note: the toolkit in {home}, CUDA 12.4, is used"), ("12.4", ""), ("", "")])
def test_a_version_for_a_private_toolkit_does_not_apply_to_one_that_is_here(house, wish, said):
    home = house.toolkit("cuda")
    ended = house.set_up(CUDA_HOME=str(home), TOOLKIT_VERSION=wish)
    expected = said.format(home=home)
    assert ended.stderr[: len(expected) or None] == expected


def driver(version, name="NVIDIA H200"):
    return mock.patch("course.device.probe", lambda *_: (0, 1, version, name))


@pytest.mark.parametrize(
    ("supports", "has", "said"),
    [
        (12080, 13000, "is CUDA 13.0, and this driver loads kernels up to CUDA 12.8"),
        (12080, 12090, "is CUDA 12.9, and this driver loads kernels up to CUDA 12.8"),
        (13000, 13000, ""),
        (13000, 12080, ""),
        (13000, 11080, "is CUDA 11.8, and the course needs 12.0"),
    ],
)
def test_a_toolkit_that_does_not_suit_the_driver_is_not_used(house, supports, has, said, capsys):
    with driver(supports), mock.patch.object(fetch, "ROOT", house.root), mock.patch.object(setup, "private_toolkit", lambda version: {"private": version}):
        with mock.patch.dict(os.environ, {"PATH": f"{house.toolkit('cuda', version=has)}/bin:{house.bin}", "CUDA_HOME": "", "TOOLKIT_VERSION": ""}):
            (house.root / "build").mkdir(exist_ok=True)
            found = setup.find_toolkit()
    assert said in capsys.readouterr().err
    assert found.get("private") == ({12080: "12.8", 13000: "13.0"}[supports] if said else None)


def test_a_driver_that_is_too_old_for_any_toolkit_is_told(house):
    with driver(11080), mock.patch.object(fetch, "ROOT", house.root), mock.patch.dict(os.environ, {"PATH": str(house.bin), "CUDA_HOME": ""}):
        with mock.patch.object(setup, "look_at_toolkit", lambda root: {}), pytest.raises(fetch.Missing, match="is for CUDA 11.8, but the course needs 12.0"):
            setup.find_toolkit()


ONLY_STATIC = 'case $1 in -print-file-name=*) echo "${1#*=}";; *) exec g++ "$@";; esac\n'


def test_a_compiler_without_a_shared_library_is_not_used_for_pytorch(house):
    house.command("c++", ONLY_STATIC)
    ended = house.set_up(CXX=str(house.bin / "c++"), CUDA_HOME=str(house.toolkit("cuda")))
    assert f"Note: {house.bin}/c++ has no shared libstdc++" in ended.stderr and "is used instead" in ended.stderr, ended.stderr
    assert house.found()["CXX_INSTEAD"] == str(house.bin / "g++")


def python_key(house):
    house.set_up(CUDA_HOME=str(house.toolkit("cuda")))
    return house.found()["PYTHON_KEY"]


def test_pytorch_stays_found_when_a_terminal_has_another_compiler_or_toolkit(house):
    home = house.toolkit("cuda")
    (house.root / "build/python/bin").mkdir(parents=True)
    (house.root / "build/python/bin/python3").touch()
    torch = house.folder / "torch"
    torch.mkdir()
    (torch / "__init__.py").touch()
    (house.root / "build/torch").symlink_to(torch)
    for key, kept in ((python_key(house), "2.13"), ("another", "")):
        lines = {"KEY": "another", "PYTHON_KEY": key, "PYTHON": "build/python/bin/python3", "TORCH": "2.13", "TORCH_ROOT": "build/torch"}
        (house.root / "build/setup.mk").write_text("".join(f"{name} = {value}\n" for name, value in lines.items()))
        house.set_up(CUDA_HOME=str(home))
        assert house.found()["TORCH"] == kept, key


def test_on_a_file_system_without_links_plain_paths_are_used_as_they_are(house):
    plain, special = house.toolkit("cuda"), house.toolkit("tool kit")
    with mock.patch("os.symlink", side_effect=PermissionError(1, "Operation not permitted")):
        assert fetch.link("toolkit", plain) == str(plain)
        with pytest.raises(fetch.Refused, match="Move the course to a file system that supports links"):
            fetch.link("toolkit", special)


# ---- what cannot go on


def test_what_prevents_every_build_is_said_before_anything_is_fetched(house):
    build = house.root / "build"
    build.write_text("a file")
    assert f"Cannot write to the folder {build}" in house.set_up().stderr
    build.unlink()
    assert "There is no C++ compiler called no-compiler. Type: make CXX=g++ … (which is installed)" in house.set_up(CXX="no-compiler").stderr
    assert "CUDA_HOME is /o'clock, but there is no include/cuda.h in it" in house.set_up(CUDA_HOME="/o'clock").stderr
    ended = house.set_up(TMPDIR="/no/where")
    assert ended.returncode == 1 and "cannot write their temporary files to /no/where: there is no such folder" in ended.stderr
    ended = house.set_up("torhc")
    assert ended.returncode == 1 and "Set-up does not know torhc. It knows: catch2 torch pytest" in ended.stderr
    assert nothing_half_made(house)


def test_a_disk_that_is_full_is_told_and_the_old_result_stays(house, capsys):
    (house.root / "build").mkdir()
    result = house.root / "build/setup.mk"
    result.write_text("KEY = old\n")
    full = mock.patch.object(os, "replace", side_effect=OSError(28, "No space left on device", str(result)))
    with (
        mock.patch.object(setup, "FILE", result),
        mock.patch.object(facts, "FILE", result),
        mock.patch.object(setup, "ENVIRONMENT", house.root),
        mock.patch.object(setup, "look", lambda *_: {}),
        full,
    ):
        assert setup.main([]) == 1
    assert f"Nothing was set up: {result}: No space left on device. " in capsys.readouterr().err
    assert result.read_text() == "KEY = old\n" and [path.name for path in result.parent.iterdir()] == ["setup.mk"]


# ---- what is fetched


def test_a_private_toolkit_that_was_damaged_is_told(house):
    (house.cache / "cuda-13.0").mkdir(parents=True)
    ended = house.set_up()
    assert f"Note: the CUDA toolkit in {house.cache}/cuda-13.0 has no cuda.h. Remove that folder and try again." in ended.stderr, ended.stderr
    assert "has no cuda.h" in house.found()["WITHOUT_TOOLKIT"]


def test_a_toolkit_is_fetched_once_and_kept_for_all(house):
    house.packages(WHEELS + 'echo "$@" >> asked\n')
    house.environment["TOOLKIT_VERSION"] = "13.0"
    ended = house.set_up()
    assert ended.returncode == 0 and "Fetching a private one, CUDA 13.0" in ended.stderr and "200 MB to download" in ended.stderr, ended.stderr
    assert house.found()["CUDA_INCLUDE"] == "build/toolkit/include" and house.found()["NVCC"] == ""
    assert (house.cache / "cuda-13.0/nvidia/cu13/include/cuda.h").exists() and f"It is in {house.cache}/cuda-13.0." in ended.stderr
    shutil.rmtree(house.root / "build")
    assert house.set_up().stderr == "" and house.found()["CUDA_INCLUDE"] == "build/toolkit/include"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'Failed to establish a new connection: Name or service not known' >&2; exit 1\n", "the package servers cannot be reached"),
        ("echo looking; echo 'ERROR: [Errno 28] No space left on device' >&2; exit 1\n", "ERROR: [Errno 28] No space left on device"),
        ("exit 1\n", "failed"),
    ],
)
def test_what_cannot_be_fetched_is_said_and_nothing_is_kept(house, script, reason):
    house.packages("touch $target/half\n" + script)
    ended = house.set_up()
    assert ended.returncode == 0 and "there is no CUDA toolkit, and it could not be fetched: " in ended.stderr and reason in ended.stderr, ended.stderr
    assert "Try again later" in ended.stderr and "Traceback" not in ended.stderr
    found = house.found()
    assert found["CUDA_INCLUDE"] == "" and "there is no CUDA toolkit" in found["WITHOUT_TOOLKIT"]
    (house.root / "build/setup.mk").unlink()
    assert nothing_half_made(house), list(house.cache.iterdir())


def test_without_room_nothing_is_tried(house, capsys):
    house.packages("touch tried\n")
    with (
        mock.patch.object(fetch, "free_megabytes", lambda _: 100),
        mock.patch.dict(os.environ, XDG_CACHE_HOME=str(house.folder / "cache")),
        mock.patch.object(fetch, "ROOT", house.root),
    ):
        with pytest.raises(fetch.Missing, match="has 100 MB free, but 1200 MB are needed.*XDG_CACHE_HOME=/another/folder"):
            fetch.fetch("cuda", 1200, "toolkit", "Fetching", lambda part: pytest.fail("it was tried"))


def test_a_home_that_cannot_be_written_is_replaced_by_the_build_folder(house):
    house.packages(WHEELS)
    (house.folder / "cache").write_text("no folder")
    ended = house.set_up()
    assert ended.returncode == 0 and (house.root / "build/downloads/cuda-13.0").is_dir(), ended.stderr


def test_without_a_route_to_anywhere_no_program_is_started(house):
    with mock.patch.object(fetch, "offline", lambda: True):
        (house.folder / "part").mkdir()
        with pytest.raises(fetch.Missing, match="the package servers cannot be reached"):
            fetch.Part(str(house.folder / "part")).run("touch", house.folder / "started")
    assert not (house.folder / "started").exists()


NO_NAMES = "echo Temporary failure resolving a.name >&2; exit 100\n"


def test_servers_that_do_not_answer_are_asked_once_and_again_after_some_minutes(house):
    house.packages(f"echo pip >> {house.folder}/asked; {NO_NAMES}")
    mark, home = house.root / "build/unreachable", str(house.toolkit("cuda"))

    def tried():
        (house.folder / "asked").write_text("")
        ended = house.set_up("pytest", "tools", "torch", CUDA_HOME=home, http_proxy="http://127.0.0.1:9")
        assert ended.stderr.count("the package servers cannot be reached. ") >= 4 and ended.stderr.count("or at once after: rm build/unreachable") == 1, (
            ended.stderr
        )
        asked = (house.folder / "asked").read_text().split()
        assert ended.stderr.count("Fetching pytest") == len(asked) and "Fetching rich" not in ended.stderr, ended.stderr
        return asked

    assert tried() == ["pip"] and "pip" in mark.read_text().split()
    assert tried() == []
    os.utime(mark, (time.time() - fetch.PAUSE - 1,) * 2)
    assert tried() == ["pip"]
    mark.unlink()
    assert tried() == ["pip"]


@pytest.mark.parametrize(
    ("download", "commands"), [(NO_NAMES, ["download"]), ("echo Unable to locate package; exit 100\n", ["download", "update", "download"])]
)
def test_an_apt_get_without_names_is_given_up_for_all_packages(house, download, commands):
    with made_up_debian(house, "none") as part:
        house.command(
            "apt-get",
            f'for last in "$@"; do case $last in update|download) echo $last >> {house.folder}/asked ;; esac; done\ncase "$*" in *update*) {NO_NAMES.replace("100", "0")};; esac\n{download}',
        )
        (house.root / "build").mkdir()
        for package in ("catch2", "chromium"):
            with pytest.raises(fetch.Missing, match="the package servers cannot be reached"):
                fetch.debian(part, part.files, package)
    assert (house.folder / "asked").read_text().split() == commands


def until(what, condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"within a minute, {what}"
        time.sleep(0.05)


def has_ended(pid):
    """Also true of a zombie: a container's first process does not always reap what it inherits."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_leaves_nothing_and_stops_what_was_started(house, number):
    house.packages("echo $$ > $target/pid; sleep 600\n")
    # A shell that started this test in the background may have told its children to ignore the signal.
    heed = lambda: signal.signal(number, signal.SIG_DFL)
    running = subprocess.Popen(SET_UP, cwd=house.root, env=house.environment, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    pids = []
    until(
        "the download did not begin",
        lambda: pids or pids.extend(path.read_text().strip() for path in house.cache.glob("part.*/files/pid") if path.read_text().strip()),
    )
    running.send_signal(number)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "Interrupted: no incomplete files were kept." in said and "Traceback" not in said, said
    assert nothing_half_made(house)
    until("the download did not end", lambda: has_ended(pids[0]))


def test_two_at_once_fetch_once(house):
    house.packages(WHEELS + f"echo x >> {house.folder}/fetched; sleep 1\n")
    other = pathlib.Path(house.folder) / "other"
    other.mkdir()
    second = House(other)
    second.environment = dict(house.environment)
    both = [subprocess.Popen(SET_UP, cwd=each.root, env=each.environment, stderr=subprocess.PIPE, text=True) for each in (house, second)]
    said = [each.communicate(timeout=120)[1] for each in both]
    assert [each.returncode for each in both] == [0, 0] and (house.folder / "fetched").read_text() == "x\n", said
    assert sum("Another make is fetching something; waiting for it." in each for each in said) == 1, said
    assert house.found()["CUDA_INCLUDE"] == second.found()["CUDA_INCLUDE"] == "build/toolkit/include"


def test_two_in_one_course_wait_for_each_other(house):
    home = house.toolkit("cuda")
    (house.root / "build").mkdir()
    with open(house.root / "build/setup.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(SET_UP, cwd=house.root, env={**house.environment, "CUDA_HOME": str(home)}, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr.readline() == "Another make is setting up; waiting for it.\n"
        assert not (house.root / "build/setup.mk").exists()
    assert waiting.communicate(timeout=120)[1] == "" and waiting.returncode == 0 and house.found()["CUDA_VERSION"] == "12040"


def test_what_a_killed_process_left_is_removed(house):
    house.packages(WHEELS)
    (house.cache / "part.old").mkdir(parents=True)
    assert house.set_up().returncode == 0 and not (house.cache / "part.old").exists()


def test_what_was_downloaded_and_what_was_unpacked_are_counted_apart(house):
    part = fetch.Part(str(house.folder))
    sizes = {"tmp/pip-unpack-a/torch.whl": 3, "tmp/pip-target-b/torch/lib.so": 4, "files/numpy/lib.so": 2, "tmp/venv/python": 7}
    for file, megabytes in sizes.items():
        path = house.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(megabytes << 20))
    assert part.progress() == "  still fetching: 0 s, 3 MB downloaded, 6 MB unpacked"
    shutil.rmtree(house.folder / "tmp/pip-unpack-a")  # as pip does in the end
    assert part.progress() == "  still fetching: 0 s, 3 MB downloaded, 6 MB unpacked"


def test_a_folder_that_pip_moves_away_while_it_is_counted_does_not_end_the_download(house):
    part = fetch.Part(str(house.folder))
    (house.folder / "tmp/pip-target-a/torch/package/__pycache__").mkdir(parents=True)
    scandir = os.scandir

    def scan_what_is_moved(path):
        if str(path).endswith("__pycache__"):
            shutil.rmtree(house.folder / "tmp/pip-target-a/torch/package")
        return scandir(path)

    with mock.patch.object(os, "scandir", scan_what_is_moved):
        assert part.progress() == "  still fetching: 0 s, 0 MB downloaded, 0 MB unpacked"
    assert not (house.folder / "tmp/pip-target-a/torch/package").exists()


def test_progress_is_said_while_a_command_runs(house, capsys):
    part = fetch.Part(str(house.folder))
    with mock.patch.object(fetch, "offline", lambda: False), mock.patch.object(sys.stderr, "isatty", lambda: True, create=True):
        part.run("sleep", "1.5")
    assert "  still fetching: 1 s, 0 MB downloaded, 0 MB unpacked" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("has_pip", "advice"), [(True, "Type: python3 -m pip install torch"), (False, "Type: sudo apt-get install python3-venv; python3 -m venv env;")]
)
def test_where_there_is_no_pip_the_advice_says_how_to_get_one(has_pip, advice):
    with mock.patch.object(fetch, "has_pip", lambda: has_pip):
        assert environment.pip_advice("torch").startswith(advice)


@contextlib.contextmanager
def made_up_debian(house, wheel):
    """No pip in Python, and an apt-get whose package contains `wheel`."""
    house.command(
        "apt-get",
        f'echo "$@" >> {house.folder}/asked; [ -e {house.folder}/lists ] || case "$*" in *update*) touch {house.folder}/lists ;; *) echo "E: Unable to locate package" >&2; exit 100 ;; esac; touch package.deb\n',
    )
    house.command("dpkg", f"mkdir -p $3/usr/share/python-wheels; cp {wheel} $3/usr/share/python-wheels/pip-1-py3-none-any.whl\n")
    (house.folder / "part").mkdir()
    with (
        mock.patch.object(fetch, "has_pip", lambda: False),
        mock.patch("glob.glob", lambda pattern: [str(path) for path in house.folder.glob("pip-*.whl")] if pattern.startswith(str(house.folder)) else []),
    ):
        here = mock.patch.object(fetch, "ROOT", house.root)
        with here, mock.patch.object(fetch, "offline", lambda: False), mock.patch.dict(os.environ, PATH=f"{house.bin}:{os.environ['PATH']}"):
            yield fetch.Part(str(house.folder / "part"))


def test_debians_python_without_pip_gets_one_from_the_distribution_without_root(house):
    wheel = house.folder / "pip"
    (wheel / "pip").mkdir(parents=True)
    (wheel / "pip/__init__.py").touch()
    (wheel / "pip/__main__.py").write_text(
        "import pathlib, sys\npathlib.Path(sys.argv[sys.argv.index('--target') + 1], 'installed').write_text(' '.join(sys.argv))\n"
    )
    archive = shutil.make_archive(str(house.folder / "wheel"), "zip", wheel)
    with made_up_debian(house, archive) as part:
        fetch.pip(part, "a-package==1")
        fetch.pip(part, "a-package==1")
    said = (part.files / "installed").read_text()
    assert "a-package==1" in said and "--only-binary=:all:" in said
    asked = (house.folder / "asked").read_text().splitlines()
    assert asked[0].endswith(" download python3-pip-whl") and asked[1].endswith(" update") and asked[2].endswith(" download python3-pip-whl"), asked
    assert len(asked) == 3  # the second time, pip was there
    assert list(part.files.iterdir()) == [part.files / "installed"]


def test_a_machine_without_apt_get_is_told(house):
    (house.folder / "part").mkdir()
    with mock.patch.dict(os.environ, PATH=str(house.folder)), pytest.raises(fetch.Missing, match="there is no apt-get on this machine"):
        fetch.debian(fetch.Part(str(house.folder / "part")), house.folder, "catch2")


# ---- the environment


def test_an_environment_has_the_pinned_packages_and_the_users_own(house):
    house.packages("mkdir -p $target/pytest $target/pytest-8.dist-info; echo 'who = \"ours\"' > $target/pytest/__init__.py\n")
    ended = house.set_up("pytest", CUDA_HOME=str(house.toolkit("cuda")))
    assert ended.returncode == 0 and house.found()["PYTEST"] == "yes" and "pytest" in ended.stderr, ended.stderr
    python = house.root / house.found()["PYTHON"]
    said = subprocess.run([python, "-c", "import pytest, sys; print(pytest.who, sys.prefix)"], capture_output=True, text=True, check=False, env={})
    assert said.stdout.split() == ["ours", str(house.root / "build/python")], said.stderr
    paths = (house.root / "build/python").glob("lib/python*/site-packages/course.pth")
    own = subprocess.run([PYTHON, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True).stdout.strip()
    assert own in next(paths).read_text()
    again = house.set_up("pytest", CUDA_HOME=str(house.folder / "cuda"))
    assert (again.returncode, again.stderr) == (0, "")
    (fetched,) = house.cache.glob("pytest-*")
    shutil.rmtree(fetched)  # a person makes room
    again = house.set_up("pytest", CUDA_HOME=str(house.folder / "cuda"))
    assert fetched.is_dir() and "Fetching pytest" in again.stderr, again.stderr


TORCH = "__version__ = '9.9'\ndef compiled_with_cxx11_abi(): return {string}\n"


def test_pytorch_of_the_users_own_environment_is_used_where_it_is(house):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", house.folder / "env"], check=True)
    (packages,) = (house.folder / "env").glob("lib/python*/site-packages")
    checkout = house.folder / "check out"  # as an editable installation names it
    (checkout / "torch/include/c10/cuda").mkdir(parents=True)
    (checkout / "torch/__init__.py").write_text(TORCH.format(string=False))
    (checkout / "torch/include/c10/cuda/CUDAGuard.h").touch()
    (packages / "torch.pth").write_text(f"{checkout}\n")
    house.packages("mkdir -p $target/setuptools $target/bin; touch $target/bin/ninja\n")
    command = [house.folder / "env/bin/python3", *SET_UP[1:], "torch"]
    ended = subprocess.run(
        command, cwd=house.root, env={**house.environment, "CUDA_HOME": str(house.toolkit("cuda"))}, capture_output=True, text=True, check=False
    )
    found = house.found()
    assert ended.returncode == 0 and "Fetching a private one" not in ended.stderr, ended.stderr
    assert "torchvision is not installed, and the pinned one is built for PyTorch 2.13.0, not 9.9." in ended.stderr
    assert (found["TORCH"], found["TORCH_OLD_STRING"], found["TORCH_CUDA"], found["BUILDERS"]) == ("9.9", "yes", "yes", "yes")
    assert os.path.samefile(house.root / found["TORCH_ROOT"], checkout / "torch") and (house.root / "build/python/bin/ninja").exists()


def test_ours_comes_before_the_users_and_what_matplotlib_brings_after_it(house):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", house.folder / "env"], check=True)
    (packages,) = (house.folder / "env").glob("lib/python*/site-packages")
    for name in ("pytest", "numpy"):
        (packages / f"{name}.py").write_text("who = 'theirs'\n")
    house.packages(
        'case "$*" in *plots.txt*) names="numpy matplotlib" ;; *) names=pytest ;; esac; for name in $names; do echo "who = \'ours\'" > $target/$name.py; done\n'
    )
    python = house.root / "build/python/bin/python3"
    for break_it in (lambda: None, lambda: (python.unlink(), python.symlink_to("/no/where"))):
        break_it()
        command = [house.folder / "env/bin/python3", *SET_UP[1:], "pytest", "plots"]
        environment_of = {**house.environment, "CUDA_HOME": str(house.toolkit("cuda"))}
        subprocess.run(command, cwd=house.root, env=environment_of, check=True, capture_output=True)
        ask = "import pytest, numpy, matplotlib; print(pytest.who, numpy.who, matplotlib.who)"
        said = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False, env={})
        assert said.stdout.split() == ["ours", "theirs", "ours"], said


def test_a_private_pytorch_is_fetched_from_the_index_that_was_named(house):
    fill = TORCH.format(string=True).replace("\n", "\\n")
    house.packages(f'echo "$@" >> {house.folder}/asked; case "$*" in *torch==*) mkdir -p $target/torch; printf "{fill}" > $target/torch/__init__.py ;; esac\n')
    ended = house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")), TORCH_INDEX="http://a/b")
    assert "Fetching a private copy" in ended.stderr and "2.8 GB to download, 4.7 GB on disk" in ended.stderr, ended.stderr
    assert (house.found()["TORCH"], house.found()["TORCH_OLD_STRING"], house.found()["TORCH_CUDA"]) == ("9.9", "no", "")
    asked = [line for line in (house.folder / "asked").read_text().splitlines() if "--index-url" in line]
    assert len(asked) == 1 and asked[0].endswith("torch==2.13.0 numpy --index-url http://a/b"), asked


def test_torchvision_is_fetched_for_the_pinned_pytorch_from_the_same_index(house):
    torch = TORCH.format(string=True).replace("9.9", "2.13.0+cpu") + "zeros = lambda *shape: None\n"
    vision = "class ops:\n    nms = staticmethod(lambda *given: None)\n"
    fill = lambda text: text.replace("\n", "\\n").replace('"', '\\"')
    house.packages(
        f'echo "$@" >> {house.folder}/asked; case "$*" in *torch==*) mkdir -p $target/torch; printf "{fill(torch)}" > $target/torch/__init__.py ;; '
        f'*torchvision==*) mkdir -p $target/torchvision; printf "{fill(vision)}" > $target/torchvision/__init__.py ;; esac\n'
    )
    house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")), TORCH_INDEX="http://a/b")
    assert (house.found()["TORCHVISION"], house.found()["WITHOUT_TORCHVISION"]) == ("yes", "")
    asked = [line for line in (house.folder / "asked").read_text().splitlines() if "torchvision" in line]
    assert len(asked) == 1 and "--no-deps torchvision==0.28.0" in asked[0] and asked[0].endswith("--index-url http://a/b"), asked


def test_a_pytorch_that_does_not_start_is_told_with_its_last_words(house):
    house.packages('mkdir -p $target/torch; echo "raise ImportError(\\"libcudart.so.13: no such file\\")" > $target/torch/__init__.py\n')
    ended = house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")))
    assert "does not start: ImportError: libcudart.so.13: no such file. Remove that folder and try again." in ended.stderr, ended.stderr
    assert "does not start" in house.found()["WITHOUT_TORCH"] and house.found()["TORCH"] == ""


def test_a_python_that_is_too_old_for_pytorch_is_told():
    with mock.patch.object(environment, "TORCH_PYTHON", (9, 0)), mock.patch.object(environment, "look_at_torch", dict):
        with pytest.raises(fetch.Missing, match="PyTorch needs Python 9.0 or newer, and python3 is 3"):
            environment.find_torch(None)


def test_what_is_installed_serves_where_nothing_can_be_fetched(house):
    site = house.folder / "site"
    for name in ("pytest", "iniconfig", "pluggy", "packaging", "Pygments"):
        (site / f"{name}-1.0.dist-info").mkdir(parents=True)
        (site / f"{name}-1.0.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    house.packages("exit 1\n")
    house.environment["PYTHONPATH"] += f":{site}"
    house.set_up("pytest", "tools", CUDA_HOME=str(house.toolkit("cuda")))
    assert (house.found()["PYTEST"], house.found()["TOOLS"]) == ("yes", "")


def test_set_up_from_within_the_environment_is_that_of_the_users_python(house):
    home = house.toolkit("cuda")
    house.packages("mkdir -p $target/pytest\n")
    house.set_up("pytest", CUDA_HOME=str(home))
    before = (house.root / "build/setup.mk").read_text()
    command = [house.root / "build/python/bin/python3", *SET_UP[1:], "pytest"]
    ended = subprocess.run(command, cwd=house.root, env={**house.environment, "CUDA_HOME": str(home)}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "") and (house.root / "build/setup.mk").read_text() == before


def test_every_package_has_one_version_for_every_python():
    for file in (ROOT / "common/requirements").glob("*.txt"):
        for line in file.read_text().splitlines():
            assert line.startswith(("#", "-r ")) or "==" in line.split(";")[0], (file.name, line)


def test_a_link_to_a_download_that_was_removed_is_made_again(tmp_path):
    place, target = tmp_path / "ninja", tmp_path / "new"
    target.touch()
    place.symlink_to(tmp_path / "removed")
    environment.lead(place, target)
    assert place.samefile(target)
