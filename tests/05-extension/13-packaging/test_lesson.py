"""The wheels, installed as a user installs them, and used from threads and processes. Tried once, with the solution."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

from common.built import ROOT, built

LESSON = ROOT / "05-extension" / "13-packaging"
PACKAGE = ROOT / "05-extension" / "05-canonical-op" / "package"
WHEELS = pathlib.Path(built(str(LESSON / "main.py"), "wheels"))

# Where PyTorch is, which a fresh environment does not know if it is in an environment itself.
PACKAGES = [importlib.util.find_spec(name) for name in ("torch", "pip", "setuptools")]
FOLDERS = [str(pathlib.Path(package.origin).parents[1]) for package in PACKAGES if package and package.origin]
PLACES = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *FOLDERS])
RIGHT = "1 2 5 10 0 2 4 6"

pytestmark = [
    pytest.mark.skipif("solution" not in os.environ["ANSWER"], reason="it tests the lesson, not the exercise"),
    pytest.mark.skipif(not (WHEELS / "cpu.made").exists(), reason="pip or setuptools 70.1 is missing"),
]


def wheel(kind: str) -> pathlib.Path:
    found = next(WHEELS.glob(f"{kind}.made/*"), None)
    if not found:
        pytest.skip("this PyTorch or this toolkit cannot build the package with CUDA")
    return found


def best_wheel() -> pathlib.Path:
    return next(WHEELS.glob("cuda.made/*"), None) or wheel("cpu")


def run(*command: object, folder: pathlib.Path = ROOT, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": PLACES, **variables}
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.strip()


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The Python of a fresh environment into which the wheel for this machine is installed."""
    return installed(tmp_path_factory.mktemp("user"), best_wheel())


def installed(folder: pathlib.Path, distribution: pathlib.Path, **variables: str) -> pathlib.Path:
    venv.create(folder / "environment", system_site_packages=True, symlinks=True)
    python = folder / "environment" / "bin" / "python"
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q"]
    run(python, "-m", "pip", "install", *options, distribution, **variables)
    return python


def sees_a_gpu() -> bool:
    import torch  # imported here because it takes seconds, and most tests do not need it

    return torch.cuda.is_available()


@pytest.mark.parametrize("how", ["main", "thread", "fork", "spawn"])
def test_it_works_in_any_thread_and_in_forked_and_spawned_processes(python: pathlib.Path, how: str) -> None:
    for device in ["cpu", "cuda"] if sees_a_gpu() else ["cpu"]:
        assert run(python, LESSON / "use.py", device, how) == RIGHT


def test_importing_it_does_not_start_cuda(python: pathlib.Path) -> None:
    assert run(python, LESSON / "use.py", "cpu", "import").startswith("no")


def test_the_tags_and_the_metadata_are_correct() -> None:
    for kind in "cpu", "cuda":
        distribution = wheel(kind)
        assert re.fullmatch(r"square_plus-1\.0\+(cpu|cu\d+)-py310-none-linux_x86_64\.whl", distribution.name), distribution.name
        with zipfile.ZipFile(distribution) as archive:
            metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
        assert "Requires-Dist: torch>=2.10" in metadata and "Requires-Python: >=3.10" in metadata


def names_needed(distribution: pathlib.Path, folder: pathlib.Path) -> list[str]:
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("nm is missing here")
    shutil.unpack_archive(distribution, folder, "zip")
    output = run(nm, "-D", "--undefined-only", folder / "square_plus" / "_C.abi3.so")
    return [line.split()[-1].split("@")[0] for line in output.splitlines()]


def test_everything_that_it_needs_from_pytorch_exists_since_2_10(tmp_path: pathlib.Path) -> None:
    """PyTorch's headers say since when a C function exists: with a target version of 2.10, they declare only those that do."""
    names = [name for name in names_needed(best_wheel(), tmp_path) if name.startswith(("torch_", "aoti_torch_"))]
    include = pathlib.Path(importlib.util.find_spec("torch").origin).parent / "include"
    header = tmp_path / "shim.cpp"
    header.write_text("#include <torch/csrc/stable/c/shim.h>\n#include <torch/csrc/inductor/aoti_torch/c/shim.h>\n")
    declared = run(os.environ.get("CXX", "g++"), "-std=c++17", "-E", "-DUSE_CUDA", "-DTORCH_TARGET_VERSION=0x020a000000000000", f"-I{include}", header)
    assert names and not [name for name in names if not re.search(rf"\b{name}\(", declared)]


def test_it_needs_nothing_from_python_and_no_cpp_name_of_pytorch(tmp_path: pathlib.Path) -> None:
    assert not [name for name in names_needed(best_wheel(), tmp_path) if re.match(r"_?Py|_Z.*(c10|2at|5torch)", name)]


def test_the_wheel_without_cuda_needs_no_cuda_library(tmp_path: pathlib.Path) -> None:
    assert not [name for name in names_needed(wheel("cpu"), tmp_path) if "cuda" in name.lower() and not name.startswith("aoti_torch_device_type_")]
    python = installed(tmp_path, wheel("cpu"))
    assert run(python, LESSON / "use.py", "cpu", "main") == RIGHT


def test_the_source_distribution_installs_if_there_is_a_compiler(tmp_path: pathlib.Path) -> None:
    python = installed(tmp_path, wheel("source"), SQUARE_PLUS_CUDA="0", CXX=os.environ.get("CXX", "g++"))
    assert run(python, LESSON / "use.py", "cpu", "main") == RIGHT


def test_the_source_distribution_contains_the_kernels_also_if_it_is_made_without_cuda() -> None:
    with tarfile.open(wheel("source")) as archive:
        names = [name.split("/", 1)[-1] for name in archive.getnames()]
    assert {"pyproject.toml", "setup.py", "csrc/cpu.cpp", "csrc/cuda.cu", "csrc/op.hpp", "square_plus/__init__.py"} <= {*names}


def test_a_free_threaded_python_builds_a_wheel_of_its_own(tmp_path: pathlib.Path) -> None:
    """setuptools refuses the tag abi3 there. Free-threaded is only what this Python says that it is, so the tags are those of an ordinary one."""
    program = """
import sysconfig
known = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else known(name)
import setuptools
from distutils.core import run_setup
package = run_setup("setup.py", ["-q", "bdist_wheel"], stop_after="commandline")
wheel = package.get_command_obj("bdist_wheel")
wheel.ensure_finalized()
print(*wheel.get_tag()[:2], package.ext_modules[0].py_limited_api)
"""
    folder = shutil.copytree(PACKAGE, tmp_path / "package")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"{tag} {tag}t? False", run(sys.executable, "-c", program, folder=folder, SQUARE_PLUS_CUDA="0").splitlines()[-1])


def test_the_library_may_have_the_name_that_a_free_threaded_python_gives_it(python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (installed_package,) = python.parents[1].glob("lib/python*/site-packages/square_plus")
    folder = shutil.copytree(installed_package, tmp_path / "square_plus")
    (folder / "_C.abi3.so").rename(folder / "_C.cpython-313t-x86_64-linux-gnu.so")
    assert run(python, LESSON / "use.py", "cpu", "main", PYTHONPATH=os.pathsep.join([str(tmp_path), PLACES])) == RIGHT


def test_on_a_gpu_the_wheel_runs_without_nvcc(python: pathlib.Path) -> None:
    if not sees_a_gpu():
        pytest.skip("PyTorch sees no GPU here")
    assert run(python, LESSON / "use.py", "cuda", "main", PATH="/usr/bin:/bin", CUDA_HOME="/nowhere") == RIGHT
