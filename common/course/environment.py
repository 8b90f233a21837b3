"""build/python: the one Python environment of the course, made when a command first needs it.

Its packages are pinned in common/requirements. They are fetched into folders of their own, which the environment only names, beside
the packages of the user's own python3. So it takes a moment to make, and a download is shared by all copies of the course.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import zlib

from course import ROOT, fetch
from course.fetch import Missing, attempt, link, output

ENVIRONMENT, REQUIREMENTS = ROOT / "build" / "python", ROOT / "common" / "requirements"
VERSION = "{}.{}".format(*sys.version_info)
# The file in which the environment names the folders of its packages.
PATHS = ENVIRONMENT / "lib" / f"python{VERSION}" / "site-packages" / "course.pth"
TAG = "py" + VERSION.replace(".", "")  # what is fetched for one Python does not serve another
# The files of common/requirements: the MB of room to fetch them, the package that they are for, its purpose, and the size to announce.
PACKAGES = {
    "pytest": (20, "pytest", "which checks the lessons in Python", "3 MB to download, 14 MB on disk"),
    "tools": (50, "rich", "which the course's commands print with, and others", "3 MB to download, 16 MB on disk"),
    "book": (160, "sphinx", "which builds the book", "20 MB to download, 90 MB on disk"),
    "browser": (260, "playwright", "which tests the book and the films in a browser", "50 MB to download, 170 MB on disk"),
    "builders": (60, "setuptools", "which lessons in Python build with, and pip and ninja", "4 MB to download, 25 MB on disk"),
    "package": (30, "hatchling", "which the Python package of the simulated GPU is built with", "3 MB to download, 18 MB on disk"),
    "style": (150, "ruff", "which checks the Python, and clang-format, mypy and others", "40 MB to download, 140 MB on disk"),
    "tidy": (250, "clang-tidy", "which looks for mistakes in C++", "50 MB to download, 150 MB on disk"),
    "notebook": (250, "nbclient", "which runs notebooks in the tests, and NumPy", "30 MB to download, 110 MB on disk"),
    "plots": (250, "matplotlib", "which draws the plots", "40 MB to download, up to 170 MB on disk"),
}
TORCH_NEEDS = ("torch", "triton", "numba")  # PyTorch, and what is looked for with it
ASK_TORCH = """import os, torch
print(torch.__version__, "no" if torch.compiled_with_cxx11_abi() else "yes", os.path.dirname(torch.__file__))"""

# The compiler's module is imported, too, because a NumPy that is too new fails only there. Old versions do not have it.
NUMBA_WORKS = """import numpy, cuda.core, _numba_cuda_redirector
from numba import cuda
try:
    import numba.cuda.np.arrayobj
except ModuleNotFoundError:
    pass
cuda.jit"""


def users_python() -> str:
    """The python3 that the environment was made from."""
    return PATHS.read_text(encoding="utf-8").splitlines()[0][2:]


def is_whole() -> bool:
    """Is the environment there, with all folders that it names?"""
    folders: list[str] = [line for line in PATHS.read_text(encoding="utf-8").splitlines() if line.startswith("/")] if PATHS.exists() else [str(PATHS)]
    return all(os.path.exists(path) for path in [*folders, str(ENVIRONMENT / "bin" / "python3")])


def use() -> None:
    """Makes the environment's packages importable in this process, if they were fetched and python3 is still the same."""
    if is_whole():
        site.addsitedir(str(PATHS.parent))


def pins(name: str) -> list[str]:
    """The packages in common/requirements/<name>.txt and in the files that it includes."""
    lines = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and line[0] not in "#-"] + [pin for line in lines if line.startswith("-r ") for pin in pins(line[3:-4])]


def lead(place: pathlib.Path, target: pathlib.Path) -> None:
    """Makes a link, also in the place of one that leads to a download that somebody has removed."""
    if not place.exists():
        place.unlink(missing_ok=True)
        place.symlink_to(target)


def pip_advice(package: str) -> str:
    """What a person types. Debian's Python comes without pip, and then has it in an environment only."""
    first = "" if fetch.has_pip() else "sudo apt-get install python3-venv; python3 -m venv env; . env/bin/activate; "
    return f"Type: {first}python3 -m pip install {package}"


class Environment:
    def __init__(self) -> None:
        import venv

        self.folders: dict[str, pathlib.Path] = {}
        same = f"import os, sys; os.path.samefile(sys.base_prefix, {sys.base_prefix!r}) or sys.exit(1)"
        if not (PATHS.parent.is_dir() and self.runs(same)):
            venv.EnvBuilder(symlinks=True, clear=True).create(ENVIRONMENT)
        self.write_paths()

    def runs(self, code: str) -> bool:
        return bool(output(ENVIRONMENT / "bin/python3", "-W", "ignore", "-c", f"{code}; print('yes')"))

    def last_words(self, code: str) -> str:
        """The last line of the error message with which this code ends."""
        ran = subprocess.run([ENVIRONMENT / "bin/python3", "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
        return (ran.stderr.splitlines() or ["it prints nothing"])[-1].rstrip(".")

    def add(self, name: str, folder: pathlib.Path) -> None:
        self.folders[name] = folder
        self.write_paths()

    def write_paths(self) -> None:
        """Ours come first, then the user's own. Those that bring a numpy come last: it must not hide the one of a PyTorch."""
        ours, last = ([str(path) for name, path in self.folders.items() if (name in ("notebook", "plots")) == is_last] for is_last in (False, True))
        users = [f"import site; site.addsitedir({path!r})" for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        PATHS.write_text("\n".join([f"# {sys.executable}", *ours, *users, *last, ""]), encoding="utf-8")

    def has_installed(self, name: str) -> bool:
        distributions = [pin.split("==")[0] for pin in pins(name) if ";" not in pin]
        return self.runs("import importlib.metadata as m; " + "; ".join(f"m.version({each!r})" for each in distributions))

    def find_packages(self, name: str) -> dict[str, str]:
        """The pinned packages; without a network, those of the user's own python3. For matplotlib, which is large, in reverse order."""
        if not (name == "plots" and self.has_installed(name)):
            room, package, purpose, size = PACKAGES[name]
            folder = f"{name}-{TAG}-{zlib.crc32(''.join(pins(name)).encode()):08x}"
            exactly = ["--no-deps", "--no-compile"] if name == "notebook" else []  # its list leaves out what no test needs
            install = lambda part: fetch.pip(part, *exactly, "-r", REQUIREMENTS / f"{name}.txt")
            try:
                self.add(name, fetch.fetch(folder, room, package, f"Fetching {package}, {purpose} ({size}).", install))
            except Missing:
                if not self.has_installed(name):
                    raise
        ninja = self.folders.get(name, ENVIRONMENT) / "bin" / "ninja"
        if ninja.exists():
            lead(ENVIRONMENT / "bin" / "ninja", ninja)
        return {name.upper(): "yes"}

    def find_headers(self) -> dict[str, str]:
        """Python.h, which a distribution's Python comes without. setuptools looks for it in build/python/include, too."""
        if not os.path.exists(sysconfig.get_path("include") + "/Python.h"):
            what = "Fetching Python.h from the distribution's package, for this course only (6 MB to download, 27 MB on disk)."
            unpack = lambda part: fetch.debian(part, part.files, f"libpython{VERSION}-dev")
            folder = fetch.fetch(f"python-headers-{VERSION}", 60, "Python.h", what, unpack)
            for file in (*folder.glob(f"usr/include/python{VERSION}/*"), *folder.glob("usr/include/*-linux-gnu")):
                lead(ENVIRONMENT / "include" / file.name, file)
        return {"PYTHON_HEADERS": "yes"}


def find_chromium() -> dict[str, str]:
    """A Chromium that is installed, or Debian's with all packages that this machine lacks for it."""
    if installed := next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None):
        return {"CHROMIUM": link("chromium", installed)}

    def fill(part: fetch.Part) -> None:
        planned = output("apt-get", "-s", "--no-install-recommends", "install", "chromium")
        packages = re.findall(r"^Inst (\S+)", planned, re.MULTILINE)
        if not packages:
            raise Missing("apt-get on this machine has no package called chromium")
        fetch.debian(part, part.files, *packages)

    what = "Fetching Chromium, in which the book and the films are tested, for this course only (100 MB to download, 400 MB on disk)."
    folder = fetch.fetch("chromium", 600, "Chromium", what, fill)
    start = folder / "start"
    if not start.exists():
        libraries = ":".join(sorted({str(file.parent) for file in folder.rglob("*.so*")}))
        start.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {folder}/usr/lib/chromium/chromium "$@"\n', encoding="utf-8")
        start.chmod(0o755)
    return {"CHROMIUM": link("chromium", start)}


def look_at_torch() -> dict[str, str]:
    version, old_string, folder, *_ = [*output(ENVIRONMENT / "bin/python3", "-W", "ignore", "-c", ASK_TORCH).split(maxsplit=2), "", "", ""]
    folder = folder.strip()
    has_cuda = "yes" if os.path.exists(f"{folder}/include/c10/cuda/CUDAGuard.h") else ""
    return {"TORCH": version, "TORCH_OLD_STRING": old_string, "TORCH_ROOT": link("torch", folder), "TORCH_CUDA": has_cuda} if folder else {}


def find_torch(environment: Environment) -> dict[str, str]:
    """PyTorch of the user's own python3, or a private one."""
    if found := look_at_torch():
        return found
    version, index = pins("pytorch")[0].split("==")[1], os.environ.get("TORCH_INDEX")
    what = f"PyTorch is not installed. Fetching a private copy, {version} (with CUDA's libraries: 2.8 GB to download, 4.7 GB on disk, once; "
    what += "the build for the CPU saves 4 GB: make … TORCH_INDEX=https://download.pytorch.org/whl/cpu)."
    words = [f"torch=={version}", "numpy", "--index-url", index] if index else ["-r", REQUIREMENTS / "pytorch.txt"]
    folder = fetch.fetch(f"torch-{version}-{TAG}", 8000, "PyTorch", what, lambda part: fetch.pip(part, *words))
    environment.add("pytorch", folder)
    if found := look_at_torch():
        return found
    raise Missing(f"the PyTorch in {folder} does not start: {environment.last_words('import torch')}", "Remove that folder and try again.")


def find_torchvision(environment: Environment, torch: str) -> dict[str, str]:
    """torchvision for the comparisons of lessons 05-10 and 05-11: the user's own, or a private one if PyTorch is the pinned version."""
    works = "import torch, torchvision; torchvision.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)"
    if environment.runs(works):
        return {"TORCHVISION": "yes"}
    pinned = pins("pytorch")[0].split("==")[1]
    if torch.split("+")[0] != pinned:
        raise Missing(f"torchvision is not installed, and the pinned one is built for PyTorch {pinned}, not {torch}")
    index, (vision, pillow) = os.environ.get("TORCH_INDEX"), pins("torchvision")
    kind = "-cpu" if torch.endswith("+cpu") else ""

    def install(part: fetch.Part) -> None:
        fetch.pip(part, "--no-deps", vision, pillow, *(["--index-url", index] if index else []))

    what = "Fetching torchvision, with which lessons 05-10 and 05-11 compare their ops (15 MB to download, 45 MB on disk)."
    name = f"torchvision-{vision.split('==')[1]}{kind}-{TAG}"
    environment.add("torchvision", fetch.fetch(name, 100, "torchvision", what, install))
    if environment.runs(works):
        return {"TORCHVISION": "yes"}
    raise Missing("the torchvision that was fetched does not work with this PyTorch")


def find_triton(environment: Environment, torch: str) -> dict[str, str]:
    """Triton for lessons 05-08 and 05-14. A PyTorch with CUDA brings its own; for one without, the pinned version is fetched."""
    works = "import torch, triton; triton.jit, torch.library.triton_op"
    if environment.runs(works):
        return {"TRITON": "yes"}
    pinned, pin = pins("pytorch")[0].split("==")[1], pins("triton")[0]
    if torch.split("+")[0] != pinned:
        raise Missing(f"Triton is not installed, and the pinned one is for PyTorch {pinned}, not {torch}")
    what = "Fetching Triton, the compiler of lessons 05-08 and 05-14 (190 MB to download, 690 MB on disk)."
    folder = f"triton-{pin.split('==')[1]}-{TAG}"
    environment.add("triton", fetch.fetch(folder, 1000, "Triton", what, lambda part: fetch.pip(part, "--no-deps", pin)))
    if environment.runs(works):
        return {"TRITON": "yes"}
    raise Missing("the Triton that was fetched does not work with this PyTorch")


def find_numba(environment: Environment) -> dict[str, str]:
    """numba-cuda and cuda-core for lesson 05-08: the user's own, or the pinned ones. They use the numpy that is here."""
    if environment.runs(NUMBA_WORKS):
        return {"NUMBA": "yes"}
    what = "Fetching numba-cuda and cuda-core for lesson 05-08 (80 MB to download, 280 MB on disk)."
    folder = f"numba-{TAG}-{zlib.crc32(''.join(pins('numba')).encode()):08x}"
    environment.add("numba", fetch.fetch(folder, 500, "numba-cuda", what, lambda part: fetch.pip(part, "--no-deps", *pins("numba"))))
    if environment.runs(NUMBA_WORKS):
        return {"NUMBA": "yes"}
    why = environment.last_words(NUMBA_WORKS)
    older = f"It may need an older NumPy. {pip_advice('-r common/requirements/numpy.txt')}. Until then, lesson 05-08 is skipped."
    raise Missing(f"the numba-cuda that was fetched does not work here: {why}", older if "numpy" in why.lower() else "Lesson 05-08 is skipped.")


def find_python(needs: list[str]) -> dict[str, str]:
    """The environment, with the packages that are needed."""
    environment = Environment()
    found = {"PYTHON": "build/python/bin/python3"}
    for name in PACKAGES:
        if name in needs or name == "builders" and "torch" in needs:
            advice = pip_advice(f"-r common/requirements/{name}.txt")
            found |= attempt(name.upper(), lambda: environment.find_packages(name), advice)
    if "browser" in needs:
        found |= attempt("CHROMIUM", find_chromium, "Until then, the tests of the book and the films are skipped. Type: sudo apt-get install chromium")
    if "torch" in needs:
        found |= attempt("PYTHON_HEADERS", environment.find_headers, "Lesson 05-04 is skipped.")
        found |= attempt("TORCH", lambda: find_torch(environment), f"{pip_advice('torch')}. Until then, the lessons that need PyTorch are skipped.")
        if found.get("TORCH"):
            advice = "Lessons 05-10 and 05-11 run without it, but leave out the comparison."
            found |= attempt("TORCHVISION", lambda: find_torchvision(environment, found["TORCH"]), advice)
        if found.get("TORCH") and "triton" in needs:
            advice = f"{pip_advice(pins('triton')[0])}. Until then, the lessons that need Triton are skipped."
            found |= attempt("TRITON", lambda: find_triton(environment, found["TORCH"]), advice)
        if found.get("TORCH") and "numba" in needs:
            advice = f"{pip_advice('-r common/requirements/numba.txt')}. Until then, lesson 05-08 is skipped."
            found |= attempt("NUMBA", lambda: find_numba(environment), advice)
    return found
