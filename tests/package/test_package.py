"""The Python package cudasim: from its wheel to the output of a program, and a sentence for everything that cannot work."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from conftest import ROOT
from pages import blocks

VERSION = (ROOT / "common/VERSION").read_text(encoding="utf-8").strip()


# ---- the wheel


def test_the_wheel_has_the_libraries_the_films_page_and_the_version_of_the_repository(installed):
    names = zipfile.ZipFile(installed.wheel).namelist()
    for file in ("lib/libcuda.so.1", "lib/libcudart.so.12", "lib/libcudart.so.13", "lib/libcuda.so", "film/film.js", "activate.sh", "commands/check.py"):
        assert f"cudasim/{file}" in names
    assert installed.wheel.name.startswith(f"cudasim-{VERSION}-py3-none-linux_")
    assert installed.wheel.stat().st_size < 20_000_000


def test_pytest_finds_the_plug_in_of_the_wheel(installed):
    with zipfile.ZipFile(installed.wheel) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
        assert "[pytest11]\ncudasim = cudasim.pytest_plugin" in wheel.read(name).decode()


def test_the_source_distribution_has_what_the_wheel_is_built_from(installed):
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(installed.folder / "sources"), str(ROOT / "common/package")]
    subprocess.run(command, capture_output=True, check=True)
    (archive,) = (installed.folder / "sources").iterdir()
    listed = subprocess.run(["tar", "-tf", str(archive)], capture_output=True, text=True, check=True).stdout
    for file in ("common/simulator/Makefile", "common/runtime/Makefile", "common/VERSION", "hatch_build.py", "src/cudasim/__init__.py", "lib/libcuda.so"):
        assert f"cudasim-{VERSION}/{file}\n" in listed


def test_the_simulator_needs_nothing_of_gccs_library_that_zig_lacks():
    """zig compiles the published wheels, and links no libgcc. __builtin_cpu_supports needs these names of it."""
    objects = [str(file) for file in (ROOT / "build/simulator/objects").rglob("*.o")]
    undefined = subprocess.run(["nm", "-u", *objects], capture_output=True, text=True, check=True).stdout
    assert objects and not re.findall(r"__cpu_\w+", undefined)


# ---- the commands


def test_a_source_is_compiled_and_run_with_its_arguments(installed, program):
    ended = installed.run("-O2", "prog.cu", "a", "b")
    assert (ended.stdout, ended.returncode) == ("a: 3 words, error 0\n", 2)


def test_a_kernel_that_launches_kernels_is_linked(installed):
    source = """#include <cstdio>
        __global__ void child(int* p) { *p += 1; }
        __global__ void parent(int* p) { child<<<1, 1>>>(p); }
        int main() {
          int* p;
          cudaMallocManaged(&p, sizeof *p);
          parent<<<1, 1>>>(p);
          const int error = cudaDeviceSynchronize();
          printf("%d %d\\n", error, *p);
        }"""
    (installed.folder / "nested.cu").write_text(source, encoding="utf-8")
    assert installed.run("-rdc=true", "nested.cu").stdout == "0 1\n"


def test_a_program_that_is_compiled_runs_and_other_commands_find_the_simulator_too(installed, program):
    assert installed.run(program).stdout == ": 1 words, error 0\n"
    assert installed.run("run", "sh", "-c", "./prog; echo $?").stdout == ": 1 words, error 0\n0\n"


def test_check_reports_findings_with_their_lines_as_json(installed, program):
    ended = installed.run("check", "--report", "found.json", program, "race")
    found = json.loads((installed.folder / "found.json").read_text(encoding="utf-8"))
    assert ended.stdout == "race: 2 words, error 0\n" and (ended.returncode, found["status"]) == (1, 0)
    assert [finding["title"] for finding in found["findings"]] == ["data race"]
    assert found["findings"][0]["places"] == ["prog.cu:5"] and found["findings"][0]["kernel"] == "race(int*)"
    assert found["command"] == [program, "race"] and not found["findings"][0]["called_from"]
    assert "data race" in ended.stderr and ended.stderr.endswith("cudasim: 1 finding\n")


def test_a_finding_in_an_inlined_function_names_its_line_and_the_call(installed):
    (installed.folder / "helper.cuh").write_text("__device__ __forceinline__ void put(int* p, int i) {\n  p[i] = threadIdx.x;\n}\n", encoding="utf-8")
    source = """#include "helper.cuh"
        __global__ void same(int* p) { put(p, 0); }
        __global__ void far(int* p) { put(p, 1 << 20); }
        int main() {
          int* p;
          cudaMalloc(&p, sizeof *p);
          same<<<1, 32>>>(p);
          far<<<1, 1>>>(p);
          cudaDeviceSynchronize();
        }"""
    (installed.folder / "calls.cu").write_text(source, encoding="utf-8")
    ended = installed.run("check", "--only=race", "--report=calls.json", "-O2", "calls.cu", "7")
    found = json.loads((installed.folder / "calls.json").read_text(encoding="utf-8"))
    told = [(finding["title"], finding["places"], finding["called_from"]) for finding in found["findings"]]
    assert told == [("data race", ["helper.cuh:2"], ["calls.cu:2"]), ("illegal address", ["helper.cuh:2"], ["calls.cu:3"])]
    assert found["command"] == ["-O2", "calls.cu", "7"]
    assert "writes 4 bytes at helper.cuh:2 (called from calls.cu:2)" in ended.stderr and "at       helper.cuh:2 (called from calls.cu:3; line " in ended.stderr


def test_check_ends_with_status_0_only_if_nothing_was_found(installed, program):
    assert installed.run("check", program).returncode == 0
    assert installed.run("check", program, "leak").returncode == 1
    assert installed.run("check", "--only", "race", program, "leak").returncode == 0
    assert installed.run("check", program, "a", "b").returncode == 2  # the program's own


def test_a_fault_is_a_finding(installed, program):
    ended = installed.run("check", "--report=far.json", program, "far")
    found = json.loads((installed.folder / "far.json").read_text(encoding="utf-8"))
    assert [(finding["title"], finding["places"]) for finding in found["findings"]] == [("illegal address", ["prog.cu:6"])]
    assert ended.returncode == 1


def test_the_page_shows_the_report_of_its_programs_fault(installed, tmp_path):
    (source,), (report,) = blocks("README.md", "cpp"), blocks("README.md", "text")
    (tmp_path / "prog.cu").write_text(source.replace("if (i < n) ", ""), encoding="utf-8")
    ended = installed.run(tmp_path / "prog.cu")
    what_varies = r"0x[0-9a-f]+|line \d+ of"
    assert re.sub(what_varies, "…", report) == re.sub(what_varies, "…", ended.stderr)
    assert ended.stdout.startswith("an illegal memory access was encountered: ") and ended.returncode == 0


def test_profile_writes_the_counters(installed, program):
    ended = installed.run("profile", "-o", "numbers.json", program)
    numbers = json.loads((installed.folder / "numbers.json").read_text(encoding="utf-8"))
    assert [kernel["name"] for kernel in numbers["kernels"]] == ["index(int*, int)"] and "index(int*, int)" in ended.stderr


def test_see_makes_one_page_with_the_source(installed, program):
    ended = installed.run("see", "-o", "film.html", program, "race")
    assert "It shows: race, index" in ended.stdout and ended.returncode == 0, ended.stderr
    page = (installed.folder / "film.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and not re.search(r"""(src|href)=["']?(https?:)?//""", page)


def test_a_shell_that_is_activated_compiles_and_runs_and_can_be_switched_back(installed, program):
    script = 'eval "$(cudasim activate)"; nvcc prog.cu -o shared && ./shared x; deactivate; echo "left: ${LD_LIBRARY_PATH-none}"'
    ended = subprocess.run(["bash", "-c", script], cwd=installed.folder, env=installed.variables(), capture_output=True, text=True, check=False)
    assert "x: 2 words, error 0\n" in ended.stdout and ended.stdout.endswith("left: none\n"), ended.stderr


def test_cmake_finds_the_packages_libraries_in_an_activated_shell(installed, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    lists = 'cmake_minimum_required(VERSION 3.20)\nproject(find LANGUAGES CXX)\nfind_library(FOUND cudart)\nmessage(STATUS "is in ${FOUND}")\n'
    (tmp_path / "CMakeLists.txt").write_text(lists, encoding="utf-8")
    command = ["bash", "-c", f'eval "$(cudasim activate)"; cmake -S {tmp_path} -B {tmp_path}/build; deactivate; echo "left: ${{CMAKE_LIBRARY_PATH-none}}"']
    said = subprocess.run(command, cwd=installed.folder, env=installed.variables(), capture_output=True, text=True, check=False).stdout
    assert re.search(rf"is in {installed.environment}/\S+/cudasim/lib/libcudart.so\n", said) and said.endswith("left: none\n"), said


def test_python_gets_status_output_and_findings(installed, program):
    code = "import cudasim; r = cudasim.run(['./prog', 'race']); print(r.status, r.output.strip(), [str(f) for f in r.findings], r.is_clean)"
    command = [installed.environment / "bin/python", "-c", code]
    said = subprocess.run(command, cwd=installed.folder, env=installed.variables(), capture_output=True, text=True, check=True).stdout
    assert said == "0 race: 2 words, error 0 ['data race in race(int*) at prog.cu:5'] False\n"


# ---- what cannot work


def complains(ended, *parts):
    """Did a command end with one sentence, and no traceback?"""
    lines = ended.stderr.splitlines()
    return ended.returncode != 0 and len(lines) == 1 and lines[0].startswith("cudasim: ") and all(part in lines[0] for part in parts)


def test_without_a_compiler_a_sentence_says_what_to_install(installed, program):
    nothing = installed.folder / "bin"
    nothing.mkdir()
    (nothing / "dirname").symlink_to("/usr/bin/dirname")
    assert complains(installed.run("prog.cu", PATH=str(nothing)), "there is no nvcc", "pip install 'nvidia-cuda-cccl==13.0.*'")
    (nothing / "nvcc").symlink_to((ROOT / "build/toolkit/bin/nvcc").resolve())
    assert complains(installed.run("prog.cu", PATH=str(nothing)), "there is no g++", "apt-get install g++")


@pytest.fixture
def newer(tmp_path):
    """A folder with an nvcc that is newer than the simulator."""
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.5, V13.5.37'\n", encoding="utf-8")
    (tmp_path / "nvcc").chmod(0o755)
    return tmp_path


def test_an_nvcc_whose_ptx_is_too_new_is_named(installed, program, newer):
    ended = installed.run("prog.cu", PATH=f"{newer}:/usr/bin:/bin")
    assert complains(
        ended, f"{newer}/nvcc is nvcc 13.5, but the simulator supports only CUDA 13.0", "pip install 'nvidia-cuda-cccl==13.0.*' 'nvidia-cuda-crt=="
    )
    code = "import ctypes; n = ctypes.c_int(); ctypes.CDLL('libcuda.so.1').cuDriverGetVersion(ctypes.byref(n)); print(n.value)"
    assert installed.run("run", sys.executable, "-c", code).stdout == "13000\n"


def test_the_nvcc_of_the_package_precedes_one_that_is_too_new(installed, newer):
    (site,) = installed.environment.glob("lib/python*/site-packages")
    own = site / "nvidia/cu13/bin/nvcc"
    own.parent.mkdir(parents=True)
    try:
        own.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n", encoding="utf-8")
        own.chmod(0o755)
        path = f"{installed.environment}/bin:{newer}:/usr/bin:/bin"
        assert f"nvcc 13.0 in {own}\n" in installed.run("--version", PATH=path).stdout
        script = 'eval "$(cudasim activate)" >/dev/null; command -v nvcc; deactivate; command -v nvcc'
        said = subprocess.run(["bash", "-c", script], env=installed.variables(PATH=path), capture_output=True, text=True, check=False).stdout.splitlines()
        assert (said[0], said[-1]) == (str(own), f"{newer}/nvcc")
    finally:
        shutil.rmtree(site / "nvidia")


def test_errors_of_the_compiler_are_shown_and_nothing_else(installed):
    (installed.folder / "wrong.cu").write_text("int main() { return x; }", encoding="utf-8")
    ended = installed.run("wrong.cu")
    assert ended.returncode != 0 and 'identifier "x" is undefined' in ended.stderr + ended.stdout and "cudasim:" not in ended.stderr


def test_a_program_for_another_processor_is_named(installed):
    file = installed.folder / "elsewhere"
    file.write_bytes(b"\x7fELF\2\1\1" + bytes(9) + b"\2\0\xf3\0" + bytes(100))
    file.chmod(0o755)
    assert complains(installed.run("./elsewhere"), "./elsewhere is a program for riscv64, but this machine is")


def test_a_closed_library_and_the_static_runtime_are_named(installed, program):
    script = """
        echo 'void f() {}' | g++ -shared -fPIC -x c++ - -Wl,-soname,libcublas.so.13 -o libcublas.so
        echo 'int main() {}' | g++ -x c++ - -L. -Wl,--no-as-needed -lcublas -o closed
        nvcc prog.cu -o static"""
    subprocess.run(["bash", "-ec", script], cwd=installed.folder, env=installed.variables(), check=True)
    assert complains(installed.run("./closed"), "./closed uses libcublas, whose kernels are machine code")
    assert complains(installed.run("-lcublas", "prog.cu"), "the program uses libcublas")
    assert complains(installed.run("./static"), "contains NVIDIA's runtime", "nvcc -cudart shared")


def test_a_crash_of_the_program_is_told_from_a_fault_of_a_kernel(installed, program):
    ended = installed.run(program, "crash")
    assert ended.returncode == 139 and "SIGSEGV" in ended.stderr and "cudasim run gdb ./prog" in ended.stderr
    ended = installed.run("check", "prog.cu", "crash")
    assert ended.returncode == 139 and "nvcc -g -o prog, and type: gdb ./prog\ncudasim: the checks found nothing before the crash\n" in ended.stderr
    ended = installed.run("see", "-o", "crash.html", program, "race", "9")
    assert ended.returncode == 0 and ended.stdout.endswith("It shows: race, index\nThe program ended with status 2.\n")


def test_two_versions_are_named_with_their_places(installed, program):
    other = installed.folder / "other"
    (other / "cudasim-2.9.dist-info").mkdir(parents=True)
    (other / "cudasim-2.9.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: cudasim\nVersion: 2.9\n", encoding="utf-8")
    ended = installed.run(program, PYTHONPATH=str(other))
    assert ended.returncode == 0 and f"several versions of cudasim are installed. This is {VERSION} in {installed.environment}" in ended.stderr
    assert f"2.9 in {other}" in ended.stderr
    assert "another simulated GPU is active in this shell: /elsewhere" in installed.run(program, SIMULATED_GPU="/elsewhere").stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["nothing.cu"], "there is neither a program nor a source file among the words: nothing.cu"),
        (["run"], "name a program or its sources"),
        (["check", "--report"], "--report needs a value"),
        (["check", "--report", "/nowhere/found.json", "/bin/true"], "/nowhere/found.json: No such file or directory"),
        (["profile", "-o", "numbers.txt", "/bin/true"], "must end in .json or in .csv"),
        (["see", "/bin/true"], "true launched no kernel to show.\n"),
        (["activate", "x"], "activate takes no words"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_a_wrong_word_is_a_sentence(installed, words, said):
    ended = installed.run(*words)
    assert said in ended.stderr and ended.returncode != 0 and "Traceback" not in ended.stderr


def test_the_repository_has_the_same_command(installed):
    said = subprocess.run([ROOT / "common/cudasim", "--help"], env=dict(os.environ), capture_output=True, text=True, check=True).stdout
    assert said == installed.run("--help").stdout and all(f"cudasim {name}" in said for name in ("run", "check", "profile", "see", "activate"))
