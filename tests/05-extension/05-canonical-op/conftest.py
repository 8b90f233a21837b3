# Loads the lesson's package and the learner's op. The package's own tests do not depend on the exercise, so they run once, with the solution.
import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch

LESSON = pathlib.Path(__file__).parents[3] / "05-extension" / "05-canonical-op"
sys.path.insert(0, str(LESSON))

import kernels as lesson_kernels
from common.built import ROOT, built

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", built(str(LESSON / "main.py"), "inductor"))


@pytest.fixture(scope="session")
def kernels():
    return lesson_kernels


@pytest.fixture(scope="session")
def square_plus():
    sys.path.insert(0, built(str(LESSON / "main.py"), "installed"))
    import square_plus

    return square_plus


@pytest.fixture(scope="session")
def swiglu(answer):
    """The learner's op, for tensors on the CPU and on a GPU."""
    library = pathlib.Path(answer).with_name("answer.so")
    if not library.exists():
        pytest.skip("it was not built with CUDA: this PyTorch, or this toolkit, cannot")
    torch.ops.load_library(library)
    return torch.ops.exercise.swiglu


@pytest.fixture(scope="session")
def host_code():
    """Runs ops' functions for CUDA tensors under a stand-in for CUDA. See host_code.py for the calls, and standin.cpp for what is recorded."""
    standin = ROOT / "build" / "tests" / "05-extension" / "05-canonical-op" / "standin.so"

    @functools.cache
    def run(library, *names):
        program = pathlib.Path(__file__).with_name("host_code.py")
        ended = subprocess.run(
            [sys.executable, program, standin, library, *names], capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": str(standin)}, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout.splitlines()[-1])

    return run


def pytest_collection_modifyitems(items):
    if pathlib.Path(os.environ["ANSWER"]).parent.name != "solution":
        items[:] = [item for item in items if item.path.name != "test_package.py"]
