"""Tests of the doctor on made-up machines, most of them broken: what it finds, its verdict, and the command that it suggests."""

import json
import os
import pathlib
import subprocess
import sys

from made_up import DRIVER, SYSTEM, TORCH, library, machine, verdicts

from course import ROOT

RUN = "run a driver program on the GPU"
COMPILE = "compile a kernel with nvcc"
LINK = "link a driver program (-lcuda)"
NVRTC = "compile a kernel at run time (NVRTC)"
CUDNN = "use cuDNN in a program of your own"
PYTORCH = "run PyTorch on the GPU"
EXTENSION = "build a CUDA extension for PyTorch, such as MMCV's ops"
CONTAINER = "use the GPU in a container"
SIMULATOR = "run this course on the simulated GPU"


def says(made, task, state, *parts, remedy="", status=None):
    """The verdict on one task: its state, parts of its reason, a part of what to type, and the exit status of the whole."""
    judged, ended = made.judged()
    verdict = judged[task]
    assert verdict.state == state, verdict
    for part in parts:
        assert part in verdict.reason, verdict
    assert remedy in verdict.remedy, verdict
    assert status is None or ended == status, (ended, [one for one in judged.values() if one.state == verdicts.BROKEN])


def healthy(made):
    """Driver, toolkit, PyTorch with its wheels, docker: nothing is wrong."""
    made.driver()
    made.toolkit()
    made.torch()
    made.wheel("nvidia-cuda_runtime", "13.0.96", "libcudart.so.13")
    made.wheel("nvidia-cudnn-cu13", "9.19.0.56", "libcudnn.so.9")
    made.file("/usr/include/python3.11/Python.h")
    made.command("/usr/bin/docker")
    made.command("/usr/bin/nvidia-ctk")
    made.environment["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64:/opt/env/lib/python3.11/site-packages/nvidia/cudnn/lib"


def test_a_healthy_machine_does_all_nine_tasks_and_the_status_is_0():
    with machine() as made:
        healthy(made)
        judged, status = made.judged()
        assert {verdict.state for verdict in judged.values()} == {"works"}, [one for one in judged.values() if one.state != "works"]
        assert len(judged) == 9 and status == 0


def test_a_machine_without_a_gpu_has_status_2_and_the_simulator():
    with machine() as made:
        made.toolkit()
        says(made, RUN, "no GPU", "no NVIDIA driver", remedy="make run", status=2)
        says(made, SIMULATOR, "works")
        says(made, COMPILE, "works")


# ---- the driver


def test_a_card_without_a_driver_is_broken():
    with machine() as made:
        made.card()
        says(made, RUN, "broken", "no NVIDIA driver", "0000:1b:00.0", remedy="apt-get install nvidia-driver", status=1)


def test_nouveau_is_named_where_it_has_the_card():
    with machine() as made:
        made.card()
        made.file("/sys/module/nouveau/version", "1\n")
        says(made, RUN, "broken", "nouveau", status=1)


def test_a_kernel_module_without_its_library_is_broken():
    with machine() as made:
        made.card()
        made.module("580.65.06")
        made.devices()
        says(made, RUN, "broken", "580.65.06", "no libcuda.so.1", status=1)


def test_the_stub_in_the_loaders_path_is_recognised():
    with machine() as made:
        folder = made.toolkit()
        made.link(f"{folder}/lib64/stubs/libcuda.so.1", "libcuda.so")
        made.environment["LD_LIBRARY_PATH"] = f"{folder}/lib64/stubs:{folder}/lib64"
        says(made, RUN, "broken", "stub", "34", remedy=f"export LD_LIBRARY_PATH={folder}/lib64", status=1)


def test_the_simulator_in_the_drivers_place_is_no_gpu():
    with machine() as made:
        source = DRIVER.replace("NVIDIA H200", "Simulated H200")
        made.library("/opt/simulator", "libcuda.so.1.0", source=source, defines=("RESULT=0", "VERSION=13000", "DEVICES=1"))
        made.environment["LD_LIBRARY_PATH"] = "/opt/simulator"
        says(made, RUN, "no GPU", "/opt/simulator/libcuda.so.1", "no NVIDIA GPU", status=2)
        made.card()
        says(made, RUN, "no GPU", "instead of the driver", remedy="unset LD_LIBRARY_PATH")


def test_a_stub_that_the_loader_does_not_take_is_only_mentioned():
    with machine() as made:
        folder = made.toolkit()
        says(made, RUN, "no GPU", f"{folder}/lib64/stubs/libcuda.so is only the linker's stub", status=2)
        stub = next(one for one in made.look().libraries if one.stub)
        assert "stub" in stub.purpose and not stub.for_programs


def test_a_library_of_another_version_than_the_kernel_module_is_broken():
    with machine() as made:
        made.driver("580.95.05", result=803)
        made.module("580.65.06")
        says(made, RUN, "broken", "580.95.05", "580.65.06", "mismatch", remedy="sudo reboot", status=1)


def test_other_versions_that_work_together_are_left_alone():
    with machine() as made:  # cuda-compat: a newer library on an older module, on purpose
        made.driver("590.44.01", cuda=13010)
        made.module("580.65.06")
        says(made, RUN, "works")


def test_libcuda_without_its_1_is_broken():
    with machine() as made:
        made.driver()
        made.remove(f"{SYSTEM}/libcuda.so.1")
        made.remove(f"{SYSTEM}/libcuda.so")
        made.link(f"{SYSTEM}/libcuda.so", "libcuda.so.580.65.06")
        says(made, RUN, "broken", f"{SYSTEM}/libcuda.so", "no libcuda.so.1", remedy=f"sudo ldconfig {SYSTEM}", status=1)


def test_libcuda_1_that_leads_nowhere_is_as_good_as_none():
    with machine() as made:
        made.driver()
        made.remove(f"{SYSTEM}/libcuda.so.580.65.06")
        says(made, RUN, "broken", "no libcuda.so.1", status=1)
        assert [one.dangling for one in made.look().libraries] == [True]


def test_a_driver_where_the_loader_does_not_look_is_found_all_the_same():
    with machine() as made:
        made.card()
        made.module("580.65.06")
        made.devices()
        made.driver_library(folder="/usr/local/nvidia/lib64")
        says(made, RUN, "broken", "where the loader does not look", remedy="LD_LIBRARY_PATH=/usr/local/nvidia/lib64", status=1)
        made.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
        made.file("/etc/ld.so.conf.d/nvidia.conf", "# the driver\n/usr/local/nvidia/lib64\n")
        says(made, RUN, "broken", "ldconfig has not seen", remedy="sudo ldconfig", status=1)


def test_what_ldconfig_has_noted_comes_before_the_system_folders():
    with machine() as made:
        made.driver()
        made.driver_library("590.44.01", cuda=13010, folder="/opt/driver")
        folder = made.root + "/opt/driver"
        made.file("/etc/conf", folder + "\n")
        ldconfig = next(path for path in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if os.path.exists(path))
        subprocess.run([ldconfig, "-X", "-C", made.root + "/etc/ld.so.cache", "-f", made.root + "/etc/conf"], check=True)
        found = made.look().driver
        assert (found.library.path, found.library.why, found.version) == ("/opt/driver/libcuda.so.1", "ldconfig", 13010), found


def test_a_library_for_another_processor_is_passed_over():
    with machine() as made:
        made.driver()
        content = bytearray(library("libcuda.so.1"))
        content[18:20] = (21).to_bytes(2, "little")  # e_machine: PowerPC
        made.file("/opt/other/libcuda.so.1", bytes(content))
        made.environment["LD_LIBRARY_PATH"] = "/opt/other"
        says(made, RUN, "works")


def test_a_container_without_devices_is_told_from_a_machine_without_them():
    with machine() as made:
        made.module("580.65.06")
        made.driver_library(result=100, devices=0)
        says(made, RUN, "broken", "/dev/nvidia0", remedy="nvidia-modprobe", status=1)
        made.file("/.dockerenv")
        says(made, RUN, "broken", "container was given no device", remedy="--gpus all", status=1)
        says(made, CONTAINER, "broken", "container was given no device", remedy="--gpus all")


def test_a_container_without_the_drivers_library_is_told():
    with machine() as made:
        made.module("580.65.06")
        made.file("/.dockerenv")
        says(made, RUN, "broken", "container was not given its library", remedy="--gpus all", status=1)


def test_hidden_devices_are_laid_to_the_variable_that_hides_them():
    with machine() as made:
        made.driver(devices=2)
        for value, parts in {"": ("is empty", "there are 2"), "7": ("is 7",), "GPU-of-another-machine": ("first entry",), "-1": ("is -1",)}.items():
            made.environment["CUDA_VISIBLE_DEVICES"] = value
            says(made, RUN, "no GPU", "CUDA_VISIBLE_DEVICES", *parts, remedy="unset CUDA_VISIBLE_DEVICES", status=2)
        made.environment["CUDA_VISIBLE_DEVICES"] = "1,7"
        says(made, RUN, "works")


def test_a_variable_that_hides_nothing_is_not_blamed():
    with machine() as made:  # as a scheduler sets it, in a container that was given no device
        made.module("580.65.06")
        made.driver_library(result=100, devices=0)
        made.file("/.dockerenv")
        made.environment["CUDA_VISIBLE_DEVICES"] = "0"
        says(made, RUN, "broken", "container was given no device", remedy="--gpus all", status=1)
        made.devices()
        says(made, RUN, "no GPU", "sees no GPU", status=2)


def test_device_files_that_this_user_may_not_open_are_named():
    with machine() as made:
        made.driver(result=100, devices=0)
        found = made.look()
        found.driver.forbidden = ["/dev/nvidia0"]  # root, who may run these tests, may open everything
        verdict = verdicts.judge(found)[0]
        assert verdict.state == "broken" and "may not open /dev/nvidia0" in verdict.reason and "usermod" in verdict.remedy, verdict


def test_a_missing_uvm_device_is_named():
    with machine() as made:
        made.driver(result=999, devices=0)
        says(made, RUN, "broken", "does not start", "999", remedy="dmesg", status=1)
        made.remove("/dev/nvidia-uvm")
        says(made, RUN, "broken", "/dev/nvidia-uvm", remedy="nvidia-modprobe -u", status=1)


def test_a_card_that_the_driver_does_not_see_is_broken():
    with machine() as made:
        made.driver(result=100, devices=0)
        says(made, RUN, "broken", "sees no GPU", "0000:1b:00.0", remedy="dmesg", status=1)


def test_an_image_that_brings_a_driver_along_is_told():
    with machine() as made:
        made.driver("535.183.01", result=803, devices=0)
        made.module("580.65.06")
        made.file("/.dockerenv")
        says(made, RUN, "broken", "535.183.01", "580.65.06", "image", remedy="purge 'libnvidia-compute-*'", status=1)


def test_a_divided_gpu_without_an_instance_is_told():
    with machine() as made:
        made.driver(result=100, devices=0)
        made.command("/usr/bin/nvidia-smi", "Enabled")
        says(made, RUN, "broken", "MIG", remedy="nvidia-smi -L", status=1)


def test_a_stub_before_a_driver_is_told_and_the_driver_is_kept():
    with machine() as made:
        made.driver()
        folder = made.toolkit()
        made.link(f"{folder}/lib64/stubs/libcuda.so.1", "libcuda.so")
        made.environment["LD_LIBRARY_PATH"] = f"{folder}/lib64/stubs"
        says(made, RUN, "broken", "stub", f"{folder}/lib64/stubs", remedy="unset LD_LIBRARY_PATH", status=1)
        made.environment.pop("LD_LIBRARY_PATH")
        says(made, RUN, "works", status=0)


def test_wsl_has_its_driver_from_windows():
    with machine() as made:
        made.file("/dev/dxg")
        says(made, RUN, "broken", "WSL", "no driver", remedy="on Windows", status=1)
        made.driver_library("1.1", folder="/usr/lib/wsl/lib")
        says(made, RUN, "broken", "/usr/lib/wsl/lib", "where the loader does not look", remedy="LD_LIBRARY_PATH=/usr/lib/wsl/lib")
        made.environment["LD_LIBRARY_PATH"] = "/usr/lib/wsl/lib"
        says(made, RUN, "works", status=0)
        made.environment.pop("LD_LIBRARY_PATH")
        made.driver_library(result=100, devices=0)  # a Linux driver was installed, too
        says(made, RUN, "broken", "WSL", f"{SYSTEM}/libcuda.so.1", remedy="purge", status=1)


def test_a_jetson_has_no_pci_bus_and_folders_of_its_own():
    with machine() as made:
        made.file("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n")
        made.file("/dev/nvhost-gpu")
        says(made, RUN, "broken", "Jetson", remedy="nvidia-l4t-cuda", status=1)
        made.file("/.dockerenv")
        says(made, RUN, "broken", "Jetson", remedy="--runtime nvidia", status=1)
        made.remove("/.dockerenv")
        folder = "/usr/lib/aarch64-linux-gnu/nvidia"
        made.driver_library("1.1", cuda=12060, folder=folder)
        says(made, RUN, "broken", folder, "where the loader does not look")
        made.environment["LD_LIBRARY_PATH"] = folder
        says(made, RUN, "works", status=0)


def test_condas_cuda_compat_is_found_and_told_where_it_does_not_serve():
    with machine() as made:
        made.driver("550.54.14", cuda=12040)
        made.environment["CONDA_PREFIX"] = "/opt/conda"
        folder = "/opt/conda/cuda-compat"
        made.driver_library("580.95.05", result=804, devices=0, folder=folder)
        package = {"name": "cuda-compat", "version": "13.0.0", "files": ["cuda-compat/libcuda.so.580.95.05"]}
        made.file("/opt/conda/conda-meta/cuda-compat-13.0.0.json", json.dumps(package))
        compat = next(one for one in made.look().called("cuda") if one.path.startswith(folder))
        assert compat.origin == "conda: cuda-compat" and not compat.for_programs, compat
        says(made, RUN, "works", status=0)
        made.environment["LD_LIBRARY_PATH"] = f"{folder}:/opt/conda/lib"
        says(made, RUN, "broken", "cuda-compat", folder, "804", remedy="export LD_LIBRARY_PATH=/opt/conda/lib", status=1)


def test_a_driver_that_crashes_is_survived():
    with machine() as made:
        made.driver()
        made.remove(f"{SYSTEM}/libcuda.so.580.65.06")
        source = "int cuDriverGetVersion(int* v) { *v = 13000; return 0; }\nint cuInit(unsigned f) { __builtin_trap(); return f; }\n"
        made.remove(f"{SYSTEM}/libcuda.so.1")
        made.remove(f"{SYSTEM}/libcuda.so")
        made.library(SYSTEM, "libcuda.so.580.65.06", source=source)
        says(made, RUN, "broken", "crashes", status=1)


# ---- toolkits


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


def test_nvrtc_needs_the_builtins_of_just_its_version():
    with machine() as made:
        folder = made.toolkit()
        made.environment["LD_LIBRARY_PATH"] = f"{folder}/lib64"
        says(made, NVRTC, "works")
        made.remove(f"{folder}/lib64/libnvrtc-builtins.so.13.0")
        says(made, NVRTC, "broken", "libnvrtc-builtins.so.13.0", status=1)


# ---- PyTorch and cuDNN


def test_cudnn_of_another_major_version_than_pytorch_needs_is_broken():
    with machine() as made:
        healthy(made)
        made.environment.pop("LD_LIBRARY_PATH")
        for name in ("libcudnn.so.9", "libcudnn.so"):
            made.remove(f"{TORCH}/nvidia/cudnn/lib/{name}")
        made.library(f"{TORCH}/nvidia/cudnn/lib", "libcudnn.so.8.9.7")
        says(made, PYTORCH, "broken", "needs libcudnn.so.9", "libcudnn.so.8", remedy="nvidia-cudnn-cu13==9.19.0.56", status=1)
        says(made, EXTENSION, "broken", "needs libcudnn.so.9")


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


def test_an_interpreters_rpath_counts_for_pytorch_too():
    with machine() as made:  # as conda's python is built
        healthy(made)
        made.torch(rpath=False)
        made.file("/opt/env/bin/python3", library("libpython3.so", rpath="$ORIGIN/../lib")).chmod(0o755)
        made.library("/opt/env/lib", "libcudnn.so.9.19.0")
        made.environment["PATH"] = "/opt/env/bin:" + made.environment["PATH"]
        assert made.look().for_torch("cudnn").path == "/opt/env/lib/libcudnn.so.9.19.0"


def test_parts_of_cudnn_of_different_versions_are_broken():
    with machine() as made:
        made.library("/opt/new", "libcudnn.so.9.19.0")
        made.library("/opt/old", "libcudnn_ops.so.9.1.0")
        made.environment["LD_LIBRARY_PATH"] = "/opt/new:/opt/old"
        says(made, CUDNN, "broken", "9.19.0", "9.1.0", status=1)


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


# ---- the command


def test_the_command_prints_json_and_lines_of_a_hundred_columns():
    with machine() as made:
        healthy(made)
        made.environment["CUDA_VISIBLE_DEVICES"] = "0"
        command = [sys.executable, "-m", "course", "doctor", "--root", made.root]
        made.environment["PYTHONPATH"] = str(ROOT / "common")
        said = subprocess.run(command + ["--json"], env=made.environment, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout + said.stderr
        report = json.loads(said.stdout)
        assert report["status"] == 0 and len(report["tasks"]) == 9
        assert {one["name"] for one in report["libraries"]} >= {"cuda", "cudart", "cudnn", "torch_cuda"}
        told = subprocess.run(command, env=made.environment, capture_output=True, text=True, check=False).stdout.splitlines()
        assert "  GPU          NVIDIA H200, compute capability 9.0" in told, told
        assert [line for line in told if len(line) > 100] == []


def test_without_its_packages_the_command_finds_less_and_says_so():
    with machine() as made:
        healthy(made)
        (pathlib.Path(made.root) / "hidden").mkdir()
        for name in ("elftools", "packaging"):  # found first, and cannot be imported
            (pathlib.Path(made.root) / "hidden" / f"{name}.py").write_text("raise ImportError\n")
        made.environment["PYTHONPATH"] = f"{made.root}/hidden:{ROOT}/common"
        command = [sys.executable, "-m", "course", "doctor", "--root", made.root]
        said = subprocess.run(command, env=made.environment, capture_output=True, text=True, check=False)
        assert said.returncode == 0 and "Not examined: the names and search paths inside libraries" in said.stdout, said.stderr
        assert "  works    run a driver program on the GPU" in said.stdout.splitlines()


def test_a_requirement_for_another_system_is_not_pytorchs():
    with machine() as made:
        healthy(made)
        metadata = "Requires-Dist: nvidia-cudnn-cu13==9.1.0; platform_system == 'Windows'\nRequires-Dist: nvidia-cudnn-cu13 (==9.19.0.56)\n"
        made.file(f"{TORCH}/torch-2.11.0.dist-info/METADATA", metadata)
        assert made.look().torch.wants == {"nvidia-cudnn-cu13": "9.19.0.56"}
        says(made, PYTORCH, "works")


def test_two_cudnns_that_do_not_meet_are_told_and_nothing_is_wrong():
    with machine() as made:
        healthy(made)
        made.library("/opt/cudnn", "libcudnn.so.9.14.0")
        made.environment["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64:/opt/cudnn"
        assert ("cuDNN of programs and of PyTorch", "two, 9.14.0 and 9.19.0.56; each gets its own") in verdicts.compare(made.look())
        assert made.judged()[1] == 0


def test_make_doctor_ends_well_whatever_the_verdict():
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "INSIDE", "IN")}
    ended = subprocess.run(["make", "doctor"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and "Error" not in ended.stderr and "Nine tasks" in ended.stdout, ended.stderr
