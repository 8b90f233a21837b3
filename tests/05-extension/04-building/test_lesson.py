"""Tests of the lesson's own operation that its program cannot show. They run once, with the solution."""

import os
import pathlib
import shutil
import subprocess
import sys
from types import ModuleType

import pytest

from common.built import ROOT, built

LESSON = ROOT / "05-extension" / "04-building"
MODULE = built(str(LESSON / "main.py"), "module")

pytestmark = pytest.mark.skipif("solution" not in os.environ["ANSWER"], reason="it tests the lesson, not the exercise")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not shutil.which("ninja"), reason="there is no ninja, with which PyTorch builds at run time")
def test_the_module_is_built_just_in_time() -> None:
    ended = run(str(LESSON / "just_in_time.py"))
    assert ended.stdout == "tensor([ 1.,  2.,  5., 10.])\n", ended.stderr


@pytest.mark.skipif(not list(pathlib.Path(MODULE).glob("bound*.so")), reason="the module was not built, because there is no Python.h")
def test_the_bound_function_reads_the_data_of_a_fake_tensor_and_fails() -> None:
    program = f"""
import sys, torch
sys.path.insert(0, {MODULE!r})
import bound
from torch._subclasses.fake_tensor import FakeTensorMode
print("imported", flush=True)
with FakeTensorMode():
    bound.square_plus(torch.ones(2), 1)
print("survived")
"""
    ended = run("-c", program)
    assert ended.stdout == "imported\n", ended.stderr
    assert ended.returncode == 1 and "data is not allocated" in ended.stderr, ended.stderr


def test_pytorch_accepts_the_same_toolkits(answer: ModuleType, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from torch.utils import cpp_extension

    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_DONT_CHECK_COMPILER_ABI", "1")
    (tmp_path / "bin").mkdir()
    nvcc = tmp_path / "bin" / "nvcc"
    for version in "11.8", "12.4", "12.8", "12.9", "13.0":
        report = f"Cuda compilation tools, release {version}, V{version}.93"
        nvcc.write_text(f"#!/bin/sh\necho '{report}'\n")
        nvcc.chmod(0o755)
        try:
            cpp_extension._check_cuda_version("g++", torch.torch_version.TorchVersion("12.2"))
            accepted = True
        except RuntimeError:
            accepted = False
        assert accepted == (answer.choose("12.8", {"/opt": report}) is not None), version
