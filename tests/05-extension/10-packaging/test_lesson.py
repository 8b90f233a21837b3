"""The lesson's package, installed from its sources as a user does it. Tried once, with the solution."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import venv

import pytest

from common.built import ROOT, built

LESSON = ROOT / "05-extension" / "10-packaging"
LATER = pathlib.Path(built(str(LESSON / "main.py"), "wheels")) / "later.wheel"
NOW = LATER.with_name("now.wheel")

# Where PyTorch is, which a fresh environment does not know if it is in one, too.
PACKAGES = [importlib.util.find_spec(name) for name in ("torch", "pip", "setuptools")]
FOLDERS = [str(pathlib.Path(package.origin).parents[1]) for package in PACKAGES if package and package.origin]
PLACES = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *FOLDERS])

pytestmark = [
    pytest.mark.skipif("solution" not in os.environ["ANSWER"], reason="it tests the lesson, not the exercise"),
    pytest.mark.skipif(not NOW.exists(), reason="there is no pip here, or no setuptools 70.1"),
]


def run(python: str | pathlib.Path, *command: str, **variables: str) -> str:
    ended = subprocess.run([str(python), *command], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PLACES, **variables})
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def installed(folder: pathlib.Path, *what: str, **variables: str) -> pathlib.Path:
    """A fresh environment with this in it; its Python."""
    venv.create(folder / "environment", system_site_packages=True, symlinks=True)
    python = folder / "environment" / "bin" / "python"
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q"]
    run(python, "-m", "pip", "install", *options, *what, **variables)
    return python


def test_pip_installs_it_from_its_sources(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "package"
    shutil.copytree(LESSON / "package", source)
    python = installed(tmp_path, str(source), SQUARE_PLUS="later")
    where = run(python, "-c", "import importlib.util; print(importlib.util.find_spec('square_plus').origin)")
    assert where.startswith(str(tmp_path / "environment")), where


def test_the_library_has_nothing_of_pythons(tmp_path: pathlib.Path) -> None:
    with_nm = shutil.which("nm")
    if not with_nm:
        pytest.skip("there is no nm here")
    shutil.unpack_archive(next(NOW.glob("*.whl")), tmp_path, "zip")
    (library,) = tmp_path.glob("square_plus/op.*.so")
    symbols = subprocess.run([with_nm, "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    assert not [line for line in symbols.splitlines() if line.split()[-1].startswith(("Py", "_Py", "cu"))]


def test_it_compiles_into_one_graph_and_opcheck_is_content(tmp_path: pathlib.Path) -> None:
    python = installed(tmp_path, str(next(NOW.glob("*.whl"))))
    program = """
import torch, square_plus
f = square_plus.square_plus
x, b = torch.randn(4, 3, requires_grad=True), torch.randn(3, requires_grad=True)
torch.library.opcheck(f, (x, b))
torch.compile(lambda x, b: 2 * f(x, b), backend="aot_eager", fullgraph=True)(x, b)
print(torch.autograd.gradcheck(f, (x.detach().double().requires_grad_(), b.detach().double().requires_grad_())))
"""
    assert run(python, "-W", "ignore", "-c", program) == "True"


def test_on_a_gpu_the_kernel_in_the_wheel_runs_without_nvcc(tmp_path: pathlib.Path) -> None:
    import torch  # imported here because it takes seconds, and most submissions do not need it

    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU here")
    python = installed(tmp_path, str(next(NOW.glob("*.whl"))))
    program = """
import torch, square_plus
from square_plus import cuda
x = torch.randn(1000, device="cuda")
y = square_plus.square_plus(x, torch.ones(1, device="cuda"))
assert torch.allclose(y, x * x + 1)
print(cuda.kernel.cache_info().currsize)
"""
    assert run(python, "-c", program, PATH="/usr/bin:/bin") == "1"
