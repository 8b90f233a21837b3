"""Tests of the lesson's own operation that its program cannot show. They run once, with the solution."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
import torch

from common.built import ROOT, built

LESSON = ROOT / "05-extension" / "03-dispatcher"
OP_SO, MODULE = built(str(LESSON / "main.py"), "op.so"), built(str(LESSON / "main.py"), "module")

pytestmark = pytest.mark.skipif("solution" not in os.environ["ANSWER"], reason="it tests the lesson, not the exercise")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not shutil.which("ninja"), reason="there is no ninja, with which PyTorch builds at run time")
def test_the_op_is_built_just_in_time() -> None:
    ended = run(str(LESSON / "just_in_time.py"))
    assert ended.stdout == "tensor([ 1.,  2.,  5., 10.])\n", ended.stderr


@pytest.mark.skipif(not list(pathlib.Path(MODULE).glob("bound*.so")), reason="the module was not built, because there is no Python.h")
def test_pybind11_reads_the_data_of_a_fake_tensor_and_fails() -> None:
    """PyTorch 2.13 warns and crashes; a version that raises an error instead names the data pointer, too."""
    program = f"""
import sys, torch
sys.path.insert(0, {MODULE!r})
import bound
from torch._subclasses.fake_tensor import FakeTensorMode
print("imported", flush=True)
with FakeTensorMode():
    bound.square_plus(torch.ones(2), torch.ones(2))
print("survived")
"""
    ended = run("-c", program)
    assert ended.stdout == "imported\n", ended.stderr
    assert ended.returncode in (1, -signal.SIGSEGV), ended.stderr
    assert "data pointer" in ended.stderr


def test_without_a_fake_implementation_the_compiler_gives_up() -> None:
    torch.ops.load_library(OP_SO)
    with pytest.raises(Exception, match="fake|Meta|meta"):
        torch.compile(torch.ops.course.square_plus, backend="aot_eager", fullgraph=True)(torch.ones(2), torch.ones(2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU here")
def test_a_tensor_on_the_gpu_finds_no_kernel() -> None:
    torch.ops.load_library(OP_SO)
    with pytest.raises(NotImplementedError, match="'CUDA' backend"):
        torch.ops.course.square_plus(torch.ones(2, device="cuda"), torch.ones(2, device="cuda"))
