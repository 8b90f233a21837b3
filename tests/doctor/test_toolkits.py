"""Tests of the doctor on made-up machines: toolkits, compilers and NVRTC."""

import json

from made_up import COMPILE, LINK, NVRTC, RUN, SYSTEM, machine, reads_libraries, says


def test_an_old_driver_under_a_new_toolkit_is_broken_across_major_versions():
    with machine() as made:
        made.driver("535.54.03", cuda=12020)
        made.toolkit("13.0")
        says(made, COMPILE, "broken", "580.65.06", "CUDA 12.2", remedy="cuda-compat-13-0", status=1)
        says(made, RUN, "works")


def test_an_old_driver_under_a_new_toolkit_is_limited_within_a_major_version():
    with machine() as made:
        made.driver("550.54.14", cuda=12040)
        made.toolkit("12.8", gcc=14)
        says(made, COMPILE, "limited", "PTX", remedy="-arch=native", status=0)
        says(made, COMPILE, "limited", remedy="570.26")


def test_a_new_driver_serves_an_old_toolkit():
    with machine() as made:
        made.driver()
        made.toolkit("11.8", gcc=12)
        says(made, COMPILE, "works", status=0)


def test_two_toolkits_that_are_both_meant_are_broken():
    with machine() as made:
        made.toolkit("11.8", gcc=12)
        home = made.toolkit("12.4", root="/opt/cuda-12.4")
        made.environment["CUDA_HOME"] = home
        says(made, COMPILE, "broken", "12.4", "11.8", "two toolkits", remedy=f"export PATH={home}/bin:$PATH", status=1)
        made.environment["PATH"] = f"{home}/bin:" + made.environment["PATH"]
        says(made, COMPILE, "works")


def test_a_cuda_home_that_is_nowhere_is_broken():
    with machine() as made:
        folder = made.toolkit()
        made.environment["CUDA_HOME"] = "/usr/local/cuda-12.1"
        says(made, COMPILE, "broken", "CUDA_HOME is /usr/local/cuda-12.1", remedy=f"export CUDA_HOME={folder}", status=1)


def test_two_toolkits_of_which_one_is_meant_are_fine_and_links_count_once():
    with machine() as made:
        made.toolkit("12.4", root="/usr/local/cuda-12.4")
        made.toolkit("13.0")
        found = made.look()
        assert [(toolkit.version, toolkit.why) for toolkit in found.toolkits] == [("13.0", ["nvcc on the PATH"]), ("12.4", ["installed"])]
        says(made, COMPILE, "works")


def test_a_runtime_package_without_nvcc_and_headers_is_called_one():
    with machine() as made:
        made.environment["CONDA_PREFIX"] = "/opt/conda"
        made.library("/opt/conda/lib", "libcudart.so.11.8.89")
        package = {"name": "cudatoolkit", "version": "11.8.0", "files": ["lib/libcudart.so.11.8.89"]}
        made.file("/opt/conda/conda-meta/cudatoolkit-11.8.0.json", json.dumps(package))
        says(made, COMPILE, "missing", "runtime package", "without nvcc and headers", remedy="conda install", status=2)
        runtime = made.look().called("cudart")[0]
        assert (runtime.version, runtime.origin) == ("11.8.89", "conda: cudatoolkit"), runtime


def test_nvcc_without_headers_is_broken():
    with machine() as made:
        folder = made.toolkit()
        for name in ("cuda.h", "cuda_runtime.h"):
            made.remove(f"{folder}/include/{name}")
        says(made, COMPILE, "broken", "without headers", status=1)


def test_a_host_compiler_that_is_too_new_is_told_and_a_fitting_one_is_named():
    with machine() as made:
        made.toolkit("11.8", gcc=11)
        says(made, COMPILE, "broken", "up to 11", "12", remedy="apt-get install g++-11", status=1)
        made.compiler(10, "g++-10")
        made.compiler(13, "g++-13")
        says(made, COMPILE, "broken", remedy="nvcc -ccbin g++-10")


def test_clang_has_a_limit_of_its_own():
    with machine() as made:
        made.toolkit("12.4", gcc=13)
        made.compiler(14, "clang++")
        made.environment["CXX"] = "clang++"
        says(made, COMPILE, "works")
        made.compiler(18, "clang++")
        says(made, COMPILE, "broken", "clang++ up to 17", "18", remedy="-ccbin clang++-17", status=1)


def test_a_missing_compiler_is_told():
    with machine() as made:
        made.toolkit()
        made.remove("/usr/bin/g++")
        says(made, COMPILE, "missing", "no C++ compiler called g++", remedy="apt-get install g++")


def test_linking_wants_a_libcuda_so_or_a_stub():
    with machine() as made:
        folder = made.toolkit()
        says(made, LINK, "limited", remedy=f"-L{folder}/lib64/stubs")
        made.environment["LIBRARY_PATH"] = f"{folder}/lib64/stubs"
        says(made, LINK, "works")
        made.environment.pop("LIBRARY_PATH")
        made.driver()
        says(made, LINK, "works")
        made.remove(f"{SYSTEM}/libcuda.so")
        made.remove(f"{folder}/lib64/stubs/libcuda.so")
        says(made, LINK, "missing", "no libcuda.so", remedy="-l:libcuda.so.1")


@reads_libraries
def test_nvrtc_needs_the_builtins_of_just_its_version():
    with machine() as made:
        folder = made.toolkit()
        made.environment["LD_LIBRARY_PATH"] = f"{folder}/lib64"
        says(made, NVRTC, "works")
        made.remove(f"{folder}/lib64/libnvrtc-builtins.so.13.0")
        says(made, NVRTC, "broken", "libnvrtc-builtins.so.13.0", status=1)
