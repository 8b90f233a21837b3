"""The lesson's own ops: right wherever they run, whatever the shape, and what they cannot take is refused."""

import pytest
import torch

from common.built import built

torch.ops.load_library(built(__file__, "op.so"))
torch.ops.speed.use_kernels(built(__file__, "kernels.ptx"))
speed = torch.ops.speed
ON_GPU = torch.cuda.is_available()
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not ON_GPU, reason="PyTorch sees no GPU here"))]
SHAPES = [(1, 1), (3, 5), (64, 32), (300, 12), (2, 3, 260), (1000, 64), (7,), (0, 4)]


def inputs(shape, device="cpu"):
    make = dict(device=device, dtype=torch.float32)
    return torch.randn(shape, requires_grad=True, **make), torch.randn(shape[-1], requires_grad=True, **make), torch.randn(shape, **make)


def expect_gradients(x, b, g):
    y = speed.square_plus(x, b)
    torch.testing.assert_close(y, x * x + b)
    for dx, db in (torch.autograd.grad(y, (x, b), g), speed.square_plus_backward(g, x.detach())):
        torch.testing.assert_close(dx, 2 * x * g)
        wanted = g.reshape(-1, b.numel()).sum(0)
        # Thousands of floats, in another order, differ by what the largest sum has in its last digits.
        torch.testing.assert_close(db, wanted, rtol=1e-4, atol=1e-4 + 1e-5 * wanted.abs().max().item())


def test_the_op_agrees_with_pytorch_on_the_cpu():
    for shape in SHAPES:
        expect_gradients(*inputs(shape))


@pytest.mark.skipif(not ON_GPU, reason="PyTorch sees no GPU here")
def test_the_op_agrees_with_pytorch_on_the_gpu():
    for shape in SHAPES + [(70000, 1024), (5, 100003)]:
        expect_gradients(*inputs(shape, "cuda"))


@pytest.mark.skipif(not ON_GPU, reason="PyTorch sees no GPU here")
def test_the_op_works_in_the_current_stream():
    x, b, g = inputs((4096, 1024), "cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(20_000_000)
        with torch.no_grad():
            x.fill_(3)
        expect_gradients(x, b, g)
    torch.cuda.synchronize()


@pytest.mark.skipif(not ON_GPU, reason="PyTorch sees no GPU here")
def test_the_product_agrees_with_pytorch_on_the_gpu():
    for m, n, k in [(1, 1, 1), (130, 150, 33), (256, 512, 1024)]:
        a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
        torch.testing.assert_close(speed.multiply(a, b), a @ b, rtol=1e-4, atol=1e-3)


def test_the_kernels_agree_with_pytorch_through_the_driver():
    for shape in [(1, 1), (3, 5), (64, 32), (300, 12), (1000, 64), (3, 2100)]:
        x, b, g = (tensor.detach() for tensor in inputs(shape))
        torch.testing.assert_close(speed.square_plus_by_driver(x, b), x * x + b)
        dx, db = speed.square_plus_backward_by_driver(g, x)
        torch.testing.assert_close(dx, 2 * x * g)
        torch.testing.assert_close(db, g.sum(0), rtol=1e-4, atol=1e-4)


def test_the_product_agrees_with_pytorch():
    for m, n, k in [(1, 1, 1), (130, 150, 33), (5, 128, 16)]:
        a, b = torch.randn(m, k), torch.randn(k, n)
        torch.testing.assert_close(speed.multiply(a, b), a @ b, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(speed.multiply_by_driver(a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_rows_that_are_not_side_by_side_are_taken():
    x, b, g = torch.randn(12, 40).t(), torch.randn(24)[::2], torch.randn(12, 40).t()
    expect_gradients(x.requires_grad_(), b.requires_grad_(), g)


def test_the_gradient_can_be_differentiated():
    x, b, g = inputs((4, 3))
    g.requires_grad_()
    (dx,) = torch.autograd.grad(speed.square_plus(x, b), x, g, create_graph=True)
    again, by_g = torch.autograd.grad(dx.sum(), (x, g))
    torch.testing.assert_close(again, 2 * g)
    torch.testing.assert_close(by_g, 2 * x)


@pytest.mark.parametrize(
    "x, b, words",
    [
        (torch.ones(2, 3, dtype=torch.float64), torch.ones(3), "float32"),
        (torch.ones(2, 3), torch.ones(2), "one b a column"),
        (torch.ones(()), torch.ones(1), "one b a column"),
    ],
)
def test_what_it_cannot_take_is_refused_in_a_sentence(x, b, words):
    with pytest.raises(RuntimeError, match=words):
        speed.square_plus(x, b)
