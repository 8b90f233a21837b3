# Two wheels of one package, installed into fresh environments; and what a user meets whose machine is not the builder's.
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from common.built import ROOT, built

# The folders of the packages that a fresh environment needs and does not see: they may be in an environment themselves.
PACKAGES = [importlib.util.find_spec(name) for name in ("torch", "pip", "setuptools")]
FOLDERS = [str(pathlib.Path(package.origin).parents[1]) for package in PACKAGES if package and package.origin]
PLACES = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *FOLDERS])
WHEELS = pathlib.Path(built(__file__, "wheels"))
# An edited copy of this program, which `make test` makes of the text, has environments of its own: it installs what others must not find.
HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE / "environments" if HERE.is_relative_to(ROOT / "build") else pathlib.Path(built(__file__, "environments"))
RIGHT = "| [1.0, 2.0, 5.0, 10.0]"  # x² + 1 for 0, 1, 2, 3
TRY = """
import warnings
warnings.simplefilter("ignore")
import torch, square_plus
x = torch.arange(4.0, requires_grad=True)
y = square_plus.square_plus(x, torch.ones(1))
y.sum().backward()
print(f"{square_plus.BUILT:13} | {y.tolist()}, {x.grad.tolist()}")
"""
TRY_STABLE = """
import torch
torch.ops.load_library({!r})
print("ahead of time |", torch.ops.stable_plus.forward(torch.arange(4.0), torch.ones(4)).tolist())
"""


class Environment:
    """A virtual environment of its own, with PyTorch from where this program has it, and the wheel, which is installed there once."""

    def __init__(self, name: str, wheel: pathlib.Path) -> None:
        kept = ENVIRONMENTS / name
        self.folder = kept if kept.exists() else kept.with_name(f"{name}.{os.getpid()}")
        if not kept.exists():
            venv.create(self.folder, system_site_packages=True, symlinks=True)  # no pip of its own, but it sees ours
            if error := self.install(wheel):
                raise RuntimeError(error)
            self.folder = self.folder.rename(kept)  # by now it is whole

    @property
    def python(self) -> pathlib.Path:
        return self.folder / "bin" / "python"

    def install(self, wheel: pathlib.Path) -> str:
        """What pip says went wrong, or nothing."""
        options = ["--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check", "-q"]
        return last_line([str(self.python), "-m", "pip", "install", *options, str(wheel)]).replace(wheel.name, "this")

    def run(self, program: str, **variables: str) -> str:
        """What the program prints at last, or its error."""
        return last_line([str(self.python), "-c", program], {"TORCH_EXTENSIONS_DIR": built(__file__, "just_in_time"), **variables})

    def installed(self, file: str) -> pathlib.Path:
        return next(self.folder.glob(f"lib/python*/site-packages/square_plus/{file}"))


def last_line(command: list[str], variables: dict[str, str] = {}) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PLACES, **variables})
    said = (ended.stdout if ended.returncode == 0 else ended.stderr).strip().splitlines()
    return re.sub(r"^(\w+Error|ERROR): |/\S*/(?=\w)", "", said[-1].replace(str(ROOT), "") if said else "")


def wanted(library: pathlib.Path) -> str:
    """How many names of PyTorch's the library wants: functions of C++, which may change, and those of the stable interface in C."""
    said = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in said.splitlines()]
    in_cpp = [name for name in names if re.match(r"_Z.*(c10|2at|5torch)", name)]
    in_c = [name for name in names if name.startswith(("aoti_torch_", "torch_"))]
    return f"{len(in_cpp):3} | {len(in_c):3}"


def show(rows: dict[str, Callable[[], str]]) -> list[str]:
    """What came of each; two at a time, for most of the time goes into importing PyTorch."""
    shown = []
    with ThreadPoolExecutor(2) as pool:
        for what, came in zip(rows, pool.map(lambda call: call(), rows.values())):
            print(f"{what:21} | {came or 'nothing'}", flush=True)
            shown.append(came)
    return shown


def main(folder: pathlib.Path) -> int:
    if not any(WHEELS.glob("*.wheel")):
        if not importlib.util.find_spec("pip"):
            print("skipped: pip builds the wheels, and is neither here nor could it be fetched. On Debian and Ubuntu: sudo apt-get install python3-pip")
        else:
            print("skipped: setuptools 70.1 builds the wheels, and is not here: python3 -m pip install --upgrade setuptools")
        return 77
    now, later = next(WHEELS.glob("now.wheel/*.whl")), next(WHEELS.glob("later.wheel/*.whl"))
    print(f"{'wheel':42} | the library | the kernel")
    for wheel in now, later:
        names = subprocess.run([sys.executable, "-m", "zipfile", "-l", str(wheel)], capture_output=True, text=True).stdout
        print(f"{wheel.name:42} | {'compiled' if 'op.abi3.so' in names else 'source':11} | {'PTX' if 'kernels.ptx' in names else 'source'}")

    print(f"\n{'installed, imported':21} | compiled      | y, dx")
    ahead, just_in_time = Environment("now", now), Environment("later", later)
    without_compiler = {"CXX": "no-compiler", "TORCH_EXTENSIONS_DIR": str(folder / "empty")}
    stable = pathlib.Path(built(__file__, "stable.so"))
    imported = show({
        "first wheel": lambda: ahead.run(TRY),
        "second wheel": lambda: just_in_time.run(TRY),
        "second, no compiler": lambda: just_in_time.run(TRY, **without_compiler),
        "stable interface": lambda: ahead.run(TRY_STABLE.format(str(stable))) if stable.exists() else "skipped: PyTorch has it since 2.11",
    })  # fmt: skip

    print(f"\n{'wants of PyTorch':21} | C++ |   C")
    for library in [ahead.installed("op.*.so"), *([stable] if stable.exists() else [])]:
        print(f"{library.name:21} | {wanted(library)}")

    print(f"\n{'trap':21} | what the user reads")
    library, elsewhere = ahead.installed("op.*.so"), Environment("elsewhere", now)
    elsewhere.installed("built_for.txt").write_text("2.5.1")
    for_another_python = folder / now.name.replace("cp39-abi3", "cp38-cp38")
    shutil.copy(now, for_another_python)
    show({
        "another Python": lambda: ahead.install(for_another_python),
        "another PyTorch": lambda: elsewhere.run("import square_plus"),
        "loaded before PyTorch": lambda: ahead.run(f"import ctypes; ctypes.CDLL({str(library)!r})"),
        "another std::string": lambda: ahead.run(f"import torch, ctypes; ctypes.CDLL({built(__file__, 'other_string.so')!r})"),
        "another CUDA": lambda: ahead.run(f"import ctypes; ctypes.CDLL({built(__file__, 'old_cuda.so')!r})"),
    })  # fmt: skip
    return 0 if all(RIGHT in row or row.startswith("skipped: ") for row in imported) else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(pathlib.Path(temporary)))
