"""Finds what the build needs, fetches what is missing, and writes build/setup.mk, which make and Python both read as it is.

    python3 -m course setup [catch2] [torch] [triton] [numba] [pytest] [tools] [notebook] [plots] [book] [browser]

A C++ compiler and the CUDA toolkit are looked for in any case. What is installed is used; everything else but the compiler is fetched
once per user (fetch.py). Paths in build/setup.mk go through links in build/, so that no value has a character that make, a shell
or Python treats specially. The value of something that cannot be had is empty, and its WITHOUT_ value says why.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import zlib

from course import ROOT, device, fetch
from course.compiler import check_build_folder, check_temporary_folder, compiler_asked, find_compiler
from course.environment import ENVIRONMENT, PACKAGES, TAG, TORCH_NEEDS, find_python, is_whole, users_python
from course.facts import FILE, facts
from course.fetch import Missing, Refused, attempt, link, output, say

FROM_PYTHON = "PYTEST TOOLS PLOTS BOOK BROWSER PACKAGE NOTEBOOK STYLE TIDY CHROMIUM BUILDERS PYTHON_HEADERS TORCH TORCHVISION TRITON NUMBA".split()
PYTHON_NAMES = ["PYTHON", *(each for name in FROM_PYTHON for each in (name, f"WITHOUT_{name}")), "TORCH_ROOT", "TORCH_OLD_STRING", "TORCH_CUDA"]
CATCH_NAMES = "CATCH_VERSION CATCH_FLAGS CATCH_LIBS WITHOUT_CATCH2".split()
NAMES = """KEY PYTHON_KEY COMPILER CXX_INSTEAD CUDA_ROOT CUDA_INCLUDE CUDA_VERSION NVCC PTX_ARCH TOOLKIT WITHOUT_TOOLKIT
    WITHOUT_HOST_NVCC""".split() + CATCH_NAMES + PYTHON_NAMES  # fmt: skip
OLDEST_TOOLKIT, NEWEST_TOOLKIT = 12000, "13.0"  # of a private one: as new as the driver can load, but no newer
INSTALLED = ["/usr/local/cuda"]  # where a toolkit is looked for besides CUDA_HOME and nvcc on the PATH


def main(needs: list[str]) -> int:
    """Returns 0 when everything was looked for, 1 if nothing can be built here, 130 if it was interrupted."""
    if unknown := set(needs) - {"catch2", *TORCH_NEEDS, *PACKAGES}:
        say(f"Set-up does not know {' '.join(unknown)}. It knows: catch2 {' '.join(TORCH_NEEDS)} {' '.join(PACKAGES)}")
        return 1
    if os.path.realpath(sys.prefix) == os.path.realpath(ENVIRONMENT):  # the user's own python3 decides what the environment is made of
        path = os.pathsep.join(filter(None, [str(ROOT / "common"), os.environ.get("PYTHONPATH")]))
        return subprocess.run([users_python(), "-m", "course", "setup", *needs], env={**os.environ, "PYTHONPATH": path}, check=False).returncode
    try:
        check_temporary_folder()
        if is_complete(facts(), needs):
            return 0
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        check_build_folder()
        with fetch.locked(ROOT / "build" / "setup.lock", "Another make is setting up; waiting for it."):
            had = facts()
            if not is_complete(had, needs):
                write(look(needs, had))
    except Refused as why:
        say(str(why))
        return 1
    except OSError as problem:
        free = fetch.free_megabytes(ROOT)
        say(f"Nothing was set up: {problem.filename or ROOT / 'build'}: {problem.strerror}. {free} MB are free in the course's folder.")
        return 1
    except KeyboardInterrupt:
        say("Interrupted: no incomplete files were kept.")
        return 130
    return 0


# ---- the result ----------------------------------------------------------------------------------------------------------


def write(found: dict[str, str]) -> None:
    new = FILE.with_name(f"setup.mk.{os.getpid()}")
    plain = lambda text: " ".join(re.sub(r"[$#\\'\"`&|<>;*?\[\]{}!~%]", "_", re.sub("[()]", "", text)).split())
    try:
        new.write_text("".join(f"{name} = {plain(found.get(name, ''))}\n" for name in NAMES), encoding="utf-8")
        os.replace(new, FILE)
    finally:
        new.unlink(missing_ok=True)


def keys() -> dict[str, str]:
    """Checksums of what the result depends on."""
    compiler, nvcc = shutil.which(compiler_asked().split()[0]) or "", shutil.which("nvcc") or ""
    module = pathlib.Path("/sys/module/nvidia/version")
    wishes = [os.environ.get(name) or "" for name in ("CUDA_HOME", "TOOLKIT_VERSION")]
    changed = compiler and os.stat(compiler).st_mtime_ns
    key = [compiler_asked(), compiler, changed, os.path.realpath(nvcc), module.exists() and module.read_text(), *wishes]
    return {name: f"{zlib.crc32(repr(what).encode()):08x}" for name, what in {"KEY": key, "PYTHON_KEY": [sys.executable, TAG]}.items()}


def is_complete(found: dict[str, str], needs: list[str]) -> bool:
    """Did an earlier run find all of it, and is it still there?"""
    toolkit = found.get("CUDA_INCLUDE") and (ROOT / found["CUDA_INCLUDE"] / "cuda.h").exists()
    same = all(found.get(name) == value for name, value in keys().items())
    return bool(same and toolkit and ("catch2" not in needs or found.get("CATCH_VERSION")) and has_packages(found, needs))


def has_packages(found: dict[str, str], needs: list[str]) -> bool:
    needs = [need.upper() for need in needs if need != "catch2"]
    torch = not found.get("TORCH") or (ROOT / found["TORCH_ROOT"] / "__init__.py").exists()
    torchvision = "TORCH" not in needs or found.get("TORCHVISION") or found.get("WITHOUT_TORCHVISION")  # looked for with PyTorch
    return bool(not needs or is_whole() and torch and torchvision and all(found.get(need) for need in needs))


def look(needs: list[str], had: dict[str, str]) -> dict[str, str]:
    """What is here. What is not needed now but was found earlier stays: flags must not change from one command to the next."""
    found = {**keys(), **find_compiler(compiler_asked())}
    compiler = found["CXX_INSTEAD"] or compiler_asked()
    found |= attempt("TOOLKIT", find_toolkit, "Try again later, or install CUDA 12 or 13 from https://developer.nvidia.com/cuda-downloads")
    if "catch2" in needs:
        found |= attempt("CATCH2", lambda: find_catch2(compiler), "Type: sudo apt-get install catch2")
    elif had.get("KEY") == found["KEY"]:
        found |= {name: had.get(name, "") for name in CATCH_NAMES}
    same_python = had.get("PYTHON_KEY") == found["PYTHON_KEY"]
    if same_python and has_packages(had, needs):
        return found | {name: had.get(name, "") for name in PYTHON_NAMES}
    earlier = [name for name in (*PACKAGES, *TORCH_NEEDS) if same_python and had.get(name.upper())]
    return found | (find_python([*needs, *earlier]) if set(needs) - {"catch2"} else {})


# ---- the toolkit ---------------------------------------------------------------------------------------------------------


def as_text(version: int) -> str:
    """13000, as the driver counts, as 13.0."""
    return f"{version // 1000}.{version % 1000 // 10}"


def look_at_toolkit(root: pathlib.Path) -> dict[str, str]:
    """What is in a toolkit; nothing if it has no cuda.h."""
    header = next((file for file in (root / "include/cuda.h", *root.glob("targets/*-linux/include/cuda.h")) if file.exists()), None)
    if not header:
        return {}
    version = re.search(r"^#define CUDA_VERSION (\d+)", header.read_text(errors="replace"), re.MULTILINE)
    # PTX for the lowest architecture that has what the kernels use runs on every newer GPU.
    known = sorted(int(number) for number in re.findall(r"compute_(\d+)$", output(root / "bin/nvcc", "--list-gpu-arch"), re.MULTILINE))
    lowest = next((number for number in known if number >= 75), None)
    here = link("toolkit", root)
    found = {"TOOLKIT": str(root), "CUDA_ROOT": here, "CUDA_INCLUDE": f"{here}/{header.parent.relative_to(root)}"}
    found |= {"CUDA_VERSION": version.group(1) if version else "0"}
    found |= {"NVCC": f"{here}/bin/nvcc", "PTX_ARCH": f"compute_{lowest}"} if lowest else {}
    if output(root / "bin/nvcc", "--version").startswith("NVRTC in the place of nvcc"):
        found["WITHOUT_HOST_NVCC"] = (
            "nvcc compiles its host side, too, and the wheels of CUDA 12 have no nvcc. Type: make run "
            f"TOOLKIT_VERSION={NEWEST_TOOLKIT} DEVICE=simulator, or install the toolkit of CUDA {as_text(int(found['CUDA_VERSION']))}"
        )
    return found


def find_toolkit() -> dict[str, str]:
    """The toolkit that is here, unless it will not do; one that CUDA_HOME names is used in any case."""
    result, _, driver, name = device.probe()
    driver = driver if result == 0 and not name.startswith("Simulated") else 0  # the simulator loads everything
    home, wish, nvcc = os.environ.get("CUDA_HOME"), os.environ.get("TOOLKIT_VERSION"), shutil.which("nvcc")
    programs = [os.path.realpath(nvcc), nvcc] if nvcc else []
    roots = [home] if home else [os.path.dirname(os.path.dirname(program)) for program in programs] + INSTALLED
    found = next(filter(None, (look_at_toolkit(pathlib.Path(root).absolute()) for root in roots)), {})
    if home and not found:
        raise Refused(f"CUDA_HOME is {home}, but there is no include/cuda.h in it. Correct it, or unset it to let the course search for a toolkit.")
    if found:
        version, why = int(found["CUDA_VERSION"]), ""
        if version < OLDEST_TOOLKIT:
            why = f"the course needs {as_text(OLDEST_TOOLKIT)} or newer"
        elif 0 < driver < version:
            why = f"this driver loads kernels up to CUDA {as_text(driver)}"
        if why:
            say(f"Note: the toolkit in {found['TOOLKIT']} is CUDA {as_text(version)}, and {why}.")
        if home or not why:
            if wish and wish != as_text(version):
                say(
                    f"Note: the toolkit in {found['TOOLKIT']}, CUDA {as_text(version)}, is used. "
                    "TOOLKIT_VERSION selects the private one, which is fetched only if no installed one is suitable."
                )
            return found
    if 0 < driver < OLDEST_TOOLKIT:
        needs = as_text(OLDEST_TOOLKIT)
        raise Missing(f"this driver is for CUDA {as_text(driver)}, but the course needs {needs} or newer", "Update the driver.")
    return private_toolkit(wish or (as_text(driver) if 0 < driver < 13000 else NEWEST_TOOLKIT))


def private_toolkit(version: str) -> dict[str, str]:
    major, parts = version.split(".")[0], ("nvcc", "runtime", "nvrtc", "cccl")

    def fill(part: fetch.Part) -> None:
        if major != "12":
            names = [f"nvidia-cuda-{name}{'<=' if name == 'cccl' else '=='}{version}.{'999' if name == 'cccl' else '*'}" for name in (*parts, "crt")]
            return fetch.pip(part, "--no-deps", *names, f"nvidia-nvvm=={version}.*")
        # The wheels of CUDA 12 have nvcc's parts, but no nvcc: NVRTC takes its place.
        fetch.pip(part, "--no-deps", *(f"nvidia-cuda-{name}-cu12=={version}.*" for name in parts))
        root = part.files / "nvidia" / "cuda_runtime"
        (root / "include" / "crt").symlink_to("../../cuda_nvcc/include/crt")
        (root / "bin").mkdir()
        shutil.copy(ROOT / "common" / "nvcc_by_nvrtc.py", root / "bin" / "nvcc")
        (root / "bin" / "nvcc").chmod(0o755)

    what = f"CUDA toolkit that the course can use. Fetching a private one, CUDA {version}, from NVIDIA's Python wheels: it compiles the kernels and has cuda.h."
    size = "about 200 MB to download, 500 MB on disk, once; root is not needed; to use an installed toolkit, set CUDA_HOME"
    folder = fetch.fetch(f"cuda-{version}", 1200, "CUDA toolkit", f"There is no {what}\n({size})", fill)
    if found := look_at_toolkit(folder / "nvidia" / f"cu{major}") or look_at_toolkit(folder / "nvidia" / "cuda_runtime"):
        return found
    raise Missing(f"the CUDA toolkit in {folder} has no cuda.h", "Remove that folder and try again.")


# ---- Catch2 --------------------------------------------------------------------------------------------------------------


def find_catch2(compiler: str) -> dict[str, str]:
    def compiles(text: str, *words: str) -> bool:
        command = [*compiler.split(), *"-std=c++17 -x c++ - -o /dev/null".split(), *words]
        return subprocess.run(command, input=text, text=True, capture_output=True, cwd=ROOT, check=False).returncode == 0

    header = "#include <catch2/catch_session.hpp>\n"

    def version(flags: str, libraries: str) -> dict[str, str]:
        if compiles(header + "int main() { return Catch::Session().run(); }\n", *flags.split(), *libraries.split()):
            return {"CATCH_VERSION": "3", "CATCH_FLAGS": flags, "CATCH_LIBS": libraries}
        return {"CATCH_VERSION": "2", "CATCH_FLAGS": flags} if compiles("#include <catch2/catch.hpp>\n", "-E", *flags.split()) else {}

    if found := version("", "-lCatch2"):
        return found
    if compiles(header, "-E"):
        raise Missing(f"Catch2 does not link with {compiler}: its library here was built with another compiler", "Use that one: make test CXX=g++")
    what = "Catch2, the test framework, is not installed. Fetching the distribution's package, "
    what += "for this course only (under 1 MB; 5 MB on disk)."
    folder = fetch.fetch("catch2", 20, "Catch2", what, lambda part: fetch.debian(part, part.files, "catch2"))
    here, library = link("catch2", folder), next(folder.rglob("libCatch2.a"), None)
    libraries = f"-L{here}/{library.parent.relative_to(folder)} -lCatch2" if library else ""
    if found := version(f"-isystem {here}/usr/include", libraries):
        return found
    raise Missing(f"the Catch2 in {folder} does not compile", "Remove that folder and try again.")
