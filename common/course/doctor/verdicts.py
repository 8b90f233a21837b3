"""Nine typical tasks. Each is a list of checks; the first check that finds a problem gives the verdict, its reason and a command to type."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable

from course.setup import as_text

from . import catalog, elf
from .findings import Findings
from .libraries import Library
from .toolkits import as_version, oldest_driver, table

WORKS, LIMITED, BROKEN, MISSING, NO_GPU = "works", "limited", "broken", "missing", "no GPU"


@dataclasses.dataclass(frozen=True)
class Problem:
    state: str  # LIMITED: it works with a restriction; BROKEN: what is installed does not fit together; MISSING: it is not installed; NO_GPU
    reason: str
    remedy: str = ""  # what to type


@dataclasses.dataclass(frozen=True)
class Verdict:
    task: str
    state: str
    reason: str = ""
    remedy: str = ""


Check = Callable[[Findings], Problem | None]

# ---- the driver ----------------------------------------------------------------------------------------------------------

INSTALL = "sudo apt-get install nvidia-driver   (Debian; on Ubuntu: sudo ubuntu-drivers install), then sudo reboot"
CONTAINER = "docker run --gpus all …   (on the host, which needs the NVIDIA Container Toolkit)"


def driver_is_there(found: Findings) -> Problem | None:
    """Does the loader find a libcuda.so.1, and can it load it?"""
    driver = found.driver
    if driver.library:
        return Problem(BROKEN, f"{driver.library.path} cannot be loaded: {driver.unloadable}", INSTALL) if driver.unloadable else None
    return without_the_name(found) or without_library(found)


def without_the_name(found: Findings) -> Problem | None:
    """A driver's library that exists, but not as libcuda.so.1, or in a folder that the loader does not search."""
    for library in found.called("cuda"):
        folder = os.path.dirname(library.names[0])
        if f"{folder}/libcuda.so.1" not in library.names and not found.machine.exists(f"{folder}/libcuda.so.1"):
            said = f"there is {library.names[0]}, but no libcuda.so.1 beside it, which is the name that every program needs"
            return Problem(BROKEN, said, f"sudo ldconfig {folder}   (creates the missing link)")
        if folder in found.loader.configured:
            return Problem(BROKEN, f"libcuda.so.1 is in {folder}, which ldconfig has not seen yet", "sudo ldconfig")
        return Problem(BROKEN, f"libcuda.so.1 is in {folder}, where the loader does not look", f"export LD_LIBRARY_PATH={folder}")
    return None


def without_library(found: Findings) -> Problem | None:
    driver = found.driver
    stubs = [library.path for library in found.libraries if library.name == "cuda" and library.stub]
    stub = f"; {stubs[0]} is only the linker's stub" if stubs else ""
    if driver.wsl:
        said = f"this is WSL, and Windows has provided no driver: there is no /usr/lib/wsl/lib/libcuda.so.1{stub}"
        return Problem(BROKEN, said, "install NVIDIA's driver on Windows, then wsl --update")
    if driver.jetson:
        runs = "docker run --runtime nvidia …   (on the Jetson)" if driver.container else "sudo apt-get install nvidia-l4t-cuda"
        return Problem(BROKEN, f"this is a Jetson, and there is no libcuda.so.1{stub}", runs)
    if driver.container and driver.hardware:
        return Problem(BROKEN, f"the host has a driver, but this container was not given its library{stub}", CONTAINER)
    if driver.module:
        return Problem(BROKEN, f"the kernel has the driver's module ({driver.module}), but there is no libcuda.so.1{stub}", INSTALL)
    if driver.pci:
        more = "; the kernel uses nouveau, which does not support CUDA" if driver.nouveau else ""
        return Problem(BROKEN, f"there is an NVIDIA GPU ({driver.pci[0]}), but no NVIDIA driver{more}{stub}", INSTALL)
    return Problem(NO_GPU, f"no NVIDIA driver, and no NVIDIA GPU on the PCI bus{stub}", "make run   (for this course only: its own GPU is simulated)")


def driver_starts(found: Findings) -> Problem | None:
    """Does the driver start, and does it find a GPU?"""
    driver = found.driver
    if driver.has_gpu:
        return None
    assert driver.library  # driver_is_there comes first
    if driver.simulated:
        there = "instead of the driver" if driver.hardware else "and there is no NVIDIA GPU"
        said = f"the loader finds the simulator, {driver.library.path}, {there}"
        return Problem(NO_GPU, said, "unset LD_LIBRARY_PATH" if driver.hardware else "")
    for problem_of in (stub_taken, mismatch, linux_driver_on_wsl, hidden, not_started, no_module):
        problem = problem_of(found)
        if problem:
            return problem
    said = f"the driver is installed, but sees no GPU: cuInit returns {result(found)}"
    if driver.pci and driver.nodes:
        return Problem(BROKEN, f"{said}, although {driver.pci[0]} is one", "sudo dmesg | grep -i -e nvrm -e xid   (has the GPU failed?)")
    return Problem(NO_GPU, said, "lspci | grep -i nvidia   (is a GPU installed?)")


def result(found: Findings) -> str:
    """The code and the name of cuInit's error, and where the course explains it."""
    lesson = catalog.ERRORS[found.driver.result][1] if found.driver.result in catalog.ERRORS else ""
    return f"{found.driver.result} {found.driver.error}".strip() + (f" (lesson {lesson})" if lesson else "")


def accepts_processes(found: Findings) -> Problem | None:
    """May a program create a context, even beside others? (nvidia-smi -c sets the compute mode.)"""
    prohibited, exclusive = 2, 3
    for number, mode in enumerate(found.driver.modes if found.driver.has_gpu else []):
        code = f"46 {catalog.ERRORS[46][0]} (lesson {catalog.ERRORS[46][1]})"
        if mode == prohibited:
            return Problem(BROKEN, f"device {number} is in the compute mode Prohibited: creating a context fails with {code}", "sudo nvidia-smi -c DEFAULT")
        if mode == exclusive:
            said = f"device {number} is in the compute mode Exclusive_Process: while one process uses it, others get {code}"
            return Problem(LIMITED, said, "sudo nvidia-smi -c DEFAULT   (unless only one process should use the GPU)")
    return None


def stub_taken(found: Findings) -> Problem | None:
    driver = found.driver
    assert driver.library
    if driver.result != 34 and "/stubs/" not in driver.library.path:
        return None
    said = f"the loader finds the linker's stub, {driver.library.path}: it returns 34 from every call"
    return Problem(BROKEN, said, without_folder(found, os.path.dirname(driver.library.path)))


def without_folder(found: Findings, where: str) -> str:
    """A command after which the loader does not search that folder."""
    kept = ":".join(folder for folder in found.loader.library_path if folder.rstrip("/") != where)
    if kept == ":".join(found.loader.library_path):
        return f"remove {where} from /etc/ld.so.conf.d, then sudo ldconfig"
    return f"export LD_LIBRARY_PATH={kept}" if kept else "unset LD_LIBRARY_PATH"


def mismatch(found: Findings) -> Problem | None:
    driver = found.driver
    if driver.result == 804 and driver.library:
        said = f"cuda-compat does not support this GPU: cuInit of {driver.library.path} returns {result(found)}"
        return Problem(BROKEN, said, without_folder(found, os.path.dirname(driver.library.path)))
    if driver.module and driver.library_version and driver.module != driver.library_version:
        said = f"the library is {driver.library_version}, the kernel's module {driver.module} (nvidia-smi: Driver/library version mismatch)"
        if driver.container and driver.library:
            said += f"; {driver.library.path} belongs to this container's image; the container should use the host's"
            return Problem(BROKEN, said, "apt-get purge 'libnvidia-compute-*'   (in the image: a container must not contain a driver)")
        return Problem(BROKEN, said, "sudo reboot   (loads the module of the updated driver)")
    if driver.result == 803:
        return Problem(BROKEN, f"library and kernel module do not match: cuInit returns {result(found)}", "sudo reboot")
    return None


def hidden(found: Findings) -> Problem | None:
    """Devices that exist, but that this process may not use."""
    driver, machine = found.driver, found.machine
    if not driver.hardware:
        return None
    if driver.forbidden:
        return Problem(BROKEN, f"this user may not open {', '.join(driver.forbidden)}", "sudo usermod -aG video $USER   (then log in again)")
    if driver.module and not driver.nodes and not driver.wsl and not driver.jetson:
        if driver.container:
            return Problem(BROKEN, "the driver is installed, but this container was given no device: there is no /dev/nvidia0", CONTAINER)
        return Problem(BROKEN, "the driver is installed, but its device files do not exist: there is no /dev/nvidia0", "sudo nvidia-modprobe -u -c=0")
    value = machine.variable("CUDA_VISIBLE_DEVICES")
    if driver.hidden and driver.result == 101:
        said = f"CUDA_VISIBLE_DEVICES is {value}, which names a device twice: cuInit returns {result(found)}"
        return Problem(BROKEN, said, "unset CUDA_VISIBLE_DEVICES")
    if driver.hidden:
        first = f"is {value}, and its first entry does not name a device, so the list ends there"
        what = first if value.strip() else "is empty, which hides every GPU"
        many = "is one" if driver.hidden == 1 else f"are {driver.hidden}"
        return Problem(NO_GPU, f"CUDA_VISIBLE_DEVICES {what}; without it there {many}", "unset CUDA_VISIBLE_DEVICES")
    if driver.mig:
        said = "the GPU is partitioned (MIG), and this process sees no instance of it: cuInit returns " + result(found)
        return Problem(BROKEN, said, "nvidia-smi -L   (lists them; sudo nvidia-smi mig -lgip shows what can be created, -mig 0 ends partitioning)")
    return None


def not_started(found: Findings) -> Problem | None:
    if found.driver.result == 802:
        remedy = "sudo systemctl start nvidia-fabricmanager   (NVSwitch machines)"
        return Problem(BROKEN, f"the driver is not ready: cuInit returns {result(found)}", remedy)
    if found.driver.result == 999 and found.driver.nodes and "/dev/nvidia-uvm" not in found.driver.nodes:
        said = f"there is no /dev/nvidia-uvm, which CUDA needs in addition to /dev/nvidia0: cuInit returns {result(found)}"
        return Problem(BROKEN, said, "sudo nvidia-modprobe -u -c=0")
    if found.driver.result not in (0, 100) and found.driver.hardware:
        return Problem(BROKEN, f"the driver does not start: cuInit returns {result(found)}", "sudo dmesg | grep -i nvrm   (the kernel's messages)")
    return None


def linux_driver_on_wsl(found: Findings) -> Problem | None:
    """In WSL, Windows provides the driver, with its library in /usr/lib/wsl/lib. A Linux driver installed in addition finds no GPU."""
    driver = found.driver
    windows = "/usr/lib/wsl/lib/libcuda.so.1"
    if not driver.wsl or not driver.library or found.machine.real(driver.library.path).startswith("/usr/lib/wsl/"):
        return None
    if not found.machine.exists(windows):
        said = f"this is WSL, and Windows has provided no driver: there is no {windows}"
        return Problem(BROKEN, said, "install NVIDIA's driver on Windows, then wsl --update")
    said = f"this is WSL, where Windows provides the driver ({windows}), but the loader finds {driver.library.path} of a Linux driver"
    return Problem(BROKEN, said, "sudo apt-get purge '*nvidia*'; sudo ldconfig   (WSL needs only the driver from Windows)")


def no_module(found: Findings) -> Problem | None:
    driver = found.driver
    if driver.module or driver.wsl or not driver.pci:
        return None
    more = "nouveau uses the GPU" if driver.nouveau else "a new kernel or Secure Boot may be the reason"
    return Problem(BROKEN, f"the kernel module nvidia is not loaded: {more}", "sudo modprobe nvidia   (prints the reason); else reinstall the driver")


# ---- toolkit and compiler ------------------------------------------------------------------------------------------------


def toolkit_compiles(found: Findings) -> Problem | None:
    toolkit = found.toolkit
    if not toolkit:
        return Problem(MISSING, "no CUDA toolkit", "make run   (fetches a private one for this course); or sudo apt-get install nvidia-cuda-toolkit")
    if not toolkit.nvcc:
        said = f"{toolkit.root} ({', '.join(toolkit.why)}) is a runtime package, with libraries for finished programs, without nvcc"
        return Problem(MISSING, said + ("" if toolkit.include else " and headers"), install_toolkit(found))
    if not re.match(r"\d", toolkit.nvcc_version):
        return Problem(BROKEN, f"{toolkit.nvcc} does not run", f"{toolkit.nvcc} --version")
    if not toolkit.include:
        return Problem(BROKEN, f"{toolkit.nvcc} is installed without headers: no cuda_runtime.h in {toolkit.root}/include", install_toolkit(found))
    return None


def install_toolkit(found: Findings) -> str:
    """A toolkit of the version that PyTorch was built with, else of the one that the driver supports."""
    version = found.torch.cuda if found.torch and found.torch.cuda else as_text(found.driver.version) if found.driver.has_gpu else "13.0"
    if found.toolkit and "conda" in found.toolkit.why:
        return f"conda install -c nvidia cuda-toolkit={version}"
    return f"sudo apt-get install cuda-toolkit-{version.replace('.', '-')}   (from NVIDIA's repository)"


def one_toolkit(found: Findings) -> Problem | None:
    """CUDA_HOME and the nvcc on the PATH must name the same toolkit: builds take headers from the first, the compiler from the second."""
    named = found.machine.variable("CUDA_HOME")
    if named and not any("CUDA_HOME" in toolkit.why for toolkit in found.toolkits):
        here = next((toolkit.root for toolkit in found.toolkits if toolkit.compiles), "")
        said = f"CUDA_HOME is {named}, where there is no toolkit; the build of an extension searches no other folder"
        return Problem(BROKEN, said, f"export CUDA_HOME={here}" if here else "unset CUDA_HOME")
    home = next((toolkit for toolkit in found.toolkits if "CUDA_HOME" in toolkit.why), None)
    path = next((toolkit for toolkit in found.toolkits if "nvcc on the PATH" in toolkit.why), None)
    if not home or not path or home.version == path.version:
        return None
    said = f"two toolkits: CUDA_HOME is {home.version} ({home.root}), the nvcc on the PATH is {path.version} ({path.root})"
    return Problem(BROKEN, said, f"export PATH={home.root}/bin:$PATH")


def host_compiler(found: Findings) -> Problem | None:
    compiler = found.compiler
    if not compiler.there:
        return Problem(MISSING, f"no C++ compiler called {compiler.command}", "sudo apt-get install g++")
    newest = found.toolkit.newest.get(compiler.kind, 0) if found.toolkit else 0
    if not found.toolkit or not newest or compiler.major <= newest:
        return None
    said = f"nvcc {found.toolkit.version} accepts {compiler.kind} up to {newest}, and {compiler.command} is {compiler.major}"
    if compiler.kind != "g++":
        return Problem(BROKEN, said, f"sudo apt-get install clang-{newest}, then nvcc -ccbin clang++-{newest} …")
    fitting = max((version for version in found.other_gccs if version <= newest), default=0)
    install = "" if fitting else f"sudo apt-get install g++-{newest}, then "
    return Problem(BROKEN, said, f"{install}nvcc -ccbin g++-{fitting or newest} …   (PyTorch: export CXX=g++-{fitting or newest})")


def toolkit_and_driver(found: Findings) -> Problem | None:
    """Can the driver load what this toolkit compiles?"""
    if not found.toolkit or not found.driver.has_gpu:
        return None
    return older_driver(found, found.toolkit.version, f"the toolkit, CUDA {found.toolkit.version},", writes_ptx=True)


def older_driver(found: Findings, version: str, who: str, writes_ptx: bool) -> Problem | None:
    wants, serves = as_version(version)[:2], as_version(as_text(found.driver.version))
    if wants <= serves:
        return None
    needs = next((row.driver for row in table() if row.cuda == wants), "")
    update = f"update the driver to {needs} or newer" if needs else "update the driver"
    if wants[0] == serves[0]:
        if not writes_ptx:
            return None
        said = f"{who} writes PTX that a driver for CUDA {as_text(found.driver.version)} does not load (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"
        return Problem(LIMITED, said, f"nvcc -arch=native …   (machine code: minor-version compatibility), or {update}")
    compat = f"; on data-centre GPUs: sudo apt-get install cuda-compat-{wants[0]}-{wants[1]}"
    said = f"{who} needs driver {oldest_driver(wants)} or newer, and this one supports CUDA {as_text(found.driver.version)}"
    return Problem(BROKEN, said, update + compat)


def can_link(found: Findings) -> Problem | None:
    """-lcuda: the linker needs a libcuda.so, without .1. Before that, the compiler needs cuda.h."""
    if not found.toolkit or not found.toolkit.include:
        return Problem(MISSING, "no cuda.h", install_toolkit(found))
    if not found.compiler.there:
        return host_compiler(found)
    searched = found.machine.folders("LIBRARY_PATH") + found.loader.system
    if any(found.machine.exists(f"{folder}/libcuda.so") for folder in searched):
        return None
    if found.toolkit.stub:
        return Problem(LIMITED, "the linker does not search the folder with the stub, libcuda.so", f"g++ … -L{found.toolkit.stub} -lcuda")
    if found.driver.library:
        said = f"there is {found.driver.library.path}, but no libcuda.so, the name that -lcuda needs"
        return Problem(MISSING, said, f"g++ … -L{os.path.dirname(found.driver.library.path)} -l:libcuda.so.1")
    return Problem(LIMITED, "no libcuda.so and no stub; the simulator's will do", "make simulator; g++ … -Lbuild/simulator -lcuda")


# ---- PyTorch -------------------------------------------------------------------------------------------------------------


def pip_install(found: Findings, what: str) -> str:
    """Debian's Python comes without pip, and has it only in a virtual environment."""
    if found.python.pip:
        return f"python3 -m pip install {what}"
    return f"sudo apt-get install python3-venv; python3 -m venv env; env/bin/pip install {what}   (there is no pip here)"


def torch_for_cuda(found: Findings) -> Problem | None:
    if not found.torch:
        return Problem(MISSING, "no PyTorch", pip_install(found, "torch"))
    if not found.torch.cuda:
        remedy = pip_install(found, "--force-reinstall torch") + "   (the build for CUDA)"
        return Problem(MISSING, f"PyTorch {found.torch.version} was built for the CPU only", remedy)
    return None


def torch_finds_its_libraries(found: Findings) -> Problem | None:
    """The loader must find every library that PyTorch's own libraries need."""
    assert found.torch  # torch_for_cuda comes first, here and below
    asks = found.torch.library()
    says = elf.read(found.machine.outside(asks))
    for name in says.needed if says else ():
        stem, _ = catalog.split(name) or ("", "")
        if stem and not found.loader.find(name, asks, found.python.path):
            others = sorted({library.soname or library.path for library in found.called(stem)})
            there = f"; installed is {', '.join(others)}" if others else ""
            return Problem(BROKEN, f"PyTorch {found.torch.version} needs {name}, which is not installed{there}", reinstall(found, stem))
    return None


def reinstall(found: Findings, stem: str) -> str:
    assert found.torch
    wanted = next((f"{package}=={version}" for package, version in found.torch.wants.items() if stem in package), "")
    return pip_install(found, f"'{wanted}'" if wanted else "--force-reinstall torch")


def torch_and_cudnn(found: Findings) -> Problem | None:
    """PyTorch should get the cuDNN that its package requires."""
    assert found.torch
    wanted = next((version for package, version in found.torch.wants.items() if "cudnn" in package), "")
    got = found.for_torch("cudnn")
    if not wanted or not got or not got.version or as_version(got.version)[:2] == as_version(wanted)[:2]:
        return None
    said = f"PyTorch was built with cuDNN {wanted} but loads {got.version}, {got.path} ({got.for_torch})"
    state = BROKEN if as_version(got.version)[0] != as_version(wanted)[0] else LIMITED
    return Problem(state, said, "unset LD_LIBRARY_PATH" if got.for_torch == "LD_LIBRARY_PATH" else reinstall(found, "cudnn"))


def torch_and_driver(found: Findings) -> Problem | None:
    assert found.torch
    if not found.driver.has_gpu:
        return None
    return older_driver(found, found.torch.cuda, f"PyTorch, built for CUDA {found.torch.cuda},", writes_ptx=False)


def torch_and_toolkit(found: Findings) -> Problem | None:
    """PyTorch refuses to build with a toolkit of another major version, and warns about another minor one."""
    assert found.torch and found.toolkit  # toolkit_compiles comes first
    here, wants = as_version(found.toolkit.version)[:2], as_version(found.torch.cuda)[:2]
    if here == wants:
        return None
    said = f"PyTorch was built with CUDA {found.torch.cuda}, and nvcc is {found.toolkit.version}"
    fitting = next((toolkit for toolkit in found.toolkits if toolkit.compiles and as_version(toolkit.version)[0] == wants[0]), None)
    remedy = f"export CUDA_HOME={fitting.root} PATH={fitting.root}/bin:$PATH" if fitting else install_toolkit(found)
    if here[0] != wants[0]:
        return Problem(BROKEN, said + ": its build refuses another major version", remedy)
    return Problem(LIMITED, said + ": the build warns, but nearly always works", remedy if fitting and fitting is not found.toolkit else "")


def extension_headers(found: Findings) -> Problem | None:
    assert found.toolkit
    if found.toolkit.missing_headers:
        names = ", ".join(found.toolkit.missing_headers)
        return Problem(BROKEN, f"PyTorch's headers include {names}, which {found.toolkit.include} does not have", install_toolkit(found))
    if found.python.include and not found.machine.exists(f"{found.python.include}/Python.h"):
        return Problem(MISSING, f"no Python.h in {found.python.include}", "sudo apt-get install python3-dev")
    return None


# ---- other libraries -----------------------------------------------------------------------------------------------------


def nvrtc(found: Findings) -> Problem | None:
    library = found.for_programs("nvrtc")
    if not library:
        elsewhere = found.for_torch("nvrtc") or next(iter(found.called("nvrtc")), None)
        return nowhere(found, elsewhere, "libnvrtc")
    wanted = "libnvrtc-builtins.so." + ".".join(library.version.split(".")[:2])
    beside = found.machine.exists(f"{os.path.dirname(library.path)}/{wanted}")
    if library.version.count(".") and not beside and not found.loader.find(wanted):
        said = f"NVRTC {library.version} needs {wanted} of exactly its version, which is not installed"
        return Problem(BROKEN, said, "reinstall NVRTC, so that its two libraries match")
    if not found.driver.has_gpu or not library.version.count("."):
        return None
    return older_driver(found, library.version, f"NVRTC {library.version}", writes_ptx=True)


def cudnn(found: Findings) -> Problem | None:
    library = found.for_programs("cudnn")
    if not library:
        elsewhere = found.for_torch("cudnn") or next(iter(found.called("cudnn")), None)
        return nowhere(found, elsewhere, "cuDNN (not part of the toolkit, but a separate download)")
    for part in found.libraries:
        is_part = part.name.startswith("cudnn_") and part.for_programs
        if is_part and differ(part.version, library.version):
            said = f"cuDNN is {library.version} ({library.path}), but its part {part.path} is {part.version}"
            return Problem(BROKEN, said, "remove one of the two from LD_LIBRARY_PATH, or from /etc/ld.so.conf.d and run sudo ldconfig")
    return None


def differ(one: str, other: str) -> bool:
    """Do two versions differ in the parts that both have? (9 and 9.19.0 do not.)"""
    here, there = as_version(one)[:3], as_version(other)[:3]
    length = min(len(here), len(there))
    return here[:length] != there[:length]


def nowhere(found: Findings, elsewhere: Library | None, what: str) -> Problem:
    """A library that no ordinary program gets: is it installed elsewhere?"""
    if not elsewhere:
        return Problem(MISSING, f"no {what}", pip_install(found, "torch") + "   (includes both); or NVIDIA's packages")
    folder = os.path.dirname(elsewhere.path)
    who = "PyTorch finds its own" if elsewhere.for_torch else f"it is in {folder}"
    return Problem(LIMITED, f"{who}; an ordinary program does not find it", f"export LD_LIBRARY_PATH={folder}")


# ---- containers and the simulator ----------------------------------------------------------------------------------------


def container_tools(found: Findings) -> Problem | None:
    if found.driver.container:
        return None  # this is a container: the checks of the driver suffice
    engines = [name for name in ("docker", "podman", "nerdctl") if found.machine.which(name)]
    if not engines:
        return Problem(MISSING, "no docker and no podman", "sudo apt-get install podman")
    if not any(found.machine.which(name) for name in ("nvidia-ctk", "nvidia-container-runtime", "nvidia-container-cli")):
        said = f"{engines[0]} is installed, but not the NVIDIA Container Toolkit, which gives a container access to the GPU"
        return Problem(MISSING, said, "sudo apt-get install nvidia-container-toolkit")
    return None


def simulator(found: Findings) -> Problem | None:
    if not found.compiler.there:
        return host_compiler(found)
    if not found.toolkit or not found.toolkit.include:
        return Problem(LIMITED, "no CUDA headers: a private toolkit is fetched first", "make run")
    return None


DRIVER: list[Check] = [driver_is_there, driver_starts, accepts_processes]
COMPILE: list[Check] = [toolkit_compiles, one_toolkit, host_compiler, toolkit_and_driver]
TORCH: list[Check] = [torch_for_cuda, torch_finds_its_libraries, torch_and_cudnn, torch_and_driver]
TASKS: list[tuple[str, list[Check]]] = [
    ("run a driver program on the GPU", DRIVER),
    ("run this course on the simulated GPU", [simulator]),
    ("compile a kernel with nvcc", COMPILE),
    ("link a driver program (-lcuda)", [can_link]),
    ("compile a kernel at run time (NVRTC)", [nvrtc]),
    ("use cuDNN in a program of your own", [cudnn]),
    ("run PyTorch on the GPU", TORCH + DRIVER),
    ("build a CUDA extension for PyTorch, such as MMCV's ops", [torch_for_cuda, torch_finds_its_libraries] + COMPILE + [torch_and_toolkit, extension_headers]),
    ("use the GPU in a container", DRIVER + [container_tools]),
]  # fmt: skip


# The checks of a part that the course may have fetched for itself.
OF_TOOLKIT = (toolkit_compiles, host_compiler, toolkit_and_driver, torch_and_toolkit, extension_headers)
OF_TORCH = (torch_for_cuda, torch_finds_its_libraries, torch_and_cudnn, torch_and_driver, torch_and_toolkit)


def outcome(found: Findings, check: Check) -> Problem | None:
    """A part that the course fetched for its own lessons cannot break this machine. If it does not suffice, something is missing."""
    problem = check(found)
    if not problem or problem.state != BROKEN:
        return problem
    if check in OF_TOOLKIT and found.toolkit and found.toolkit.private:
        whose = "toolkit"
    elif check in OF_TORCH and found.torch and found.torch.private:
        whose = "PyTorch"
    else:
        return problem
    return dataclasses.replace(problem, state=MISSING, reason=f"{problem.reason}; it is the course's own {whose}, which suffices for the lessons")


def judge(found: Findings) -> list[Verdict]:
    return [verdict(found, task, checks) for task, checks in TASKS]


def verdict(found: Findings, task: str, checks: list[Check]) -> Verdict:
    limited = None
    for check in checks:
        problem = outcome(found, check)
        if problem and problem.state != LIMITED:
            return Verdict(task, problem.state, problem.reason, problem.remedy)
        limited = limited or problem
    return Verdict(task, LIMITED, limited.reason, limited.remedy) if limited else Verdict(task, WORKS)


# ---- comparisons ------------------------------------------------------------------------------------------


def compare(found: Findings) -> list[tuple[str, str]]:
    """(what, "fits" or the problem) for each pair that is here."""
    pairs: list[tuple[str, bool, Check]] = []
    driver, toolkit, torch = found.driver, found.toolkit, found.torch
    if driver.module and driver.library_version:
        pairs.append((f"driver library {driver.library_version} and kernel module {driver.module}", True, mismatch))
    if toolkit:
        pairs.append((f"toolkit {toolkit.version} and driver for CUDA {as_text(driver.version)}", driver.has_gpu, toolkit_and_driver))
        pairs.append(("toolkit in CUDA_HOME and nvcc on the PATH", found.is_named_twice(), one_toolkit))
        pairs.append((f"nvcc {toolkit.version} and {found.compiler.command} {found.compiler.major or ''}".rstrip(), bool(toolkit.nvcc), host_compiler))
    if torch and torch.cuda:
        pairs.append((f"PyTorch's CUDA {torch.cuda} and driver for CUDA {as_text(driver.version)}", driver.has_gpu, torch_and_driver))
        pairs.append((f"PyTorch's CUDA {torch.cuda} and nvcc {toolkit.version if toolkit else ''}", bool(toolkit and toolkit.compiles), torch_and_toolkit))
        pairs.append(("PyTorch and the libraries that it needs", True, torch_finds_its_libraries))
        pairs.append(("PyTorch and the cuDNN that it gets", bool(found.for_torch("cudnn")), torch_and_cudnn))
    told = []
    for what, there, check in pairs:
        if there:
            problem = outcome(found, check)
            told.append((what, f"{problem.state}: {problem.reason}" if problem else "fits"))
    return told + two_cudnns(found)


def two_cudnns(found: Findings) -> list[tuple[str, str]]:
    """PyTorch should have a cuDNN of its own; the difference is worth knowing all the same."""
    ours, theirs = found.for_programs("cudnn"), found.for_torch("cudnn")
    if not ours or not theirs or ours is theirs:
        return []
    return [("cuDNN of programs and of PyTorch", f"two, {ours.version} and {theirs.version}; each gets its own")]


def exit_status(found: Findings, verdicts: list[Verdict]) -> int:
    """0 all well, 1 something broken, 2 no GPU."""
    if any(verdict.state == BROKEN for verdict in verdicts):
        return 1
    return 0 if found.driver.has_gpu else 2
