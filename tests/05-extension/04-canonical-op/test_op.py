# The lesson's own op: four types, all shapes, clear refusals; on tensors in host memory everywhere, on the GPU where PyTorch sees one.
import re

import pytest
import torch

from common.built import built

SEEN = torch.cuda.is_available()
on_the_gpu = pytest.mark.skipif(not SEEN, reason="PyTorch sees no GPU here")
# How far a result may be from the exact one: half a unit in the last place of the type, and what computing in it adds.
ERRORS = {torch.float16: 2**-11, torch.bfloat16: 2**-8, torch.float32: 2**-22, torch.float64: 2**-51}


def assert_right(function, x, b):
    y = function(x, b)
    exact = x.double().square() + b.double()
    assert y.dtype == x.dtype and y.device == x.device and y.shape == exact.shape
    assert ((y.double() - exact).abs() <= exact.abs() * ERRORS[x.dtype]).all()


def all_types(function, device):
    for dtype in ERRORS:
        for size in (1, 7, 8, 1000, 4099):
            x, b = torch.rand(2, size, device=device, dtype=torch.float64).to(dtype)
            assert_right(function, x, b)


def all_layouts(function, device):
    for dtype in ERRORS:
        x, b = torch.rand(2, 12, 20, device=device, dtype=torch.float64).to(dtype)
        assert_right(function, x.t(), b.t())
        assert_right(function, x[:, ::2], b[:, 1::2])
        assert_right(function, x, b[:, :1])  # broadcast: a stride of 0
        for begin in range(1, 8):  # in order, and not at a multiple of 16 bytes
            assert_right(function, x.flatten()[begin:], b.flatten()[begin:])


def gradients(function, device):
    x = torch.rand(3, 5, device=device, dtype=torch.float64, requires_grad=True)
    b = torch.rand(5, device=device, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (x, b))
    assert torch.autograd.gradcheck(lambda x, b: function(x.t(), b), (x.detach().clone().requires_grad_(), b[:3].detach().requires_grad_()))


def nothing_and_one(function, device):
    x = torch.zeros(0, 3, device=device, requires_grad=True)
    y = function(x, torch.ones(3, device=device))
    assert y.shape == (0, 3)
    y.sum().backward()
    assert (torch.ones(3, device=device) + 1).tolist() == [2, 2, 2]  # no error is left for the next to find
    assert function(torch.tensor(3.0, device=device), torch.tensor(1.0, device=device)).item() == 10


def test_four_types(square):
    all_types(square.op(), "cpu")


def test_strides_and_beginnings(square):
    all_layouts(square.op(), "cpu")


def test_both_gradients(square):
    gradients(square.op(), "cpu")


def test_no_element_and_one(square):
    nothing_and_one(square.op(), "cpu")


@on_the_gpu
def test_four_types_on_the_gpu(square):
    all_types(square.op(), "cuda")


@on_the_gpu
def test_strides_and_beginnings_on_the_gpu(square):
    all_layouts(square.op(), "cuda")


@on_the_gpu
def test_both_gradients_on_the_gpu(square):
    gradients(square.op(), "cuda")


@on_the_gpu
def test_no_element_and_one_on_the_gpu(square):
    nothing_and_one(square.op(), "cuda")


@on_the_gpu
def test_both_places_agree_bit_by_bit(square):
    x, b = torch.rand(2, 4099)
    assert square.op()(x.cuda(), b.cuda()).cpu().equal(square.op()(x, b))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="it takes two GPUs")
def test_the_current_device_may_be_another(square):
    x, b = torch.rand(2, 1000, device="cuda:1")
    assert_right(square.op(), x, b)
    assert torch.cuda.current_device() == 0


def test_what_it_cannot_do_is_refused_in_a_sentence(square):
    forward = torch.ops.square.forward
    with pytest.raises(RuntimeError, match="floating-point numbers, not for Int"):
        forward(torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.int32))
    with pytest.raises(RuntimeError, match=r"one shape, not \[3\] and \[4\]"):
        forward(torch.ones(3), torch.ones(4))
    with pytest.raises(RuntimeError, match="one type, not float and double"):
        forward(torch.ones(3), torch.ones(3, dtype=torch.float64))


def test_a_missing_image_is_told(square):
    torch.ops.square.use_image("/there/is/none.ptx")
    try:
        with pytest.raises(RuntimeError, match="file not found"):
            torch.ops.square.forward(torch.ones(3), torch.ones(3))
    finally:
        lesson_image = built(square.__file__, "kernels.ptx")
        torch.ops.square.use_image(lesson_image)


def test_a_runtime_of_another_cuda_that_is_not_here_is_named(square, monkeypatch, capsys):
    def load_library(path):
        raise OSError(f"Could not load this library: {path}") from OSError("libcudart.so.12: cannot open shared object file")

    monkeypatch.setattr(torch.ops, "load_library", load_library)
    with pytest.raises(SystemExit) as ended:
        square.load()
    assert ended.value.code == 77
    assert capsys.readouterr().out.startswith("skipped: the toolkit's runtime is libcudart.so.12, PyTorch is for CUDA ")


def test_shapes_are_known_without_running(square):
    x = torch.ones(3, 4, device="meta")
    assert torch.ops.square.forward(x.t(), x.t()).shape == (4, 3)
    torch.library.opcheck(torch.ops.square.forward.default, (torch.rand(3, 4), torch.rand(3, 4)), test_utils=("test_schema", "test_faketensor"))


def compiled_with_its_gradient(function, device):
    compiled = torch.compile(lambda x, b: 2 * function(x, b), backend="aot_eager", fullgraph=True)
    x, b = torch.rand(3, 5, device=device, requires_grad=True), torch.rand(5, device=device, requires_grad=True)
    before = torch.ops.square.launches()
    gradients = torch.autograd.grad(compiled(x, b).sum(), (x, b))
    assert torch.ops.square.launches() == before + 2
    for found, expected in zip(gradients, (4 * x, torch.full_like(b, 6)), strict=True):
        torch.testing.assert_close(found, expected)


def test_forward_and_backward_compile_into_one_graph(square):
    compiled_with_its_gradient(square.op(), "cpu")


@on_the_gpu
def test_forward_and_backward_compile_into_one_graph_on_the_gpu(square):
    compiled_with_its_gradient(square.op(), "cuda")


def test_sixteen_bytes_are_read_at_a_time(square):
    ptx = open(built(square.__file__, "kernels.ptx"), encoding="utf-8").read()
    for name in ("half", "bfloat16", "float", "double"):
        body = re.search(rf"\.entry forward_{name}\((.*?)\n}}", ptx, re.DOTALL).group(1)
        assert len(re.findall(r"ld\.global\.v[24]", body)) == 2 and len(re.findall(r"st\.global\.v[24]", body)) == 1
