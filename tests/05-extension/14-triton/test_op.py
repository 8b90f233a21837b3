"""The lesson's op: correct for every shape, differentiable, and usable by torch.compile and, on a GPU, CUDA graphs."""

import pytest
import torch

import measure
import ops

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
BOTH = [ops.opaque, ops.visible]


def inputs(rows, columns, dtype=torch.float32):
    return [torch.randn(shape, dtype=dtype, device=DEVICE) for shape in ((rows, columns), (rows,), (rows, columns))]


@pytest.mark.parametrize("op", BOTH)
def test_values_and_gradients_agree_with_pytorch(op):
    for rows, columns, dtype in ((1, 1, torch.float32), (3, 2500, torch.float32), (2, 1024, torch.bfloat16), (0, 4, torch.float32), (4, 0, torch.float32)):
        x, b, g = inputs(rows, columns, dtype)
        x.requires_grad_(), b.requires_grad_()
        found = [op(x, b), *torch.autograd.grad(op(x, b), (x, b), g)]
        for got, wanted in zip(found, (x.double() ** 2 + b.double()[:, None], 2 * g.double() * x.double(), g.double().sum(1)), strict=True):
            torch.testing.assert_close(got, wanted.to(dtype), rtol=1e-2 if dtype == torch.bfloat16 else 1e-5, atol=1e-4)


def test_tensors_that_are_not_contiguous_are_accepted():
    x, b, _ = inputs(40, 30)
    torch.testing.assert_close(ops.opaque(x.t(), b[:30]), x.t() ** 2 + b[:30, None])


def test_opcheck_finds_no_fault():
    """One of opcheck's four tests runs what the compiler sees of the op. Of `visible`, that is the kernel, which Triton launches on a GPU only."""
    x, b, g = inputs(2, 5)
    some = ["test_schema", "test_autograd_registration", "test_faketensor"]
    torch.library.opcheck(ops.opaque, (x.requires_grad_(), b))
    torch.library.opcheck(ops.visible, (x, b), **({} if ON_GPU else {"test_utils": some}))
    torch.library.opcheck(ops.gradients, (g, x.detach()))


@pytest.mark.parametrize(
    "x, b, words",
    [
        (torch.ones(2, 3), torch.ones(3), "one value for each row"),
        (torch.ones(2, 3).double(), torch.ones(2).double(), "not torch.float64"),
        (torch.ones(2, 3), torch.ones(2).half(), "torch.float32 and torch.float16"),
        (torch.ones(2, 3), torch.ones(2, device="meta"), "b is on meta"),
    ],
)
def test_invalid_input_is_rejected_with_a_clear_message(x, b, words):
    with pytest.raises(RuntimeError, match=words):
        ops.opaque(x, b)


if ON_GPU:

    @pytest.mark.parametrize("op", BOTH)
    def test_a_cuda_graph_captures_the_op(op):
        x, b, _ = inputs(8, 300)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            op(x, b)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = op(x, b)
        x.fill_(3), b.fill_(1)
        graph.replay()
        assert y.eq(10).all()

    @pytest.mark.parametrize("op", BOTH)
    def test_a_compiled_function_computes_the_same(op):
        x, b, _ = inputs(8, 300)
        torch.testing.assert_close(torch.compile(lambda x, b: 2 * op(x, b), fullgraph=True)(x, b), 2 * (x * x + b[:, None]))

    def test_the_measurement_runs(capsys):
        measure.show()
        assert "autotune chose BLOCK" in capsys.readouterr().out
