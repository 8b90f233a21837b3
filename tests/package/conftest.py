"""The wheel of the simulator that make has built, in an empty virtual environment."""

import os
import pathlib
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "common/package/src")]

from course.facts import facts


@pytest.fixture(scope="session", autouse=True)
def host_nvcc():
    if why := facts().get("WITHOUT_HOST_NVCC") or facts().get("WITHOUT_TOOLKIT"):
        pytest.skip(why)


class Installed:
    """The package in its virtual environment, and how its command is run."""

    def __init__(self, environment: pathlib.Path, wheel: pathlib.Path, folder: pathlib.Path):
        self.environment, self.wheel, self.folder = environment, wheel, folder
        self.command = environment / "bin" / "cudasim"

    def variables(self, **changes):
        """An environment in which nothing leads to the repository, except nvcc, which the package would bring."""
        kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR", "CCACHE_DIR")}
        nvcc = pathlib.Path(ROOT / facts()["NVCC"]).resolve().parent
        return {**kept, "PATH": f"{self.environment}/bin:{nvcc}:/usr/bin:/bin", **changes}

    def run(self, *words, **changes):
        command = [str(self.command), *map(str, words)]
        return subprocess.run(command, cwd=self.folder, env=self.variables(**changes), capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Built and installed without a network."""
    folder = tmp_path_factory.mktemp("package")
    for name in ("libraries", "simulator"):
        if not list((ROOT / "build" / name.replace("libraries", "runtime")).glob("lib*.so.1*")):
            pytest.skip(f"build has no {name}: make simulator")
    built = {**os.environ, "CUDASIM_BUILT": "build"}
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT / "common/package")]
    subprocess.run(command, env=built, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "environment", symlinks=True)
    install = [sys.executable, "-m", "pip", "--python", str(folder / "environment/bin/python"), "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, capture_output=True, check=True)
    return Installed(folder / "environment", wheel, folder)


PROGRAM = r"""
#include <cstdio>
#include <cstring>

__global__ void race(int* p) { *p = threadIdx.x; }
__global__ void index(int* p, int n) { p[threadIdx.x] = n; }

int main(int argc, char** argv) {
  const char* wish = argc > 1 ? argv[1] : "";
  int* p = nullptr;
  int values[32] = {};
  cudaMalloc(&p, sizeof values);
  if (!strcmp(wish, "race")) race<<<1, 32>>>(p);
  if (!strcmp(wish, "crash")) return *p;
  index<<<1, !strcmp(wish, "far") ? 33 : 32>>>(p, argc);
  const int error = cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost);
  printf("%s: %d words, error %d\n", wish, values[31], error);
  if (strcmp(wish, "leak")) cudaFree(p);
  return argc > 2 ? argc - 1 : 0;
}
"""


@pytest.fixture(scope="session")
def program(installed):
    """A program with its faults on demand, compiled by the package."""
    (installed.folder / "prog.cu").write_text(PROGRAM, encoding="utf-8")
    command = [installed.environment / "bin/python", "-c", "import cudasim; cudasim.compile(['prog.cu'], 'prog')"]
    subprocess.run(command, cwd=installed.folder, env=installed.variables(), check=True)
    return "./prog"
