"""A bare machine for tests of set-up: a course of its own in a folder, with commands, toolkits and packages that a test makes up."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from course import ROOT

NVCC = "#!/bin/sh\n"
LISTS = "echo compute_75\n"
BY_NVRTC = 'case $1 in --version) echo "NVRTC in the place of nvcc, release 12.4" ;; *) echo compute_75 ;; esac\n'
# ccache's g++ would look for the real one in the made-up path.
PLACES = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if "ccache" not in folder)
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
            if found := shutil.which(name, path=PLACES):
                (self.bin / name).symlink_to(found)
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
