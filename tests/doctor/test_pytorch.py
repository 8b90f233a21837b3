"""Tests of the doctor on made-up machines: PyTorch, cuDNN and packages."""

from made_up import COMPILE, CUDNN, EXTENSION, PYTORCH, SYSTEM, TORCH, healthy, library, machine, reads_libraries, says


@reads_libraries
def test_cudnn_of_another_major_version_than_pytorch_needs_is_broken():
    with machine() as made:
        healthy(made)
        made.environment.pop("LD_LIBRARY_PATH")
        for name in ("libcudnn.so.9", "libcudnn.so"):
            made.remove(f"{TORCH}/nvidia/cudnn/lib/{name}")
        made.library(f"{TORCH}/nvidia/cudnn/lib", "libcudnn.so.8.9.7")
        says(made, PYTORCH, "broken", "needs libcudnn.so.9", "libcudnn.so.8", remedy="nvidia-cudnn-cu13==9.19.0.56", status=1)
        says(made, EXTENSION, "broken", "needs libcudnn.so.9")


@reads_libraries
def test_a_library_path_wins_over_pytorchs_runpath_and_loses_to_its_rpath():
    with machine() as made:
        healthy(made)
        made.library("/opt/cudnn", "libcudnn.so.9.1.0")
        made.environment["LD_LIBRARY_PATH"] = "/opt/cudnn"
        assert made.look().for_torch("cudnn").version == "9.19.0.56"
        assert made.look().for_programs("cudnn").version == "9.1.0"
        made.torch(rpath=False)
        assert made.look().for_torch("cudnn").version == "9.1.0"
        says(made, PYTORCH, "limited", "9.19.0.56", "9.1.0", "LD_LIBRARY_PATH", remedy="unset LD_LIBRARY_PATH")


@reads_libraries
def test_an_interpreters_rpath_counts_for_pytorch_too():
    with machine() as made:  # as conda's python is built
        healthy(made)
        made.torch(rpath=False)
        made.file("/opt/env/bin/python3", library("libpython3.so", rpath="$ORIGIN/../lib")).chmod(0o755)
        made.library("/opt/env/lib", "libcudnn.so.9.19.0")
        made.environment["PATH"] = "/opt/env/bin:" + made.environment["PATH"]
        assert made.look().for_torch("cudnn").path == "/opt/env/lib/libcudnn.so.9.19.0"


@reads_libraries
def test_parts_of_cudnn_of_different_versions_are_broken():
    with machine() as made:
        made.library("/opt/new", "libcudnn.so.9.19.0")
        made.library("/opt/old", "libcudnn_ops.so.9.1.0")
        made.environment["LD_LIBRARY_PATH"] = "/opt/new:/opt/old"
        says(made, CUDNN, "broken", "9.19.0", "9.1.0", status=1)


@reads_libraries
def test_cudnn_that_only_pytorch_finds_is_limited():
    with machine() as made:
        healthy(made)
        made.environment.pop("LD_LIBRARY_PATH")
        says(made, CUDNN, "limited", "PyTorch finds its own", remedy="nvidia/cudnn/lib", status=0)


def test_pytorch_for_the_cpu_is_told():
    with machine() as made:
        made.driver()
        made.torch(cuda="", needs=())
        says(made, PYTORCH, "missing", "CPU only")


def test_pytorch_for_a_newer_cuda_than_the_driver_serves_is_broken():
    with machine() as made:
        healthy(made)
        for name in ("libcuda.so.580.65.06", "libcuda.so.1", "libcuda.so"):
            made.remove(f"{SYSTEM}/{name}")
        made.driver("535.54.03", cuda=12020)
        says(made, PYTORCH, "broken", "built for CUDA 13.0", "12.2", status=1)


def test_an_extension_needs_the_major_version_of_pytorchs_cuda():
    with machine() as made:
        healthy(made)
        old = made.toolkit("12.4", root="/opt/cuda-12.4", gcc=13)
        made.environment["PATH"] = f"{old}/bin:/usr/bin"
        says(made, EXTENSION, "broken", "13.0", "12.4", "another major version", remedy="CUDA_HOME=/usr/local/cuda-13.0", status=1)


def test_an_extension_is_built_with_another_minor_version_under_a_warning():
    with machine() as made:
        made.torch("13.1")
        made.wheel("nvidia-cuda_runtime", "13.0.96", "libcudart.so.13")
        made.wheel("nvidia-cudnn-cu13", "9.19.0.56", "libcudnn.so.9")
        made.file("/usr/include/python3.11/Python.h")
        made.toolkit("13.0")
        says(made, EXTENSION, "limited", "warns")


def test_an_extension_needs_the_headers_that_pytorchs_include():
    with machine() as made:
        healthy(made)
        made.remove("/usr/local/cuda/include/cusparse.h")
        says(made, EXTENSION, "broken", "cusparse.h", remedy="cuda-toolkit-13-0", status=1)


def test_an_extension_needs_pythons_headers():
    with machine() as made:
        healthy(made)
        made.remove("/usr/include/python3.11/Python.h")
        says(made, EXTENSION, "missing", "Python.h", remedy="python3-dev")


def test_what_the_course_has_fetched_breaks_no_machine():
    with machine() as made:
        made.torch()
        made.environment.pop("VIRTUAL_ENV")
        made.private_packages = [TORCH]
        made.wheel("nvidia-cuda_runtime", "13.0.96", "libcudart.so.13")
        made.wheel("nvidia-cudnn-cu13", "9.19.0.56", "libcudnn.so.9")
        made.file("/usr/include/python3.11/Python.h")
        folder = made.toolkit("13.0", root="/home/learner/.cache/cuda", headers=("cuda_runtime.h",))
        made.private_toolkits = [folder]
        says(made, EXTENSION, "missing", "cublas_v2.h", "the course's own toolkit", remedy="cuda-toolkit-13-0", status=2)
        made.driver("535.54.03", cuda=12020)
        says(made, PYTORCH, "missing", "built for CUDA 13.0", "the course's own PyTorch")
        says(made, COMPILE, "missing", "the course's own toolkit", status=0)
        made.environment["CUDA_HOME"] = folder  # now it is this machine's
        says(made, COMPILE, "broken", status=1)


def test_where_there_is_no_pip_an_environment_is_made_first():
    with machine() as made:
        says(made, PYTORCH, "missing", "no PyTorch", remedy="apt-get install python3-venv; python3 -m venv env; env/bin/pip install torch")
        made.file("/usr/lib/python3/dist-packages/pip/__init__.py")
        says(made, PYTORCH, "missing", "no PyTorch", remedy="python3 -m pip install torch")


def test_what_a_toolkit_has_is_told_before_what_it_lacks():
    with machine() as made:
        folder = made.toolkit()
        assert made.look().toolkit.contents() == "nvcc 13.0.88, headers, libraries"
        made.remove(f"{folder}/bin/nvcc")
        assert made.look().toolkit.contents() == "headers, libraries, without nvcc"


def test_a_wheels_version_comes_from_its_record():
    with machine() as made:
        made.torch()
        made.wheel("nvidia-cublas", "13.1.0.3", "libcublas.so.13")
        blas = made.look().called("cublas")[0]
        assert (blas.version, blas.origin) == ("13.1.0.3", "pip: nvidia-cublas"), blas
