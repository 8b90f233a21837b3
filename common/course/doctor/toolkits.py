"""Installations of the CUDA Toolkit: their contents, versions and the host compilers that their nvcc accepts; the table of all toolkits."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
from collections.abc import Sequence

from course.setup import as_text

from .machine import Machine
from .python import Python

Version = tuple[int, ...]  # (13, 0)
PRIVATE = "this course's private one"

TABLE = pathlib.Path(__file__).resolve().parents[2] / "toolkits.hpp"
# PyTorch's headers include these: an extension does not compile without them.
EXTENSION_HEADERS = ("cuda_runtime.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h")


def as_version(text: str) -> Version:
    """The version "13.0.88" as (13, 0, 88)."""
    return tuple(int(part) for part in re.findall(r"\d+", text))


@dataclasses.dataclass(frozen=True)
class Row:
    cuda: Version
    driver: str
    ptx: str
    gcc: int


def table() -> list[Row]:
    rows = re.findall(r'^ +\{\s*(\d+), (\d+), "(.*?)", +"(.*?)", +(\d+)\},', TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return [Row((int(major), int(minor)), driver, ptx, int(gcc)) for major, minor, driver, ptx, gcc in rows]


def oldest_driver(cuda: Version) -> str:
    """The oldest driver on which a program built with this toolkit starts."""
    families = dict(re.findall(r'^ +\{(\d+), "(.*?)"\},', TABLE.read_text(encoding="utf-8"), re.MULTILINE))
    return families.get(str(cuda[0])) or next((row.driver for row in table() if row.cuda == cuda[:2]), "")


@dataclasses.dataclass
class Toolkit:
    """A folder that contains nvcc, cuda.h or libcudart."""

    root: str
    why: list[str]  # CUDA_HOME, nvcc on the PATH, /usr/local
    version: str = ""  # 13.0
    nvcc: str = ""  # its path; empty: none
    nvcc_version: str = ""  # 13.0.88
    include: str = ""
    libraries: list[str] = dataclasses.field(default_factory=list)  # folders
    stub: str = ""  # the folder with the linker's libcuda.so
    newest: dict[str, int] = dataclasses.field(default_factory=dict)  # {"g++": 15, "clang++": 20}: the newest that its nvcc accepts
    missing_headers: list[str] = dataclasses.field(default_factory=list)

    def contents(self) -> str:
        """nvcc 13.0.88, headers, libraries; or: headers, without nvcc and libraries."""
        parts = {f"nvcc {self.nvcc_version}".rstrip(): self.nvcc, "headers": self.include, "libraries": self.libraries}
        missing = [name for name, there in parts.items() if not there]
        return ", ".join([name for name, there in parts.items() if there] + (["without " + " and ".join(missing)] if missing else []))

    @property
    def private(self) -> bool:
        """Hwas it fetched for this course alone?"""
        return self.why == [PRIVATE]

    @property
    def compiles(self) -> bool:
        return bool(self.nvcc and self.include)


def find(machine: Machine, python: Python, more: Sequence[str] = ()) -> list[Toolkit]:
    """All installations; a build uses the first one (PyTorch's rule: CUDA_HOME, nvcc on the PATH, /usr/local/cuda)."""
    candidates: list[tuple[str, str]] = []
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if machine.variable(variable):
            candidates.append((machine.variable(variable).rstrip("/"), variable))
    nvcc = machine.which("nvcc")
    if nvcc:
        candidates.append((os.path.dirname(os.path.dirname(machine.real(nvcc))), "nvcc on the PATH"))
    candidates += [(path, "installed") for path in machine.glob("/usr/local/cuda") + machine.glob("/usr/local/cuda-*") + machine.glob("/opt/cuda*")]
    candidates += [("/usr", "the distribution's package")] if machine.exists("/usr/include/cuda_runtime.h") else []
    candidates += [(prefix, "conda") for prefix in python.conda]
    for site in python.sites:
        candidates += [(path, "pip") for path in machine.glob(f"{site}/nvidia/cu1*") + machine.glob(f"{site}/nvidia/cuda_runtime")]
    candidates += [(path, PRIVATE) for path in more]
    found: dict[str, Toolkit] = {}
    for root, why in candidates:
        real = machine.real(root)
        if real in found:
            found[real].why += [why] if why.startswith(("CUDA_", "nvcc")) else []
        elif toolkit := look(machine, real, why):
            found[real] = toolkit
    return list(found.values())


def look(machine: Machine, root: str, why: str) -> Toolkit | None:
    toolkit = Toolkit(root, [why])
    includes = [f"{root}/include", *machine.glob(f"{root}/targets/*-linux/include")]
    toolkit.include = next((path for path in includes if machine.exists(f"{path}/cuda.h") or machine.exists(f"{path}/cuda_runtime.h")), "")
    folders = [f"{root}/lib64", f"{root}/lib", *machine.glob(f"{root}/targets/*-linux/lib"), *machine.glob(f"{root}/lib/*-linux-gnu")]
    for folder in folders:
        if any(name.startswith("libcudart.so") for name in machine.names(folder)) and machine.real(folder) not in toolkit.libraries:
            toolkit.libraries.append(machine.real(folder))
        if machine.exists(f"{folder}/stubs/libcuda.so"):
            toolkit.stub = toolkit.stub or f"{folder}/stubs"
    if machine.exists(f"{root}/bin/nvcc"):
        toolkit.nvcc = f"{root}/bin/nvcc"
        said = re.search(r"release [\d.]+, V([\d.]+)", machine.run(toolkit.nvcc, "--version") or "")
        toolkit.nvcc_version = said.group(1) if said else "that does not run"
    if not (toolkit.nvcc or toolkit.include or toolkit.libraries):
        return None
    toolkit.version = version_of(machine, toolkit)
    toolkit.newest = newest_compilers(machine, toolkit)
    toolkit.missing_headers = [name for name in EXTENSION_HEADERS if not machine.exists(f"{toolkit.include}/{name}")]
    return toolkit


def version_of(machine: Machine, toolkit: Toolkit) -> str:
    """From cuda.h, else nvcc, else version.json, else the runtime library's name."""
    header = re.search(r"^#define CUDA_VERSION (\d+)", machine.read(f"{toolkit.include}/cuda.h") or "", re.MULTILINE)
    if header:
        return as_text(int(header.group(1)))
    if re.match(r"\d", toolkit.nvcc_version):
        return ".".join(toolkit.nvcc_version.split(".")[:2])
    try:
        return ".".join(json.loads(machine.read(f"{toolkit.root}/version.json") or "")["cuda"]["version"].split(".")[:2])
    except (ValueError, KeyError):
        pass
    names = [re.fullmatch(r"libcudart\.so\.(\d+\.\d+)[\d.]*", name) for folder in toolkit.libraries for name in machine.names(folder)]
    return max((name.group(1) for name in names if name), key=as_version, default="")


def newest_compilers(machine: Machine, toolkit: Toolkit) -> dict[str, int]:
    """The newest compilers that nvcc accepts, according to its own header; else the newest g++ according to the table."""
    found = {}
    for name in ("crt/host_config.h", "host_config.h"):
        text = machine.read(f"{toolkit.include}/{name}") or ""
        gcc = re.search(r"^#\s*if __GNUC__ > (\d+)", text, re.MULTILINE)
        clang = re.search(r"^#\s*if \(__clang_major__ >= (\d+)\)", text, re.MULTILINE)
        found.update({"g++": int(gcc.group(1))} if gcc else {})
        found.update({"clang++": int(clang.group(1)) - 1} if clang else {})
    row = next((row for row in table() if row.cuda == as_version(toolkit.version)[:2]), None)
    return found or ({"g++": row.gcc} if row else {})
