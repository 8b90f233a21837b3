"""Every NVIDIA library that this machine could load: its version, its origin, and which programs get it."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys

from . import catalog, elf
from .loader import Loader
from .machine import LIMIT, Machine
from .python import Python, owner
from .toolkits import Toolkit

# The function that returns a library's version, and how to read it, for libraries that load quickly. Each call runs in its own process.
ASK = {
    "cudart": ("cudaRuntimeGetVersion", "v = i(); f(c.byref(v)); print(f'{v.value // 1000}.{v.value % 1000 // 10}')"),
    "nvrtc": ("nvrtcVersion", "v, w = i(), i(); f(c.byref(v), c.byref(w)); print(f'{v.value}.{w.value}')"),
    "cudnn": ("cudnnGetVersion", "f.restype = c.c_size_t; v = f(); k = 10000 if v > 80000 else 1000; print(f'{v // k}.{v % k // 100}.{v % 100}')"),
    "nccl": ("ncclGetVersion", "v = i(); f(c.byref(v)); v = v.value; print(f'{v // 10000}.{v % 10000 // 100}.{v % 100}')"),
}


# Further places of a driver's library: in WSL, in containers, on old and new Jetsons, on NixOS.
DRIVERS = (
    "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/lib/aarch64-linux-gnu/tegra", "/usr/lib/aarch64-linux-gnu/nvidia",
    "/run/opengl-driver/lib",
)  # fmt: skip


@dataclasses.dataclass
class Library:
    """One file, however many names lead to it."""

    name: str  # cudart
    path: str  # links followed
    names: list[str]  # the paths that lead to it
    soname: str
    version: str
    origin: str
    for_programs: str = ""  # how the loader finds it for an ordinary program; empty: it does not
    for_torch: str = ""  # how the loader finds it for PyTorch
    dangling: bool = False
    stub: bool = False
    machine: str = ""

    @property
    def purpose(self) -> str:
        return "the linker's stub, which must never be loaded" if self.stub else catalog.purpose(self.name)

    def major(self) -> str:
        return (self.soname.split(".so.") + [""])[1].split(".")[0]


def find(machine: Machine, loader: Loader, toolkits: list[Toolkit], python: Python) -> list[Library]:
    origins = folders(machine, loader, toolkits, python)
    found: dict[str, Library] = {}
    for folder in origins:
        for file in machine.names(folder):
            parts = catalog.split(file)
            if not parts:
                continue
            path = f"{folder}/{file}"
            real = machine.real(path)
            if real not in found:
                found[real] = look(machine, parts[0], path, origins, python, toolkits)
            found[real].names.append(path)
    everything = sorted(found.values(), key=lambda library: (rank(library), library.name.lower(), library.path))
    mark_winners(machine, loader, everything, python)
    return everything


def rank(library: Library) -> int:
    """Driver, toolkit, separate downloads, PyTorch."""
    return 0 if library.name in catalog.DRIVER else 3 if library.name in ("torch_cuda", "c10_cuda") else 2 if library.name in catalog.SEPARATE else 1


def folders(machine: Machine, loader: Loader, toolkits: list[Toolkit], python: Python) -> dict[str, str]:
    """{folder: what it belongs to}, in the order of our search; a folder with two names counts once."""
    named: list[tuple[str, str]] = []
    named += [(folder, "") for folder in loader.folders() + loader.configured]
    for toolkit in toolkits:
        label = f"toolkit {toolkit.version}" if "conda" not in toolkit.why and "pip" not in toolkit.why else ""
        named += [(folder, label) for folder in toolkit.libraries]
        named += [(toolkit.stub, "stub")] if toolkit.stub else []
        named += [(folder, f"toolkit {toolkit.version}") for folder in machine.glob(f"{toolkit.root}/extras/CUPTI/lib64")]
        named += [(f"{toolkit.root}/compat", "cuda-compat")]
        named += [(f"{toolkit.root}/nvvm/{folder}", f"toolkit {toolkit.version}") for folder in ("lib64", "libdevice")]
    named += [(f"{prefix}/lib", "conda") for prefix in python.conda]
    for site in python.sites:
        named += [(folder, "pip") for folder in machine.glob(f"{site}/nvidia/*/lib") + machine.glob(f"{site}/tensorrt_libs")]
    named += [(f"{python.torch.folder}/lib", "PyTorch's own")] if python.torch else []
    for file in [python.path] + ([python.torch.library()] if python.torch else []):
        named += [(folder, "") for tag in ("rpath", "runpath") for folder, _ in loader.named_by(file, tag)]
    named += [(folder, "driver") for folder in DRIVERS]
    named += [(f"{prefix}/cuda-compat", "cuda-compat") for prefix in python.conda]
    known: dict[str, str] = {}
    for folder, label in named:
        real = machine.real(folder)
        if machine.exists(real):
            known[real] = known.get(real) or label
    return known


def look(machine: Machine, name: str, path: str, origins: dict[str, str], python: Python, toolkits: list[Toolkit]) -> Library:
    real = machine.real(path)
    says = elf.read(machine.outside(real))
    library = Library(name, real, [], says.soname if says else "", "", "", machine=says.machine if says else "")
    library.dangling = not machine.exists(real)
    library.stub = os.path.basename(os.path.dirname(real)) == "stubs"
    library.version = "" if library.stub or library.dangling else version_of(machine, library, python)
    library.origin = origin_of(machine, library, origins, python, toolkits)
    return library


def version_of(machine: Machine, library: Library, python: Python) -> str:
    """From the file's name, else its package, else the library itself; else only the number in its name."""
    in_name = (catalog.split(os.path.basename(library.path)) or ("", ""))[1]
    if in_name.count(".") >= 1 and library.name != "cudart" or in_name.count(".") >= 2:
        return in_name
    if library.path in python.versions:
        return python.versions[library.path]
    return asked(machine, library) or in_name


def asked(machine: Machine, library: Library) -> str:
    if library.name not in ASK or not library.machine:
        return ""
    function, read = ASK[library.name]
    code = f"import ctypes as c, sys; i = c.c_int; f = getattr(c.CDLL(sys.argv[1]), '{function}'); {read}"
    try:
        ended = subprocess.run([sys.executable, "-c", code, machine.outside(library.path)], capture_output=True, text=True, timeout=LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.strip()


def origin_of(machine: Machine, library: Library, origins: dict[str, str], python: Python, toolkits: list[Toolkit]) -> str:
    inside = owner(library.path, python)
    if inside:
        return inside
    label = origins.get(os.path.dirname(library.path), "")
    if library.name in catalog.DRIVER and label in ("", "driver"):
        return "driver"
    for toolkit in toolkits:
        if toolkit.root != "/usr" and library.path.startswith(toolkit.root + "/") and label != "cuda-compat":
            return f"toolkit {toolkit.version}"
    return label or "system"


def mark_winners(machine: Machine, loader: Loader, libraries: list[Library], python: Python) -> None:
    """Marks the file that an ordinary program would get for each soname, and the one that PyTorch would get."""
    by_path = {library.path: library for library in libraries}
    torch = python.torch.library() if python.torch else ""
    torch = torch if torch and machine.exists(torch) else ""
    for soname in {library.soname for library in libraries if re.search(r"\.so\.\d", library.soname)}:
        for needs, field in (("", "for_programs"), (torch, "for_torch")):
            found = loader.find(soname, needs, python.path if needs else "") if needs or field == "for_programs" else None
            winner = by_path.get(machine.real(found.path)) if found else None
            if found and winner:
                setattr(winner, field, found.why)
