"""Tests of set-up: what it finds on made-up machines, what it fetches from made-up servers, and what it says if that fails."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from unittest import mock

import pytest

from bare import BY_NVRTC, SET_UP, WHEELS, House, nothing_half_made
from course import ROOT, environment, facts, fetch, setup

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
    before, compiler = (house.root / "build/setup.mk").stat(), os.readlink(house.bin / "g++")
    house.command("g++", "exit 1\n")  # would be noticed, if it was asked
    os.utime(house.bin / "g++", ns=(0, 0))
    (house.bin / "g++").unlink()
    (house.bin / "g++").symlink_to(compiler)
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
    assert ended.returncode == 1 and "Set-up does not know torhc. It knows: catch2 torch triton numba pytest" in ended.stderr
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


def test_no_source_needs_a_header_that_a_private_toolkit_lacks():
    """Its wheels are those of nvcc, the runtime, NVRTC and the C++ libraries; the profiler's headers are in one of their own."""
    sources = [file for folder in ("common", "tests", "0*") for file in ROOT.glob(f"{folder}/**/*") if file.suffix in (".cpp", ".hpp", ".cu", ".cuh")]
    lacking = re.compile(r"^#include <(cudaProfiler|cuda_profiler_api)\.h>", re.MULTILINE)
    assert len(sources) > 1000
    assert not [str(file) for file in sources if lacking.search(file.read_text(encoding="utf-8", errors="replace"))]
