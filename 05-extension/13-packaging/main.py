# Two wheels of one package, installed into fresh environments and used from threads and processes, and the error
# messages that users see if their machine doesn't fit.
import ctypes
import importlib.util
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch

from common.built import ROOT, built

# The folders of the packages that a fresh environment needs but does not see, because they may be in a virtual environment themselves.
PACKAGES = [importlib.util.find_spec(name) for name in ("torch", "pip", "setuptools")]
FOLDERS = [str(pathlib.Path(package.origin).parents[1]) for package in PACKAGES if package and package.origin]
PLACES = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *FOLDERS])
WHEELS = pathlib.Path(built(__file__, "wheels"))
# An edited copy of this program, which `make test` makes of the text, has environments of its own.
HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE / "environments" if HERE.is_relative_to(ROOT / "build") else pathlib.Path(built(__file__, "environments"))
USE = str(HERE / "use.py")
OLD_CODE = built(str(ROOT / "05-extension" / "05-canonical-op" / "main.py"), "installed")
RIGHT = "1 2 5 10 0 2 4 6"  # x² + 1 for 0, 1, 2, 3, and 2x


class Environment:
    """A virtual environment with PyTorch from where this program has it, and the wheel, which is installed into it once."""

    def __init__(self, name: str, wheel: pathlib.Path) -> None:
        kept = ENVIRONMENTS / name
        self.folder = kept if kept.exists() else kept.with_name(f"{name}.{os.getpid()}")
        if not kept.exists():
            venv.create(self.folder, system_site_packages=True, symlinks=True)  # without its own pip, because it sees ours
            if error := self.install(wheel):
                raise RuntimeError(error)
            self.folder = self.folder.rename(kept)  # now it is complete

    def command(self, *words: str) -> list[str]:
        return [str(self.folder / "bin" / "python"), *words]

    def install(self, wheel: pathlib.Path) -> str:
        """What pip reports, or nothing if the wheel is installed."""
        options = ["--no-index", "--no-deps", "--no-compile", "--no-build-isolation", "--disable-pip-version-check", "-q"]
        return last_line(self.command("-m", "pip", "install", *options, str(wheel))).replace(wheel.name, "this")

    def build(self, source: pathlib.Path, folder: pathlib.Path, **variables: str) -> str:
        """What pip reports as the error when it builds a wheel from a source distribution, or nothing if it succeeds."""
        options = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q", "-w", str(folder)]
        environment = {**os.environ, "PYTHONPATH": PLACES, "SQUARE_PLUS_CUDA": "0", **variables}
        ended = subprocess.run(self.command("-m", "pip", "wheel", *options, str(source)), capture_output=True, text=True, env=environment, check=False)
        return [line.strip() for line in ended.stderr.splitlines() if line.strip().startswith("error: ")][-1] if ended.returncode else ""

    def installed(self, file: str) -> pathlib.Path:
        return next(self.folder.glob(f"lib/python*/site-packages/square_plus/{file}"))


def output(command: list[str], **variables: str) -> list[str]:
    """The lines that a command prints; if it fails, and of its error messages the last one."""
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PLACES, **variables}, check=False)
    errors = ended.stderr.strip().splitlines()[-1:] if ended.returncode else []
    return [re.sub(r"^(\w+Error|ERROR): ", "", without_folders(line)) for line in ended.stdout.splitlines() + errors]


def without_folders(line: str) -> str:
    """The line with the names of files, but not of the folders that they are in."""
    return re.sub(r"/\S*/(?=\w)", "", line.replace(str(ROOT), ""))


def last_line(command: list[str], **variables: str) -> str:
    return (output(command, **variables) or [""])[-1]


def why_not_loaded(library: pathlib.Path) -> str:
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        return without_folders(str(error))
    return ""


def needed(library: pathlib.Path) -> tuple[int, int]:
    """How many names of PyTorch the library needs: C++ names, which may change, and names of the stable C interface."""
    output = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in output.splitlines()]
    in_cpp = [name for name in names if re.match(r"_Z.*(c10|2at|5torch)", name)]
    in_c = [name for name in names if name.startswith(("aoti_torch_", "torch_"))]
    return len(in_cpp), len(in_c)


def needed_of_python(library: pathlib.Path) -> int:
    output = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    return sum(bool(re.match(r"_?Py", line.split()[-1])) for line in output.splitlines())


def fits_python(wheel: pathlib.Path, version: tuple[int, int], abi: str) -> str:
    """Whether pip would install the wheel for another Python: pip's own library compares the tags."""
    from pip._vendor.packaging import tags, utils

    of_wheel = utils.parse_wheel_filename(wheel.name)[3]
    platforms = [tag.platform for tag in of_wheel]
    accepted = {*tags.cpython_tags(version, [abi], platforms), *tags.compatible_tags(version, platforms=platforms)}
    return "fits" if of_wheel & accepted else "does not fit"


def fits_pytorch(wheel: pathlib.Path, version: str) -> str:
    """Whether the wheel's metadata accepts this PyTorch. pip then replaces a PyTorch that does not fit."""
    from pip._vendor.packaging.requirements import Requirement

    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    (needs,) = [Requirement(line.split(": ", 1)[1]) for line in metadata.splitlines() if line.startswith("Requires-Dist: torch")]
    return f"{'fits' if version in needs.specifier else 'does not fit'}, because the wheel needs torch{needs.specifier}"


def on_a_newer_gpu(device: str) -> str:
    """The values of the op as lesson 05-05 builds it, with machine code for the oldest GPU that nvcc supports, and with PTX."""
    if device == "cpu":
        return "skipped: PyTorch sees no GPU here"
    return last_line([sys.executable, USE, device, "main"], PYTHONPATH=os.pathsep.join([OLD_CODE, PLACES]))


def contents(distribution: pathlib.Path) -> str:
    if distribution.suffix == ".gz":
        with tarfile.open(distribution) as archive:
            return ", ".join(sorted(pathlib.Path(name).name for name in archive.getnames() if name.endswith((".cpp", ".cu", ".hpp"))))
    with zipfile.ZipFile(distribution) as archive:
        return ", ".join(pathlib.Path(name).name for name in archive.namelist() if name.endswith(".so"))


def show(rows: dict[str, Callable[[], str]]) -> None:
    """Prints the result of each row. Two run at a time, because most of the time goes into importing PyTorch."""
    with ThreadPoolExecutor(2) as pool:
        for name, result in zip(rows, pool.map(lambda call: call(), rows.values())):
            print(f"{name:24} | {result or 'no message'}", flush=True)


def main(folder: pathlib.Path) -> int:
    if not any(WHEELS.glob("*.made")):
        if not importlib.util.find_spec("pip"):
            print(
                "skipped: building the wheels requires pip, which is missing and could not be fetched. On Debian and Ubuntu: sudo apt-get install python3-pip"
            )
        else:
            print("skipped: building the wheels requires setuptools 70.1 or newer. Type: python3 -m pip install --upgrade setuptools")
        return 77
    made = {kind: next(WHEELS.glob(f"{kind}.made/*"), None) for kind in ("cpu", "cuda", "source")}
    print(f"{'file':50} | contains")
    for distribution in filter(None, made.values()):
        print(f"{distribution.name:50} | {contents(distribution)}")

    # If this PyTorch has CUDA, the wheel with CUDA, as pip would choose from an index.
    wheel = made["cuda"] or made["cpu"]
    device = "cuda" if made["cuda"] and torch.cuda.is_available() else "cpu"
    environment = Environment("user", wheel)
    print(f"\n{'installed, then used in':24} | y, dx on this device: {device}")
    # One process does all this. It forks before it uses CUDA itself, because afterwards its children could not use CUDA.
    words = {"fork": "a forked process", "spawn": "a spawned process", "thread": "another thread", "main": "the main thread"}
    started, *used = output(environment.command(USE, device, "import", *words)) or ["no result"]
    for name, result in itertools.zip_longest(words.values(), used, fillvalue="no result"):
        print(f"{name:24} | {result}")

    library, cpp_names = environment.installed("_C.abi3.so"), pathlib.Path(built(__file__, "cpp_names.so"))
    print(f"\n{'what a user may ask':24} | result")
    in_cpp, in_c = needed(library)
    print(f"does import start CUDA?  | {started}")
    print(f"which names does it need | {in_cpp} C++ names and {in_c} C names of PyTorch, {needed_of_python(library)} of Python")
    print(f"Python 3.14              | {fits_python(wheel, (3, 14), 'cp314')}")
    print(f"free-threaded Python     | {fits_python(wheel, (3, 14), 'cp314t')}")
    for version in "2.9", "2.11", "2.15":
        print(f"PyTorch {version:16} | {fits_pytorch(wheel, version)}", flush=True)

    print(f"\n{'on another machine':24} | what the user sees")
    for_another_python = folder / wheel.name.replace("py310-none", "cp38-cp38")
    shutil.copy(wheel, for_another_python)
    show({
        "another Python": lambda: environment.install(for_another_python),
        "no compiler, a wheel": lambda: last_line(environment.command(USE, "cpu", "main"), PATH="/nowhere", CXX="no-compiler"),
        "no compiler, the source": lambda: environment.build(made["source"], folder, CXX="no-compiler", PATH="/nowhere"),
        "a newer GPU": lambda: on_a_newer_gpu(device),
        "loaded before PyTorch": lambda: last_line(environment.command("-c", f"import ctypes; ctypes.CDLL({str(library)!r})")),
        "C++ names, other build": lambda: why_not_loaded(cpp_names),  # here, where PyTorch is loaded
        "PyTorch for another CUDA": lambda: last_line(environment.command("-c", f"import ctypes; ctypes.CDLL({built(__file__, 'other_cuda.so')!r})")),
    })  # fmt: skip
    return 0 if used == [RIGHT] * len(words) and started.startswith("no") else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(pathlib.Path(temporary)))
