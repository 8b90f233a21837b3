"""Tests of the environment that set-up makes for Python's packages, on made-up machines."""

import os
import shutil
import subprocess

import pytest

from bare import PYTHON, SET_UP
from course import ROOT, environment


def test_an_environment_has_the_pinned_packages_and_the_users_own(house):
    house.packages("mkdir -p $target/pytest $target/pytest-8.dist-info; echo 'who = \"ours\"' > $target/pytest/__init__.py\n")
    ended = house.set_up("pytest", CUDA_HOME=str(house.toolkit("cuda")))
    assert ended.returncode == 0 and house.found()["PYTEST"] == "yes" and "pytest" in ended.stderr, ended.stderr
    python = house.root / house.found()["PYTHON"]
    said = subprocess.run([python, "-c", "import pytest, sys; print(pytest.who, sys.prefix)"], capture_output=True, text=True, check=False, env={})
    assert said.stdout.split() == ["ours", str(house.root / "build/python")], said.stderr
    paths = (house.root / "build/python").glob("lib/python*/site-packages/course.pth")
    own = subprocess.run([PYTHON, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True).stdout.strip()
    assert own in next(paths).read_text()
    again = house.set_up("pytest", CUDA_HOME=str(house.folder / "cuda"))
    assert (again.returncode, again.stderr) == (0, "")
    (fetched,) = house.cache.glob("pytest-*")
    shutil.rmtree(fetched)  # a person makes room
    again = house.set_up("pytest", CUDA_HOME=str(house.folder / "cuda"))
    assert fetched.is_dir() and "Fetching pytest" in again.stderr, again.stderr


TORCH = "__version__ = '9.9'\ndef compiled_with_cxx11_abi(): return {string}\n"


def test_pytorch_of_the_users_own_environment_is_used_where_it_is(house):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", house.folder / "env"], check=True)
    (packages,) = (house.folder / "env").glob("lib/python*/site-packages")
    checkout = house.folder / "check out"  # as an editable installation names it
    (checkout / "torch/include/c10/cuda").mkdir(parents=True)
    (checkout / "torch/__init__.py").write_text(TORCH.format(string=False))
    (checkout / "torch/include/c10/cuda/CUDAGuard.h").touch()
    (packages / "torch.pth").write_text(f"{checkout}\n")
    house.packages("mkdir -p $target/setuptools $target/bin; touch $target/bin/ninja\n")
    command = [house.folder / "env/bin/python3", *SET_UP[1:], "torch"]
    ended = subprocess.run(
        command, cwd=house.root, env={**house.environment, "CUDA_HOME": str(house.toolkit("cuda"))}, capture_output=True, text=True, check=False
    )
    found = house.found()
    assert ended.returncode == 0 and "Fetching a private one" not in ended.stderr, ended.stderr
    assert "torchvision is not installed, and the pinned one is built for PyTorch 2.13.0, not 9.9." in ended.stderr
    assert (found["TORCH"], found["TORCH_OLD_STRING"], found["TORCH_CUDA"], found["BUILDERS"]) == ("9.9", "yes", "yes", "yes")
    assert os.path.samefile(house.root / found["TORCH_ROOT"], checkout / "torch") and (house.root / "build/python/bin/ninja").exists()


def test_ours_comes_before_the_users_and_what_matplotlib_brings_after_it(house):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", house.folder / "env"], check=True)
    (packages,) = (house.folder / "env").glob("lib/python*/site-packages")
    for name in ("pytest", "numpy"):
        (packages / f"{name}.py").write_text("who = 'theirs'\n")
    house.packages(
        'case "$*" in *plots.txt*) names="numpy matplotlib" ;; *) names=pytest ;; esac; for name in $names; do echo "who = \'ours\'" > $target/$name.py; done\n'
    )
    python = house.root / "build/python/bin/python3"
    for break_it in (lambda: None, lambda: (python.unlink(), python.symlink_to("/no/where"))):
        break_it()
        command = [house.folder / "env/bin/python3", *SET_UP[1:], "pytest", "plots"]
        environment_of = {**house.environment, "CUDA_HOME": str(house.toolkit("cuda"))}
        subprocess.run(command, cwd=house.root, env=environment_of, check=True, capture_output=True)
        ask = "import pytest, numpy, matplotlib; print(pytest.who, numpy.who, matplotlib.who)"
        said = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False, env={})
        assert said.stdout.split() == ["ours", "theirs", "ours"], said


def test_a_private_pytorch_is_fetched_from_the_index_that_was_named(house):
    fill = TORCH.format(string=True).replace("\n", "\\n")
    house.packages(f'echo "$@" >> {house.folder}/asked; case "$*" in *torch==*) mkdir -p $target/torch; printf "{fill}" > $target/torch/__init__.py ;; esac\n')
    ended = house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")), TORCH_INDEX="http://a/b")
    assert "Fetching a private copy" in ended.stderr and "2.8 GB to download, 4.7 GB on disk" in ended.stderr, ended.stderr
    assert (house.found()["TORCH"], house.found()["TORCH_OLD_STRING"], house.found()["TORCH_CUDA"]) == ("9.9", "no", "")
    asked = [line for line in (house.folder / "asked").read_text().splitlines() if "--index-url" in line]
    assert len(asked) == 1 and asked[0].endswith("torch==2.13.0 numpy --index-url http://a/b"), asked


def test_torchvision_is_fetched_for_the_pinned_pytorch_from_the_same_index(house):
    torch = TORCH.format(string=True).replace("9.9", "2.13.0+cpu") + "zeros = lambda *shape: None\n"
    vision = "class ops:\n    nms = staticmethod(lambda *given: None)\n"
    fill = lambda text: text.replace("\n", "\\n").replace('"', '\\"')
    house.packages(
        f'echo "$@" >> {house.folder}/asked; case "$*" in *torch==*) mkdir -p $target/torch; printf "{fill(torch)}" > $target/torch/__init__.py ;; '
        f'*torchvision==*) mkdir -p $target/torchvision; printf "{fill(vision)}" > $target/torchvision/__init__.py ;; esac\n'
    )
    house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")), TORCH_INDEX="http://a/b")
    assert (house.found()["TORCHVISION"], house.found()["WITHOUT_TORCHVISION"]) == ("yes", "")
    asked = [line for line in (house.folder / "asked").read_text().splitlines() if "torchvision" in line]
    assert len(asked) == 1 and "--no-deps torchvision==0.28.0" in asked[0] and asked[0].endswith("--index-url http://a/b"), asked


@pytest.mark.parametrize("version, found, reason", [("2.13.0+cpu", "yes", ""), ("9.9", "", "the pinned one is for PyTorch 2.13.0, not 9.9")])
def test_triton_and_numba_are_fetched_only_for_lessons_that_import_them(house, version, found, reason):
    torch = TORCH.format(string=True).replace("9.9", version) + "class library:\n    triton_op = None\n"
    fill = lambda text: text.replace("\n", "\\n").replace('"', '\\"')
    house.packages(
        f'echo "$@" >> {house.folder}/asked; case "$*" in *pytorch.txt*) mkdir -p $target/torch; printf "{fill(torch)}" > $target/torch/__init__.py ;; '
        '*numba==*) mkdir -p $target/numba $target/cuda/core; echo "jit = None" > $target/numba/cuda.py; touch $target/numpy.py $target/_numba_cuda_redirector.py ;; '
        '*triton==*) echo "jit = None" > $target/triton.py ;; esac\n'
    )
    house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")))
    assert house.found()["TRITON"] == house.found()["NUMBA"] == "" and "triton==" not in (house.folder / "asked").read_text()
    house.set_up("torch", "triton", "numba", CUDA_HOME=str(house.toolkit("cuda")))
    assert (house.found()["TRITON"], house.found()["NUMBA"]) == (found, "yes") and reason in house.found()["WITHOUT_TRITON"], house.found()
    assert ("--no-deps triton==3.7.1" in (house.folder / "asked").read_text()) == bool(found)


def test_a_numpy_that_is_too_new_for_numba_is_told(house):
    torch = TORCH.format(string=True).replace("\n", "\\n").replace('"', '\\"')
    house.packages(
        f'case "$*" in *pytorch.txt*) mkdir -p $target/torch; printf "{torch}" > $target/torch/__init__.py ;; '
        "*numba==*) mkdir -p $target/numba/cuda/np $target/cuda/core; touch $target/numpy.py $target/_numba_cuda_redirector.py; "
        'echo "jit = None" > $target/numba/cuda/__init__.py; echo "import numpy; numpy.row_stack" > $target/numba/cuda/np/arrayobj.py ;; esac\n'
    )
    ended = house.set_up("torch", "numba", CUDA_HOME=str(house.toolkit("cuda")))
    reason = "the numba-cuda that was fetched does not work here: AttributeError: module 'numpy' has no attribute 'row_stack'"
    assert house.found()["WITHOUT_NUMBA"] == reason.replace("'", "_") and house.found()["NUMBA"] == "", house.found()
    assert f"{reason}. It may need an older NumPy. Type: " in ended.stderr and "numpy.txt. Until then, lesson 05-08 is skipped." in ended.stderr, ended.stderr


def test_a_pytorch_that_does_not_start_is_told_with_its_last_words(house):
    house.packages('mkdir -p $target/torch; echo "raise ImportError(\\"libcudart.so.13: no such file\\")" > $target/torch/__init__.py\n')
    ended = house.set_up("torch", CUDA_HOME=str(house.toolkit("cuda")))
    assert "does not start: ImportError: libcudart.so.13: no such file. Remove that folder and try again." in ended.stderr, ended.stderr
    assert "does not start" in house.found()["WITHOUT_TORCH"] and house.found()["TORCH"] == ""


def test_what_is_installed_serves_where_nothing_can_be_fetched(house):
    site = house.folder / "site"
    for name in ("pytest", "iniconfig", "pluggy", "packaging", "Pygments"):
        (site / f"{name}-1.0.dist-info").mkdir(parents=True)
        (site / f"{name}-1.0.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    house.packages("exit 1\n")
    house.environment["PYTHONPATH"] += f":{site}"
    house.set_up("pytest", "tools", CUDA_HOME=str(house.toolkit("cuda")))
    assert (house.found()["PYTEST"], house.found()["TOOLS"]) == ("yes", "")


def test_set_up_from_within_the_environment_is_that_of_the_users_python(house):
    home = house.toolkit("cuda")
    house.packages("mkdir -p $target/pytest\n")
    house.set_up("pytest", CUDA_HOME=str(home))
    before = (house.root / "build/setup.mk").read_text()
    command = [house.root / "build/python/bin/python3", *SET_UP[1:], "pytest"]
    ended = subprocess.run(command, cwd=house.root, env={**house.environment, "CUDA_HOME": str(home)}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "") and (house.root / "build/setup.mk").read_text() == before


def test_every_package_has_one_version_for_every_python():
    for file in (ROOT / "common/requirements").glob("*.txt"):
        for line in file.read_text().splitlines():
            assert line.startswith(("#", "-r ")) or "==" in line.split(";")[0], (file.name, line)


def test_a_link_to_a_download_that_was_removed_is_made_again(tmp_path):
    place, target = tmp_path / "ninja", tmp_path / "new"
    target.touch()
    place.symlink_to(tmp_path / "removed")
    environment.lead(place, target)
    assert place.samefile(target)
