"""The driver: its kernel module, the devices, the library that the loader finds, and what that library reports."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys

from .loader import Found, Loader
from .machine import LIMIT, Machine

# Runs in a process of its own, because a driver may crash. It prints one line per fact, as far as it gets.
ASK = """
import ctypes as c, sys
try:
    cuda = c.CDLL(sys.argv[1])
except OSError as problem:
    sys.exit(f"unloadable={problem}")
loaded = [line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if "libcuda.so" in line]
print("path=" + (loaded[0] if loaded else ""))
version = c.c_int(0)
cuda.cuDriverGetVersion(c.byref(version))
print("version=%d" % version.value, flush=True)
result = cuda.cuInit(0)
text = c.c_char_p()
cuda.cuGetErrorName(result, c.byref(text))
print("result=%d" % result)
print("error=" + (text.value or b"").decode(), flush=True)
count = c.c_int(0)
if result == 0:
    cuda.cuDeviceGetCount(c.byref(count))
for number in range(count.value):
    name, major, minor = c.create_string_buffer(256), c.c_int(0), c.c_int(0)
    cuda.cuDeviceGetName(name, 256, number)
    cuda.cuDeviceGetAttribute(c.byref(major), 75, number)
    cuda.cuDeviceGetAttribute(c.byref(minor), 76, number)
    mode = c.c_int(0)
    cuda.cuDeviceGetAttribute(c.byref(mode), 20, number)
    print("mode=%d" % mode.value)
    print("device=%s, compute capability %d.%d" % (name.value.decode(errors="replace"), major.value, minor.value))
"""


@dataclasses.dataclass
class Driver:
    module: str = ""  # the kernel module's version; empty: not loaded
    nouveau: bool = False
    pci: list[str] = dataclasses.field(default_factory=list)  # the PCI addresses of NVIDIA's GPUs
    nodes: list[str] = dataclasses.field(default_factory=list)  # /dev/nvidia0 …
    forbidden: list[str] = dataclasses.field(default_factory=list)  # those that this user may not open
    wsl: bool = False
    jetson: bool = False  # the GPU is part of the processor, without a PCI bus and with device files of other names
    container: bool = False
    library: Found | None = None  # what an ordinary program gets for libcuda.so.1
    library_version: str = ""  # 580.65.06
    unloadable: str = ""
    version: int = 0  # 13000
    result: int | None = None  # of cuInit; None: it was not reached
    error: str = ""
    hidden: int = 0  # if a program sees no device: the number of those that CUDA_VISIBLE_DEVICES hides
    mig: bool = False  # if a program sees no device: is a GPU partitioned into instances?
    devices: list[str] = dataclasses.field(default_factory=list)
    modes: list[int] = dataclasses.field(default_factory=list)  # CUcomputemode of each device: 2 prohibited, 3 exclusive

    @property
    def simulated(self) -> bool:
        return bool(self.devices) and self.devices[0].startswith("Simulated")

    @property
    def has_gpu(self) -> bool:
        return bool(self.devices) and not self.simulated

    @property
    def hardware(self) -> bool:
        """Is there a GPU in this machine, whether or not the software finds it?"""
        return bool(self.module or self.pci or self.nodes or self.wsl or self.jetson)


def look(machine: Machine, loader: Loader) -> Driver:
    found = Driver(module=kernel_module(machine))
    found.nouveau = machine.exists("/sys/module/nouveau")
    found.pci = graphics_cards(machine)
    found.nodes = [f"/dev/{name}" for name in machine.names("/dev") if re.fullmatch(r"nvidia(\d+|ctl|-uvm)", name)]
    found.forbidden = [node for node in found.nodes if not machine.may_use(node)]
    found.wsl = machine.exists("/dev/dxg")
    found.jetson = machine.exists("/etc/nv_tegra_release") or machine.exists("/dev/nvhost-gpu")
    found.container = machine.exists("/.dockerenv") or machine.exists("/run/.containerenv") or bool(machine.variable("container"))
    found.library = loader.find("libcuda.so.1")
    if found.library:
        name = re.search(r"libcuda\.so\.(\d+\.[\d.]+)$", machine.real(found.library.path))
        found.library_version = name.group(1) if name else ""
        ask(machine, found, found.library)
    return found


def kernel_module(machine: Machine) -> str:
    text = machine.read("/proc/driver/nvidia/version") or ""
    said = re.search(r"Kernel Module(?: for \S+)?\s+(\d+\.[\d.]+)", text)
    return said.group(1) if said else (machine.read("/sys/module/nvidia/version") or "").strip()


def graphics_cards(machine: Machine) -> list[str]:
    """PCI devices of NVIDIA (vendor 10de) in the class of displays or of accelerators."""
    found = []
    for address in machine.names("/sys/bus/pci/devices"):
        folder = f"/sys/bus/pci/devices/{address}"
        if (machine.read(f"{folder}/vendor") or "").strip() == "0x10de" and (machine.read(f"{folder}/class") or "").startswith(("0x03", "0x12")):
            found.append(address)
    return found


def ask(machine: Machine, found: Driver, library: Found) -> None:
    """Loads the library as a program would, and queries it. On a real machine the loader chooses the file; on a made-up one we do."""
    name = "libcuda.so.1" if machine.is_real else machine.outside(library.path)
    said, refused = asked(name, machine.environment)
    facts = dict(said)
    found.devices = [text for fact, text in said if fact == "device"]
    found.modes = [int(text) for fact, text in said if fact == "mode"]
    found.version = int(facts.get("version", 0))
    found.error = facts.get("error", "")
    found.result = int(facts["result"]) if "result" in facts else None
    if machine.is_real and facts.get("path") and os.path.realpath(library.path) != os.path.realpath(facts["path"]):
        found.library = Found(facts["path"], "the loader's own choice")
    if found.result is None:
        found.unloadable = refused
    if found.result in (100, 101):
        if "CUDA_VISIBLE_DEVICES" in machine.environment:
            without = {name: value for name, value in machine.environment.items() if name != "CUDA_VISIBLE_DEVICES"}
            found.hidden = sum(fact == "device" for fact, _ in asked(name, without)[0])
        found.mig = "Enabled" in (machine.run("nvidia-smi", "--query-gpu=mig.mode.current", "--format=csv,noheader") or "")


def asked(name: str, environment: dict[str, str]) -> tuple[list[tuple[str, str]], str]:
    """The facts that a driver's library reports, or the reason why it reports none."""
    try:
        ended = subprocess.run([sys.executable, "-c", ASK, name], env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return [], f"it does not respond within {LIMIT} seconds"
    refused = re.search(r"unloadable=(.*)", ended.stderr)
    return re.findall(r"^(\w+)=(.*)$", ended.stdout, re.MULTILINE), refused.group(1) if refused else "it crashes"
