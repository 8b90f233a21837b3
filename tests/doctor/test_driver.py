"""Tests of the doctor on made-up machines: cards, drivers and their libraries, most of them broken."""

import json
import os
import subprocess

from course.doctor import report
from made_up import CONTAINER, DRIVER, RUN, SYSTEM, library, machine, says, verdicts


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


def test_a_device_that_is_named_twice_is_told():
    with machine() as made:
        made.driver(devices=2)
        made.environment["CUDA_VISIBLE_DEVICES"] = "0,0"
        says(made, RUN, "broken", "is 0,0, which names a device twice", "101", remedy="unset CUDA_VISIBLE_DEVICES", status=1)


def test_a_device_for_one_process_only_is_limited_and_a_prohibited_one_is_broken():
    with machine() as made:
        made.driver(mode=3)
        says(made, RUN, "limited", "Exclusive_Process", "46", "lesson 01-07", remedy="nvidia-smi -c DEFAULT", status=0)
    with machine() as made:
        made.driver(mode=2)
        says(made, RUN, "broken", "Prohibited", "46", remedy="nvidia-smi -c DEFAULT", status=1)


def jit_cache(made):
    return dict(report.machine_rows(made.look()))["JIT cache"]


def test_the_jit_cache_is_where_the_driver_may_keep_what_it_compiles():
    with machine() as made:
        made.driver()
        made.file("/home/learner/.profile")
        assert jit_cache(made) == "/home/learner/.nv/ComputeCache"
        made.environment["CUDA_CACHE_PATH"] = "/home/learner/.profile/cache"
        assert jit_cache(made) == "/home/learner/.profile/cache, which cannot be written: PTX is compiled at every start"
        made.environment["CUDA_CACHE_DISABLE"] = "1"
        assert "disabled by CUDA_CACHE_DISABLE" in jit_cache(made)
        made.environment = {"PATH": made.environment["PATH"]}
        assert "HOME and CUDA_CACHE_PATH are not set" in jit_cache(made)


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
