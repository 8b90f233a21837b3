"""The learner's column_sums: correct for every type and stride, rejects other input, works under torch.compile."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

Sums = Callable[[Tensor], Tensor]


@pytest.fixture(scope="module")
def sums(answer: str) -> Sums:
    torch.ops.load_library(answer)
    return torch.ops.answer.column_sums


def test_each_column_is_summed(sums: Sums) -> None:
    assert sums(torch.tensor([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])).tolist() == [3, 30, 300]


def test_the_strides_of_g_are_respected(sums: Sums) -> None:
    g = torch.arange(12, dtype=torch.double).view(3, 4)
    for other in g.T, g[:, ::2], g[1:], torch.ones((), dtype=torch.double).expand(3, 4):
        assert torch.equal(sums(other), other.sum(0))


def test_half_types_are_added_up_in_float(sums: Sums) -> None:
    for kind in torch.half, torch.bfloat16:
        total = sums(torch.ones(4096, 2, dtype=kind))
        assert total.dtype == kind
        assert total.tolist() == [4096, 4096]


def test_without_rows_the_sums_are_zero_and_without_columns_there_are_none(sums: Sums) -> None:
    assert sums(torch.empty(0, 3)).tolist() == [0, 0, 0]
    assert sums(torch.empty(3, 0)).tolist() == []


def test_invalid_input_is_rejected_with_a_clear_message(sums: Sums) -> None:
    for g in torch.ones(3), torch.ones(2, 3, 4), torch.ones(2, 3).long(), torch.ones(2, 3, dtype=torch.cfloat):
        with pytest.raises(RuntimeError, match="^column_sums "):
            sums(g)


def test_the_fake_implementation_rejects_the_same_inputs(sums: Sums) -> None:
    for g in torch.ones(3, device="meta"), torch.ones(2, 3, 4, device="meta"), torch.ones(2, 3, device="meta").long():
        with pytest.raises(RuntimeError, match="^column_sums "):
            sums(g)


def test_the_shape_of_the_result_is_known_without_data(sums: Sums) -> None:
    known = sums(torch.empty(2, 3, dtype=torch.half, device="meta"))
    assert known.shape == (3,) and known.dtype == torch.half and known.device.type == "meta"


def test_the_result_is_the_gradient_of_b(sums: Sums) -> None:
    class SquarePlus(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, b: ctx.save_for_backward(x) or x * x + b)
        backward = staticmethod(lambda ctx, g: (2 * ctx.saved_tensors[0] * g, sums(g)))

    x, b = torch.randn(4, 3, dtype=torch.double), torch.randn(3, dtype=torch.double)
    assert torch.autograd.gradcheck(SquarePlus.apply, (x.requires_grad_(), b.requires_grad_()))


def test_the_op_compiles_into_one_graph_for_any_number_of_rows(sums: Sums) -> None:
    compiled = torch.compile(lambda g: sums(2 * g), backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in 2, 5:
        assert compiled(torch.ones(rows, 3)).tolist() == [2 * rows] * 3
