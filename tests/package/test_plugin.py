"""The plug-in for pytest, the example project and its workflow, as a project uses them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from pages import PACKAGE, blocks


def environment(folder):
    """As after the installation of the package: its command is on the PATH."""
    command = folder / "bin/cudasim"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m cudasim "$@"\n')
    command.chmod(0o755)
    pytest_command = folder / "bin/pytest"
    pytest_command.write_text(f'#!/bin/sh\nexec {sys.executable} -m pytest -p cudasim.pytest_plugin "$@"\n')
    pytest_command.chmod(0o755)
    path = os.pathsep.join([str(PACKAGE / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": path, "COLUMNS": "200"}


@pytest.fixture
def run(tmp_path):
    """Runs a command in a folder, and returns all that it printed, and its status."""

    def function(command, folder=tmp_path):
        ended = subprocess.run(["bash", "-ec", command], cwd=folder, env=environment(tmp_path), capture_output=True, text=True, check=False)
        return ended.stdout + ended.stderr, ended.returncode

    return function


@pytest.fixture
def project(tmp_path):
    return pathlib.Path(shutil.copytree(PACKAGE / "example", tmp_path / "example"))


def steps(project):
    """The commands of the workflow, after the installation."""
    text = (project / ".github/workflows/cuda.yml").read_text()
    found = re.findall(r"- run: (?:\|\n((?:          .*\n)+)|(.*)\n)", text)
    return [re.sub("^ +", "", block or line, flags=re.MULTILINE) for block, line in found if "pip install" not in line]


def test_the_examples_workflow_passes(project, run):
    pytest.importorskip("numpy")
    with_pytest, _ = steps(project)
    said, status = run(with_pytest, project)
    assert status == 0 and "3 passed" in said, said


def test_the_examples_workflow_passes_with_cmake(project, run):
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    _, with_cmake = steps(project)
    said, status = run(with_cmake, project)
    assert status == 0 and "100% tests passed" in said, said
    assert "the checks found nothing" in (project / "build/Testing/Temporary/LastTest.log").read_text()


def test_the_page_shows_the_files_of_the_example_and_the_commands_of_its_workflow(project):
    fixture, marker = blocks("testing.md", "python")
    assert fixture in (project / "tests/test_smooth.py").read_text()
    assert marker in (project / "tests/test_library.py").read_text()
    assert blocks("testing.md", "cmake") == [(project / "CMakeLists.txt").read_text()]
    (workflow,) = blocks("testing.md", "yaml")
    assert workflow in (project / ".github/workflows/cuda.yml").read_text()
    assert steps(project)[1] in blocks("testing.md", "sh")


def test_a_fault_in_the_example_fails_its_tests(project, run):
    source = project / "smooth.cuh"
    source.write_text(source.read_text().replace("  __syncthreads();\n", ""))
    said, status = run("pytest tests -k program", project)
    assert status == 1 and "1 failed" in said, said
    assert blocks("testing.md", "text")[0] in said, said


BAD = """
def test_no_file(cudasim):
    cudasim.run("missing.cu")

def test_no_program(cudasim):
    cudasim.run("./missing")

def test_does_not_compile(cudasim):
    cudasim.run("broken.cu")

def test_status(cudasim):
    cudasim.run("status.cu", arguments=["7"])

def test_status_wanted(cudasim):
    assert cudasim.run("status.cu", arguments=["7"], fails=False).status == 7

def test_time(cudasim):
    cudasim.run("status.cu", timeout=0.2)
"""
STATUS = '#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\nint main(int n, char** a) { if (n == 1) sleep(9); std::puts("wrong"); return std::atoi(a[1]); }\n'


def test_what_goes_wrong_is_a_sentence(tmp_path, run):
    (tmp_path / "test_bad.py").write_text(BAD)
    (tmp_path / "broken.cu").write_text("int main() { return x; }\n")
    (tmp_path / "status.cu").write_text(STATUS)
    said, _ = run("pytest -p no:cacheprovider")
    assert "5 failed, 1 passed" in said and "Traceback" not in said and "another exception" not in said, said
    for sentence in (
        "there is no file missing.cu, neither in",
        "there is no file ./missing, neither in",
        'identifier "x" is undefined',
        "status-0 ended with status 7:\nwrong",
        "status-0 did not end within 0.2 seconds",
    ):
        assert sentence in said, f"{sentence!r} is missing in: {said}"


MARKED = """
import ctypes
import os
import pytest

def address(size, write):
    cu = ctypes.CDLL("libcuda.so.1")
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    assert cu.cuInit(0) == 0 and cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cu.cuCtxSetCurrent(context) == 0
    assert cu.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)) == 0
    if write:
        assert cu.cuMemsetD8_v2(memory, 7, ctypes.c_size_t(size)) == 0
    got = ctypes.create_string_buffer(size)
    assert cu.cuMemcpyDtoH_v2(got, memory, ctypes.c_size_t(size)) == 0
    return got.raw

@pytest.mark.cudasim
def test_written(tmp_path):
    assert tmp_path.is_dir() and address(4, True) == bytes([7] * 4)

@pytest.mark.cudasim
def test_unwritten():
    address(4, False)

@pytest.mark.cudasim(checks="race")
def test_unwritten_but_not_checked():
    address(4, False)

@pytest.mark.cudasim
def test_wrong():
    assert address(4, True) == b"1234"

@pytest.mark.cudasim
def test_skipped():
    pytest.skip("no reason")

@pytest.mark.cudasim
def test_crash():
    os.kill(os.getpid(), 11)

@pytest.mark.cudasim(timeout=0.5)
def test_endless():
    while True: pass

@pytest.mark.cudasim(speed=1)
def test_argument(): pass

@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.cudasim
def test_parametrized(n):
    assert address(n, True) == bytes([7] * n)
"""


def test_marked_tests_run_in_processes_of_their_own(tmp_path, run):
    (tmp_path / "test_marked.py").write_text(MARKED)
    said, _ = run("pytest -rA -p no:cacheprovider --strict-markers")
    for name in ("written", "unwritten_but_not_checked", "parametrized[1]", "parametrized[2]"):
        assert f"PASSED test_marked.py::test_{name}" in said, said
    for sentence in (
        "the simulated GPU reports 1 finding:\n========= simulated GPU: use of memory never written",
        "AssertionError: assert b'\\\\x07\\\\x07\\\\x07\\\\x07' == b'1234'".replace("\\\\", "\\"),
        "SKIPPED [1]",
        "the test crashed: SIGSEGV (Segmentation fault)",
        "the test did not end within 0.5 seconds",
        "the marker cudasim: settings() got an unexpected keyword argument 'speed'",
    ):
        assert sentence in said, f"{sentence!r} is missing in: {said}"
    assert "5 failed, 4 passed, 1 skipped" in said, said
