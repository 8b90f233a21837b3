# Judges source_of(): compiles what it writes, and runs it on PyTorch's tensors.
import pytest
import torch

import nvrtc
from kernels import Kernels

pytestmark = pytest.mark.skipif(not nvrtc.is_here(), reason="found no NVRTC that works with this driver")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def apply(answer, tmp_path):
    """apply(expression, output=type, x=tensor, …): the result. The `room` elements after it must remain -1."""

    def applied(expression, output=torch.float32, room=0, **inputs):
        inputs = {name: tensor.to(DEVICE) for name, tensor in inputs.items()}
        source = answer.source_of(expression, {name: tensor.dtype for name, tensor in inputs.items()}, output)
        count = next(iter(inputs.values())).numel()
        result = torch.full((count + room,), -1, dtype=output, device=DEVICE)
        try:
            Kernels(source, tmp_path).launch("apply", (), *inputs.values(), result[:count])
        except RuntimeError as failed:
            if "CUDA_ERROR_NOT_FOUND" not in str(failed):
                raise
            why = ': is extern "C" missing?' if "apply" in source else ""
            raise LookupError("the source has no function called apply" + why) from None
        return result.cpu()

    return applied


def test_the_expression_is_computed(apply):
    x, b = torch.arange(6.0), torch.full((6,), 10.0)
    assert apply("x * x + b", x=x, b=b).tolist() == [10, 11, 14, 19, 26, 35]


def test_each_expression_gives_its_own_kernel(apply):
    x = torch.arange(6.0)
    assert apply("x + 1", x=x).tolist() == [1, 2, 3, 4, 5, 6]
    assert apply("2 * x", x=x).tolist() == [0, 2, 4, 6, 8, 10]


def test_the_addresses_are_in_the_order_of_the_inputs(apply):
    z, a = torch.full((4,), 7.0), torch.full((4,), 2.0)
    assert apply("z - a", z=z, a=a).tolist() == [5] * 4


def test_only_whole_names_are_inputs(apply):
    x, max_x = torch.tensor([1.0, 2, 3, 4]), torch.full((4,), 2.5)
    assert apply("fmax(x, max_x)", x=x, max_x=max_x).tolist() == [2.5, 2.5, 3, 4]


def test_an_input_may_have_any_name(apply):
    one, two = torch.full((4,), 1.0), torch.full((4,), 2.0)
    pairs = [("i", "n"), ("index", "count"), ("out", "result"), ("element", "own"), ("x", "all_x"), ("x_", "x"), ("x0", "x1")]
    for first, second in [*pairs, ("index_", "count_"), ("index__", "result__"), ("formula", "apply"), ("input0", "input1")]:
        assert apply(f"{first} - {second}", **{first: one, second: two}).tolist() == [-1] * 4, f"{first} and {second}"


def test_each_input_has_its_own_type(apply):
    x, n = torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([3, 2**40], dtype=torch.int64)
    assert apply("x + n", torch.float64, x=x, n=n).tolist() == [0.1 + 3, 0.2 + 2**40]


def test_large_integers_are_computed_as_integers(apply):
    n = torch.tensor([2**60 + 1, 7], dtype=torch.int64)
    assert apply("n + 1", torch.int64, n=n).tolist() == [2**60 + 2, 8]
    assert apply("n / 2", torch.float64, n=n).tolist() == [2**59, 3]


def test_the_result_has_its_own_type(apply):
    x = torch.tensor([0.1, 0.7], dtype=torch.float64)
    assert apply("x * 10", torch.int32, x=x).tolist() == [1, 7]


def test_each_thread_computes_its_own_element(apply):
    x = torch.arange(100_000, dtype=torch.int32)
    assert apply("3 * x", torch.int32, x=x).equal(3 * x)


def test_threads_past_the_end_do_nothing(apply):
    x = torch.arange(300.0)
    assert apply("x + 1", room=500, x=x)[300:].tolist() == [-1] * 500
