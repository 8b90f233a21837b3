# Self-check of 05-extension/04-canonical-op: the learner's fault_of() trusts the right op, and none of the seven others.
import os
import pathlib
import subprocess
import sys

import pytest
import torch

SEEN = torch.cuda.is_available()
DEVICE = "cuda" if SEEN else "cpu"

# For an op that ends all GPU work of its process: the judge runs in another one.
ELSEWHERE = """
import importlib.util, sys, torch
sys.path.insert(0, {lesson!r})
import square
square.load()
spec = importlib.util.spec_from_file_location("answer", {answer!r})
answer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answer)
print(answer.fault_of(square.mistaken("guard"), torch.ops.square.launches, "cuda"))
"""


def verdict(answer, function):
    return answer.fault_of(function, torch.ops.square.launches, DEVICE)


def test_the_right_op_is_trusted(answer, square):
    for _ in range(3):
        assert verdict(answer, square.op()) == ""


def test_an_op_that_calls_no_kernel_is_rejected(answer, square):
    assert verdict(answer, square.mistaken("bound"))


def test_an_op_whose_threads_share_an_element_is_rejected(answer, square):
    assert verdict(answer, square.mistaken("index"))


def test_an_op_that_does_not_check_its_launch_is_rejected(answer, square):
    assert verdict(answer, square.mistaken("check"))


def test_an_op_that_ignores_strides_is_rejected(answer, square):
    assert verdict(answer, square.mistaken("contiguous"))


def test_an_op_that_loses_a_gradient_is_rejected(answer, square):
    assert verdict(answer, square.mistaken("comma"))


@pytest.mark.skipif(not SEEN, reason="PyTorch sees no GPU here")
def test_an_op_that_forgets_the_stream_is_rejected(answer, square):
    assert verdict(answer, square.mistaken("stream"))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="it takes two GPUs")
def test_an_op_that_forgets_the_guard_is_rejected(answer, square):
    code = ELSEWHERE.format(lesson=str(pathlib.Path(square.__file__).parent), answer=os.environ["ANSWER"])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
