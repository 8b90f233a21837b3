"""The dynamic loader's search for a library, as ld.so(8) describes it: which file does a program get that needs libcuda.so.1?"""

from __future__ import annotations

import dataclasses
import os
import platform
import re

from . import elf
from .machine import Machine

LDCONFIG = ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig")
CACHE = "/etc/ld.so.cache"


@dataclasses.dataclass(frozen=True)
class Found:
    path: str  # as the loader opens it
    why: str  # LD_LIBRARY_PATH, ldconfig, …


class Loader:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.library_path = machine.folders("LD_LIBRARY_PATH")
        self.cache = read_cache(machine)
        triplet = f"{platform.machine()}-linux-gnu"
        self.system = [f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        self.configured = configured_folders(machine, "/etc/ld.so.conf")

    def folders(self) -> list[str]:
        """Every folder that the loader searches without being told."""
        cached = [os.path.dirname(path) for path in self.cache.values()]
        return list(dict.fromkeys(self.library_path + cached + self.system))

    def find(self, name: str, needs: str = "", program: str = "") -> Found | None:
        """The file for `name` when the library `needs` needs it in `program`. Both are paths; an empty one has no rpath.

        An rpath applies to everything that its owner loads, a runpath only to what the owner itself needs.
        """
        search = self.named_by(needs, "rpath") + self.named_by(program, "rpath")
        search += [(folder, "LD_LIBRARY_PATH") for folder in self.library_path]
        search += self.named_by(needs or program, "runpath")
        for folder, why in search:
            if self._fits(f"{folder}/{name}"):
                return Found(f"{folder}/{name}", why)
        if name in self.cache and self._fits(self.cache[name]):
            return Found(self.cache[name], "ldconfig")
        for folder in self.system:
            if self._fits(f"{folder}/{name}"):
                return Found(f"{folder}/{name}", "system folder")
        return None

    def named_by(self, file: str, tag: str) -> list[tuple[str, str]]:
        """The folders that a file names, with the tag. The rpath of a file with a runpath is ignored."""
        says = elf.read(self.machine.outside(file)) if file else None
        if not says or tag == "rpath" and says.runpath:
            return []
        origin = os.path.dirname(self.machine.real(file))  # links followed
        folders = says.rpath if tag == "rpath" else says.runpath
        return [(os.path.normpath(re.sub(r"\$(ORIGIN|\{ORIGIN\})", origin, folder)), tag) for folder in folders]

    def _fits(self, path: str) -> bool:
        """The loader skips files for another processor."""
        says = elf.read(self.machine.outside(path)) if self.machine.exists(path) else None
        return says is not None and says.machine == platform.machine()


def read_cache(machine: Machine) -> dict[str, str]:
    """ldconfig's cache, {name: path}; the first entry of a name counts."""
    if not machine.exists(CACHE):
        return {}
    real = Machine(environment={**os.environ, "LC_ALL": "C"})
    printed = next((said for said in (real.run(command, "-C", machine.outside(CACHE), "-p") for command in LDCONFIG) if said), "")
    noted: dict[str, str] = {}
    for name, kind, path in re.findall(r"^\s+(\S+) \((.*?)\) => (\S+)$", printed, re.MULTILINE):
        if platform.machine() != "x86_64" or "x86-64" in kind:
            noted.setdefault(name, path.removeprefix(machine.root) if machine.root else path)
    return noted


def configured_folders(machine: Machine, file: str, depth: int = 0) -> list[str]:
    """The folders in ld.so.conf: ldconfig will search them when it runs next."""
    found: list[str] = []
    for line in (machine.read(file) or "").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("include ") and depth < 5:
            pattern = line.split(None, 1)[1]
            for part in machine.glob(pattern if pattern.startswith("/") else f"{os.path.dirname(file)}/{pattern}"):
                found += configured_folders(machine, part, depth + 1)
        elif line.startswith("/"):
            found.append(line)
    return found
