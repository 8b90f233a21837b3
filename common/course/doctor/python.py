"""Python environments: which there are, what the packages in them (wheels, conda) record about their files, and PyTorch."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import re
from collections.abc import Sequence

from .machine import Machine

ASK = "import json, sys, sysconfig; print(json.dumps([sys.version.split()[0], sys.path, sysconfig.get_paths()['include']]))"
NVIDIA = re.compile(r"(nvidia[_-]|torch-|cuda|libcu|libnv|cudnn|nccl)")


@dataclasses.dataclass
class Torch:
    folder: str  # site-packages/torch
    version: str  # 2.11.0+cu130
    cuda: str  # 13.0; empty: built for the CPU only
    wants: dict[str, str]  # the exact versions that its metadata requires: {"nvidia-cudnn-cu13": "9.19.0.56"}
    private: bool = False  # was it fetched for this course alone?

    def library(self, name: str = "libtorch_cuda.so") -> str:
        return f"{self.folder}/lib/{name}"


@dataclasses.dataclass
class Python:
    """The Python that is first on the PATH, and every folder of packages that can be found."""

    version: str = ""
    path: str = ""
    include: str = ""
    sites: list[str] = dataclasses.field(default_factory=list)
    conda: list[str] = dataclasses.field(default_factory=list)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)  # {real path of a file: its package's version}
    packages: dict[str, str] = dataclasses.field(default_factory=dict)  # {real path of a file: its package}
    torch: Torch | None = None
    pip: bool = True


def look(machine: Machine, more_sites: Sequence[str] = ()) -> Python:
    """`more_sites`: folders with packages that are on no path, such as the course's own PyTorch."""
    found = Python(path=machine.which("python3") or machine.which("python") or "")
    said = machine.run(found.path, "-c", ASK) if found.path else None
    paths: list[str] = []
    try:
        found.version, paths, found.include = json.loads(said or "")
    except ValueError:
        found.include = next(iter(machine.glob("/usr/include/python3*")), "")
    found.conda = conda_environments(machine)
    found.sites = sites(machine, [*paths, *more_sites], found.conda)
    found.pip = any(machine.exists(f"{site}/pip/__init__.py") for site in paths or found.sites)
    private = [machine.real(site) for site in more_sites]
    for site in found.sites:
        read_wheels(machine, site, found)
        found.torch = found.torch or read_torch(machine, site, machine.real(site) in private)
    for prefix in found.conda:
        read_conda(machine, prefix, found)
    return found


def conda_environments(machine: Machine) -> list[str]:
    """The active, the base and other environments: folders that contain conda-meta."""
    home = machine.variable("HOME") or "/root"
    patterns = [f"{home}/*conda*", f"{home}/*forge*", "/opt/*conda*", "/opt/*forge*", "/opt/*conda*/envs/*", f"{home}/*conda*/envs/*"]
    guesses = [machine.variable("CONDA_PREFIX"), *(path for pattern in patterns for path in machine.glob(pattern))]
    return list(dict.fromkeys(path for path in guesses if path and machine.exists(f"{path}/conda-meta")))


def sites(machine: Machine, paths: list[str], conda: list[str]) -> list[str]:
    """Folders of packages in the order of Python's search; a folder with two names counts once."""
    prefixes = [machine.variable("VIRTUAL_ENV"), *conda, f"{machine.variable('HOME')}/.local", "/usr/local", "/usr"]
    patterns = [f"{prefix}/lib/python3*/{kind}" for prefix in prefixes if prefix for kind in ("site-packages", "dist-packages")]
    folders = machine.folders("PYTHONPATH") + list(paths) + [path for pattern in patterns for path in machine.glob(pattern)]
    folders += machine.glob("/usr/lib/python3/dist-packages")
    real = {machine.real(folder): folder for folder in reversed(folders) if folder.startswith("/") and not folder.endswith(".zip")}
    return [folder for folder in reversed(list(real.values())) if machine.exists(folder)]


def read_wheels(machine: Machine, site: str, found: Python) -> None:
    """Reads which file belongs to which wheel, from the RECORD of every wheel that could contain such libraries."""
    for name in machine.names(site):
        parts = re.fullmatch(r"(.+?)-([^-]+)\.dist-info", name)
        if not parts or not NVIDIA.match(name):
            continue
        for row in csv.reader((machine.read(f"{site}/{name}/RECORD") or "").splitlines()):
            if row and ".so" in row[0]:
                note(machine, f"{site}/{row[0]}", parts.group(1).replace("_", "-"), parts.group(2), found)


def read_conda(machine: Machine, prefix: str, found: Python) -> None:
    for name in machine.names(f"{prefix}/conda-meta"):
        if not name.endswith(".json") or not NVIDIA.match(name) and not name.startswith("pytorch"):
            continue
        try:
            package = json.loads(machine.read(f"{prefix}/conda-meta/{name}") or "")
        except ValueError:
            continue
        for file in package.get("files", []):
            if ".so" in file:
                note(machine, f"{prefix}/{file}", package.get("name", ""), package.get("version", ""), found)


def note(machine: Machine, file: str, package: str, version: str, found: Python) -> None:
    if package != "torch":  # its version is not that of its libraries
        found.versions.setdefault(machine.real(file), version)
    found.packages.setdefault(machine.real(file), package)


def read_torch(machine: Machine, site: str, private: bool) -> Torch | None:
    """PyTorch as its files describe it. Importing it would take seconds, and might fail for the very reason that we look for."""
    text = machine.read(f"{site}/torch/version.py")
    if text is None:
        return None
    version = re.search(r"^__version__\s*=\s*'([^']*)'", text, re.MULTILINE)
    cuda = re.search(r"^cuda[^=\n]*=\s*'([^']*)'", text, re.MULTILINE)
    name = next((name for name in machine.names(site) if re.fullmatch(r"torch-[^-]+\.dist-info", name)), "")
    metadata = machine.read(f"{site}/{name}/METADATA") if name else None
    wants = exact_requirements(metadata or "")
    return Torch(f"{site}/torch", version.group(1) if version else "?", cuda.group(1) if cuda else "", wants, private)


def exact_requirements(metadata: str) -> dict[str, str]:
    """The versions of NVIDIA's packages that a wheel's metadata requires on this machine."""
    try:
        from packaging.requirements import InvalidRequirement, Requirement
    except ImportError:  # the environment was not made yet
        return {}
    exact = {}
    for text in re.findall(r"^Requires-Dist: (nvidia-.*)", metadata, re.MULTILINE):
        with contextlib.suppress(InvalidRequirement):
            requirement = Requirement(text)
            versions = [pin.version for pin in requirement.specifier if pin.operator == "=="]
            if versions and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
                exact[requirement.name] = versions[0]
    return exact


def owner(path: str, found: Python) -> str:
    """conda, pip or PyTorch, for a file in one of the environments; empty elsewhere."""
    if found.torch and path.startswith(os.path.join(found.torch.folder, "")):
        return "PyTorch's own"
    if any(path.startswith(site + "/") for site in found.sites):
        return f"pip: {found.packages[path]}" if path in found.packages else "pip"
    if any(path.startswith(prefix + "/") for prefix in found.conda):
        return f"conda: {found.packages[path]}" if path in found.packages else "conda"
    return ""
