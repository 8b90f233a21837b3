"""Tests of the lesson's own operation that its program cannot show. They run once, with the solution."""

import os

import pytest
import torch

from common.built import ROOT, built

OP_SO = built(str(ROOT / "05-extension" / "03-dispatcher" / "main.py"), "op.so")

pytestmark = pytest.mark.skipif("solution" not in os.environ["ANSWER"], reason="it tests the lesson, not the exercise")


def test_without_a_fake_implementation_the_compiler_gives_up() -> None:
    torch.ops.load_library(OP_SO)
    with pytest.raises(Exception, match="fake|Meta|meta"):
        torch.compile(torch.ops.course.square_plus, backend="aot_eager", fullgraph=True)(torch.ones(2), torch.ones(2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU here")
def test_a_tensor_on_the_gpu_finds_no_kernel() -> None:
    torch.ops.load_library(OP_SO)
    with pytest.raises(NotImplementedError, match="'CUDA' backend"):
        torch.ops.course.square_plus(torch.ones(2, device="cuda"), torch.ones(2, device="cuda"))
