"""The lesson's own ops: correct for every shape and on every device, differentiable, and usable by torch.compile and CUDA graphs."""

import ctypes
import threading

import pytest
import torch

import speed
from common.driver import cu

ops = torch.ops.speed
ON_GPU = torch.cuda.is_available()
DEVICES = ["cpu"] + (["cuda"] if ON_GPU else [])
BOTH = [speed.square_plus, speed.square_plus_cpp]
SHAPES = [(1, 1), (3, 5), (64, 32), (300, 12), (2, 3, 260), (1000, 64), (7,), (0, 4)]


def inputs(shape, device="cpu"):
    make = {"device": device, "dtype": torch.float32}
    return torch.randn(shape, requires_grad=True, **make), torch.randn(shape[-1], requires_grad=True, **make), torch.randn(shape, **make)


def expect_gradients(x, b, g, op=speed.square_plus):
    y = op(x, b)
    torch.testing.assert_close(y, x * x + b)
    for dx, db in (torch.autograd.grad(y, (x, b), g), ops.square_plus_backward(g, x.detach())):
        torch.testing.assert_close(dx, 2 * x * g)
        wanted = g.reshape(-1, b.numel()).sum(0)
        # The rounding error of a sum of thousands of floats depends on the order of the additions.
        torch.testing.assert_close(db, wanted, rtol=1e-4, atol=1e-4 + 1e-5 * wanted.abs().max().item())


@pytest.mark.parametrize("op", BOTH)
@pytest.mark.parametrize("device", DEVICES)
def test_the_op_agrees_with_pytorch(op, device):
    for shape in SHAPES + ([(70000, 1024), (5, 100003)] if device == "cuda" else []):
        expect_gradients(*inputs(shape, device), op)


@pytest.mark.skipif(not ON_GPU, reason="PyTorch sees no GPU here")
def test_a_cuda_graph_captures_the_op_forward_and_backward():
    """Capture records only what is in the capturing stream. A launch in another stream would be missing from the replay."""
    x, b, g = inputs((256, 64), "cuda")

    def step():
        y = speed.square_plus(x, b)
        return y, *torch.autograd.grad(y, (x, b), g)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = step()
    with torch.no_grad():
        x.fill_(3), b.fill_(1)
    graph.replay()
    for got, wanted in zip(found, (x * x + b, 2 * x * g, g.sum(0)), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


def test_the_kernels_agree_with_pytorch_through_the_driver():
    for shape in [(1, 1), (3, 5), (64, 32), (300, 12), (1000, 64), (3, 2100)]:
        x, b, g = (tensor.detach() for tensor in inputs(shape))
        torch.testing.assert_close(ops.square_plus_by_driver(x, b), x * x + b)
        dx, db = ops.square_plus_backward_by_driver(g, x)
        torch.testing.assert_close(dx, 2 * x * g)
        torch.testing.assert_close(db, g.sum(0), rtol=1e-4, atol=1e-4)


def current_context():
    """The address of the calling thread's current context, or None."""
    context = ctypes.c_void_p()
    cu.cuCtxGetCurrent(ctypes.byref(context))
    return context.value


def test_the_callers_context_is_restored():
    """A fresh thread has no current context, neither before the call nor after it."""
    x, b, _ = (tensor.detach() for tensor in inputs((4, 3)))
    contexts = []

    def work():
        contexts.append(current_context())
        torch.testing.assert_close(ops.square_plus_by_driver(x, b), x * x + b)
        contexts.append(current_context())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert contexts == [None, None]


@pytest.mark.parametrize("device", DEVICES)
def test_the_product_agrees_with_pytorch(device):
    for m, n, k in [(1, 1, 1), (130, 150, 33), (5, 128, 16)] + ([(256, 512, 1024)] if device == "cuda" else []):
        a, b = (torch.randn(*shape, device=device, requires_grad=True) for shape in ((m, k), (k, n)))
        torch.testing.assert_close(speed.multiply(a, b), a @ b, rtol=1e-4, atol=1e-3)
        found, wanted = (torch.autograd.grad(op(a, b).sin().sum(), (a, b)) for op in (speed.multiply, torch.matmul))
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-2)
        by_driver = ops.multiply_by_driver(a.detach().cpu(), b.detach().cpu())
        torch.testing.assert_close(by_driver, (a @ b).detach().cpu(), rtol=1e-4, atol=1e-3)


def test_tensors_that_are_not_contiguous_are_accepted():
    x, b, g = torch.randn(12, 40).t(), torch.randn(24)[::2], torch.randn(12, 40).t()
    expect_gradients(x.requires_grad_(), b.requires_grad_(), g)


@pytest.mark.parametrize("op", BOTH)
def test_the_gradient_can_be_differentiated(op):
    x, b, g = inputs((4, 3))
    g.requires_grad_()
    dx, db = torch.autograd.grad(op(x, b), (x, b), g, create_graph=True)
    by_x, by_g = torch.autograd.grad(dx.sum() + (db * db).sum(), (x, g))
    torch.testing.assert_close(by_x, 2 * g)
    torch.testing.assert_close(by_g, 2 * x + 2 * g.sum(0))


@pytest.mark.parametrize("device", DEVICES)
def test_opcheck_finds_no_fault(device):
    for op in BOTH:
        torch.library.opcheck(op, inputs((6, 4), device)[:2])
    torch.library.opcheck(speed.square_plus_backward, inputs((6, 4), device)[::2])
    torch.library.opcheck(speed.multiply, (inputs((6, 4), device)[0], inputs((4, 5), device)[0]))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("device", DEVICES)
def test_a_compiled_network_computes_the_same(device, backend):
    x, b, g = inputs((6, 4), device)
    for op in BOTH:

        def network(x, b, op=op):
            return op(op(x, b).sin(), b)

        y = torch.compile(network, fullgraph=True, backend=backend)(x, b)
        found, wanted = (torch.autograd.grad(result, (x, b), g) for result in (y, (x * x + b).sin() ** 2 + b))
        torch.testing.assert_close(found, wanted)


def test_an_op_without_a_gradient_says_so():
    x, b, _ = inputs((3, 4))
    y = ops.square_plus_by_driver(x, b)
    with pytest.raises(RuntimeError, match="derivative for speed::square_plus_by_driver is not implemented"):
        y.sum().backward()


@pytest.mark.parametrize(
    "x, b, words",
    [
        (torch.ones(2, 3, dtype=torch.float64), torch.ones(3), "takes float32"),
        (torch.ones(2, 3), torch.ones(2), "one b for each column"),
        (torch.ones(()), torch.ones(1), "one b for each column"),
    ],
)
def test_invalid_input_is_rejected_with_a_clear_message(x, b, words):
    for device in "cpu", "meta":  # on meta by the fake implementation, as while a model is compiled
        with pytest.raises(RuntimeError, match=words):
            speed.square_plus(x.to(device), b.to(device))


def test_the_other_fake_implementations_reject_the_same_input():
    matrix = torch.empty(2, 3, device="meta")
    for op, given in [
        (ops.square_plus_backward, (matrix, matrix.double())),
        (ops.square_plus_backward, (matrix, matrix.t())),
        (ops.multiply, (matrix, matrix)),
        (ops.multiply, (matrix, matrix.t().double())),
        (ops.multiply, (matrix, matrix[0])),
    ]:
        with pytest.raises(RuntimeError, match="^(square_plus_backward|multiply) "):
            op(*given)
