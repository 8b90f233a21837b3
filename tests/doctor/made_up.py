"""Makes machines up: a folder with the files that an installation would have, for tests of the doctor."""

import functools
import hashlib
import importlib.util
import os
import pathlib
import platform
import subprocess
import tempfile

import pytest

from course import ROOT
from course.doctor import elf, findings, verdicts
from course.doctor.machine import Machine

HAS_PACKAGES = elf.ELFFile and importlib.util.find_spec("packaging")
reads_libraries = pytest.mark.skipif(not HAS_PACKAGES, reason="needs pyelftools and packaging, which set-up could not fetch")

BUILT = ROOT / "build" / "installations"
SYSTEM = f"/usr/lib/{platform.machine()}-linux-gnu"
TORCH = "/opt/env/lib/python3.11/site-packages"

# What the doctor calls its tasks.
RUN = "run a driver program on the GPU"
COMPILE = "compile a kernel with nvcc"
LINK = "link a driver program (-lcuda)"
NVRTC = "compile a kernel at run time (NVRTC)"
CUDNN = "use cuDNN in a program of your own"
PYTORCH = "run PyTorch on the GPU"
EXTENSION = "build a CUDA extension for PyTorch, such as MMCV's ops"
CONTAINER = "use the GPU in a container"
SIMULATOR = "run this course on the simulated GPU"

# As a driver does it, CUDA_VISIBLE_DEVICES counts up to the first entry that names no device; one digit is enough here.
DRIVER = """
extern char* getenv(const char*);
static int shown(void) {
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  int number = 0;
  if (!list) return DEVICES;
  for (; *list >= '0' && *list < '0' + DEVICES && (list[1] == ',' || !list[1]); list += list[1] ? 2 : 1) ++number;
  return number;
}
static int twice(void) { const char* list = getenv("CUDA_VISIBLE_DEVICES"); return list && *list && list[1] == ',' && *list == list[2]; }
int cuInit(unsigned flags) { return twice() ? 101 : RESULT == 0 && DEVICES && !shown() ? 100 : flags + RESULT; }
#ifndef MODE
#define MODE 0
#endif
int cuDriverGetVersion(int* version) { *version = VERSION; return 0; }
int cuGetErrorName(int code, const char** name) { *name = code ? "CUDA_ERROR_OF_SOME_KIND" : "CUDA_SUCCESS"; return 0; }
int cuDeviceGetCount(int* count) { *count = shown(); return 0; }
int cuDeviceGetName(char* name, int size, int device) {
  const char* text = "NVIDIA H200";
  for (int i = device; i < size && (name[i] = text[i]); ++i) {}
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) { *value = attribute == 20 ? MODE : device + (attribute == 75 ? 9 : 0); return 0; }
"""


@functools.lru_cache(None)
def library(soname, needed=(), runpath="", rpath="", source="", defines=()):
    """The bytes of a real shared library; kept in build/, since most are wanted again and again."""
    key = hashlib.sha256(repr((soname, needed, runpath, rpath, source, defines)).encode()).hexdigest()[:16]
    path = BUILT / f"{key}.so"
    if not path.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILT) as folder:
            for name in needed:
                (pathlib.Path(folder) / name).write_bytes(library(name))
            flags = ["-shared", "-nostdlib", "-fPIC", "-O1", f"-Wl,-soname,{soname}"] + [f"-D{define}" for define in defines]
            flags += [f"-Wl,-rpath,{runpath},--enable-new-dtags"] if runpath else []
            flags += [f"-Wl,-rpath,{rpath},--disable-new-dtags"] if rpath else []
            output = f"{folder}/output.so"
            compiler = os.environ.get("CXX", "g++").split()
            command = [*compiler, "-x", "c", "-", *flags, "-Wl,--no-as-needed", f"-L{folder}", *(f"-l:{name}" for name in needed), "-o", output]
            subprocess.run(command, input=source + "\n", text=True, check=True, capture_output=True)
            os.replace(output, path)
    return path.read_bytes()


def place():
    """The folder for what the tests make up: the one for temporary files, unless no program can be started there (mounted noexec, as hardened machines have it)."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0o700)
        if os.access(file.name, os.X_OK):
            return tempfile.gettempdir()
    BUILT.mkdir(parents=True, exist_ok=True)
    return str(BUILT)


class Installation:
    """A made-up machine: an x86-64 or ARM Linux with a C++ compiler and nothing of NVIDIA's, until more is put in."""

    def __init__(self, folder):
        self.root = folder
        self.environment = {"PATH": "/usr/local/cuda/bin:/usr/bin:/bin", "HOME": "/home/learner"}
        self.private_toolkits, self.private_packages = [], []  # what the course has fetched
        self.file("/etc/os-release", 'PRETTY_NAME="A made-up Linux"\n')
        self.compiler(12)

    # ---- what there can be

    def file(self, path, content=""):
        target = pathlib.Path(self.root + path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def link(self, path, to):
        pathlib.Path(self.root + path).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(to, self.root + path)

    def remove(self, path):
        os.remove(self.root + path)

    def command(self, path, says=""):
        self.file(path, f"#!/bin/sh\necho '{says}'\n").chmod(0o755)

    def compiler(self, version, name="g++"):
        says = f"Made up clang version {version}.0.6" if "clang" in name else f"g++ (Made up) {version}.2.0"
        self.command(f"/usr/bin/{name}", says)

    def library(self, folder, file, **how):
        """A library called libsomething.so.1.2.3 and the usual links to it: its soname libsomething.so.1, and libsomething.so."""
        stem, _, version = file.partition(".so.")
        number = "1" if stem == "libcuda" else version if "builtins" in stem else version.split(".")[0]
        soname = f"{stem}.so.{number}"
        self.file(f"{folder}/{file}", library(soname, **how))
        if soname != file:
            self.link(f"{folder}/{soname}", file)
        self.link(f"{folder}/{stem}.so", soname)

    def module(self, version):
        self.file("/proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build\n")

    def card(self):
        self.file("/sys/bus/pci/devices/0000:1b:00.0/vendor", "0x10de\n")
        self.file("/sys/bus/pci/devices/0000:1b:00.0/class", "0x030200\n")

    def devices(self):
        for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
            self.file(f"/dev/{name}")

    def driver_library(self, version="580.65.06", cuda=13000, result=0, devices=1, mode=0, folder=SYSTEM):
        defines = (f"RESULT={result}", f"VERSION={cuda}", f"DEVICES={devices}", f"MODE={mode}")
        self.library(folder, f"libcuda.so.{version}", source=DRIVER, defines=defines)

    def driver(self, version="580.65.06", **how):
        """A driver that works, with its GPU."""
        self.card()
        self.module(version)
        self.devices()
        self.driver_library(version, **how)

    def toolkit(self, version="13.0", root=None, gcc=15, headers=("cuda_runtime.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h")):
        """A whole toolkit; without a root of its own it is /usr/local/cuda-13.0, with /usr/local/cuda leading there."""
        major, minor = version.split(".")[:2]
        folder = root or f"/usr/local/cuda-{version}"
        self.command(f"{folder}/bin/nvcc", f"Cuda compilation tools, release {version}, V{version}.88")
        self.file(f"{folder}/include/cuda.h", f"#define CUDA_VERSION {int(major) * 1000 + int(minor) * 10}\n")
        for header in headers:
            self.file(f"{folder}/include/{header}")
        self.file(
            f"{folder}/include/crt/host_config.h",
            f"#if __GNUC__ > {gcc}\n#error\n#endif\n#if (__clang_major__ >= 18) || (__clang_major__ < 3)\n#error\n#endif\n",
        )
        self.library(f"{folder}/lib64", f"libcudart.so.{version}.96")
        self.library(f"{folder}/lib64", f"libnvrtc.so.{version}.88")
        self.library(f"{folder}/lib64", f"libnvrtc-builtins.so.{version}")
        self.file(f"{folder}/lib64/stubs/libcuda.so", library("libcuda.so.1", source=DRIVER, defines=("RESULT=34", "VERSION=0", "DEVICES=0")))
        if not root:
            self.link("/usr/local/cuda", f"cuda-{version}")
        return folder

    def wheel(self, package, version, file, **how):
        """One of NVIDIA's wheels with one library in it."""
        folder = f"nvidia/{package.split('-')[1]}/lib"
        self.library(f"{TORCH}/{folder}", file, **how)
        self.file(f"{TORCH}/{package.replace('-', '_')}-{version}.dist-info/RECORD", f"{folder}/{file},sha256=…,1\n")

    def torch(self, cuda="13.0", cudnn="9.19.0.56", needs=("libcudart.so.13", "libcudnn.so.9"), rpath=True):
        """PyTorch for this CUDA, which asks for this cuDNN; its libraries come as wheels, with wheel()."""
        self.environment["VIRTUAL_ENV"] = "/opt/env"
        self.file(
            f"{TORCH}/torch/version.py", f"__version__ = '2.11.0+cu'\ncuda: Optional[str] = {cuda!r}\n" if cuda else "__version__ = '2.11.0+cpu'\ncuda = None\n"
        )
        self.file(f"{TORCH}/torch-2.11.0.dist-info/METADATA", f"Requires-Dist: nvidia-cudnn-cu{cuda[:2]}=={cudnn}; platform_system == 'Linux'\n")
        folders = ":".join(f"$ORIGIN/../../nvidia/{name}/lib" for name in ("cudnn", "cuda_runtime", "cuda"))
        how = {"rpath" if rpath else "runpath": folders}
        self.file(f"{TORCH}/torch/lib/libtorch_cuda.so", library("libtorch_cuda.so", needed=needs, **how))

    # ---- what the doctor says

    def look(self):
        return findings.look(Machine(self.root, self.environment), self.private_toolkits, self.private_packages)

    def judged(self):
        """{task: verdict} and the exit status."""
        found = self.look()
        judged = verdicts.judge(found)
        return {verdict.task: verdict for verdict in judged}, verdicts.exit_status(found, judged)


def machine():
    """with machine() as made: … — the folder goes away afterwards."""
    return _Folder()


class _Folder(tempfile.TemporaryDirectory):
    def __enter__(self):
        return Installation(super().__enter__())


# ---- what is expected of the doctor -----------------------------------------------------------------------------------------


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
