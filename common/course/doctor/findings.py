"""Everything that was found on a machine, together."""

from __future__ import annotations

import dataclasses
import platform
import re
from collections.abc import Sequence

from . import driver, libraries, python, toolkits
from .driver import Driver
from .libraries import Library
from .loader import Loader
from .machine import Machine
from .python import Python, Torch
from .toolkits import Toolkit


@dataclasses.dataclass
class Compiler:
    """The C++ compiler that a build uses: CXX, else g++."""

    command: str
    path: str
    says: str  # its --version line
    kind: str  # g++ or clang++
    major: int  # 0 if it does not say

    @property
    def there(self) -> bool:
        return bool(self.says)


@dataclasses.dataclass
class Findings:
    machine: Machine
    loader: Loader
    driver: Driver
    python: Python
    toolkits: list[Toolkit]
    libraries: list[Library]
    compiler: Compiler
    other_gccs: list[int]  # the versions of g++-11, g++-12 … that are installed, too

    @property
    def torch(self) -> Torch | None:
        return self.python.torch

    @property
    def toolkit(self) -> Toolkit | None:
        """The one that a build uses: the first that can compile, else the first."""
        return next((one for one in self.toolkits if one.compiles), self.toolkits[0] if self.toolkits else None)

    def is_named_twice(self) -> bool:
        """Do both CUDA_HOME and the PATH name a toolkit?"""
        named = [why for toolkit in self.toolkits for why in toolkit.why]
        return "CUDA_HOME" in named and "nvcc on the PATH" in named

    def called(self, name: str) -> list[Library]:
        return [library for library in self.libraries if library.name == name and not library.stub and not library.dangling]

    def for_programs(self, name: str) -> Library | None:
        return next((library for library in self.called(name) if library.for_programs), None)

    def for_torch(self, name: str) -> Library | None:
        return next((library for library in self.called(name) if library.for_torch), None)


def look(machine: Machine, private_toolkits: Sequence[str] = (), private_packages: Sequence[str] = ()) -> Findings:
    loader = Loader(machine)
    environments = python.look(machine, private_packages)
    installed = toolkits.find(machine, environments, private_toolkits)
    found = libraries.find(machine, loader, installed, environments)
    gccs = [name for folder in machine.folders("PATH") for name in machine.names(folder) if re.fullmatch(r"g\+\+-\d+", name)]
    return Findings(
        machine, loader, driver.look(machine, loader), environments, installed, found, compiler(machine),
        sorted({int(name[4:]) for name in gccs}),
    )  # fmt: skip


def compiler(machine: Machine) -> Compiler:
    command = machine.variable("CXX") or "g++"
    words = command.split()
    says = (machine.run(*words, "--version") or "").strip().splitlines()
    first = says[0] if says else ""
    version = re.search(r"(\d+)\.\d+\.\d+\s*\S*$", first) or re.search(r"\b(\d+)\.\d+", first)
    kind = "clang++" if "clang" in first.lower() else "g++"
    return Compiler(command, machine.which(words[0]) or "", first, kind, int(version.group(1)) if version else 0)


def system(machine: Machine) -> str:
    name = re.search(r'^PRETTY_NAME="?(.*?)"?$', machine.read("/etc/os-release") or "", re.MULTILINE)
    return f"{name.group(1) if name else 'Linux'}, {platform.machine()}"
