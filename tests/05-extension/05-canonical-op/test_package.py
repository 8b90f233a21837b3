# The lesson's package: four dtypes, all strides, clear refusals, and everything that PyTorch does with an op. On the CPU everywhere, on a GPU
# where PyTorch sees one. Without a GPU, the kernels run alone on the simulated GPU, and their host code under a stand-in for CUDA.
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from common.built import built

SEES_A_GPU = torch.cuda.is_available()
DEVICES = ["cpu", "cuda"] if SEES_A_GPU else ["cpu"]
# How far a result may be from the exact one: half a unit in the last place of the type, and the errors of computing in it.
ERRORS = {torch.float16: 2**-11, torch.bfloat16: 2**-8, torch.float32: 2**-22, torch.float64: 2**-51}


class Calls(TorchDispatchMode):
    """Lists the ops that PyTorch calls, by their names."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.names.append(op.name())
        return op(*args, **kwargs or {})


def assert_right(y, x, b):
    exact = x.double().square() + b.double()
    assert y.dtype == x.dtype and y.device == x.device and y.shape == exact.shape
    assert ((y.double() - exact).abs() <= exact.abs() * ERRORS[x.dtype]).all()


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def test_all_four_dtypes_work_in_many_sizes(square_plus, device):
    for dtype in ERRORS:
        for size in (1, 7, 8, 1000, 4099):
            x, b = torch.rand(2, size, device=device, dtype=torch.float64).to(dtype)
            assert_right(square_plus.square_plus(x, b), x, b)


def test_any_strides_and_any_start_address_work(square_plus, device):
    for dtype in ERRORS:
        x, b = torch.rand(2, 12, 20, device=device, dtype=torch.float64).to(dtype)
        views = [(x.t(), b.t()), (x[:, ::2], b[:, 1::2]), (x, b[:, :1])]
        views += [(x.flatten()[begin:], b.flatten()[begin:]) for begin in range(1, 8)]  # contiguous, but not at a multiple of 16 bytes
        for one, other in views:
            assert_right(square_plus.square_plus(one, other), one, other)


def test_the_kernels_alone_compute_both_formulas_in_all_sizes(kernels):
    for dtype in ERRORS:
        for size in (1, 7, 8, 1000, 4099):
            x, b = (torch.rand(2, size, dtype=torch.float64) + 0.5).to(dtype)
            assert_right(kernels.launch("Forward", x, b), x, b)
            dx = kernels.launch("Backward", x, b)
            exact = 2 * x.double() * b.double()
            assert ((dx.double() - exact).abs() <= exact.abs() * ERRORS[dtype]).all()


def test_the_kernels_move_sixteen_bytes_at_a_time(kernels):
    ptx = pathlib.Path(built(kernels.__file__, "cuda.ptx")).read_text(encoding="utf-8")
    bodies = re.findall(r"\.entry \w*elementwise\w+\((.*?)\n}", ptx, re.DOTALL)
    assert len(bodies) == 8
    for body in bodies:
        assert len(re.findall(r"ld\.global(?:\.nc)?\.v[24]", body)) == 2 and len(re.findall(r"st\.global\.v[24]", body)) == 1


def test_first_and_second_gradients(square_plus, device):
    x = torch.rand(3, 5, device=device, dtype=torch.float64, requires_grad=True)
    b = torch.rand(5, device=device, dtype=torch.float64, requires_grad=True)
    for inputs in ((x, b), (x.detach().t().requires_grad_(), b.detach()[:3].requires_grad_())):
        assert torch.autograd.gradcheck(square_plus.square_plus, inputs)
        assert torch.autograd.gradgradcheck(square_plus.square_plus, inputs)


def test_a_gradient_that_is_not_needed_is_not_computed(square_plus, device):
    for of_x, of_b in (True, False), (False, True), (True, True):
        x = torch.rand(3, device=device, requires_grad=of_x)
        b = torch.rand(3, device=device, requires_grad=of_b)
        y = square_plus.square_plus(x, b)
        with Calls() as calls:
            y.sum().backward()
        assert (x.grad is not None, b.grad is not None) == (of_x, of_b)
        assert calls.names.count("square_plus::backward") == of_x


def test_tensors_with_no_elements_and_with_one_element_work(square_plus, device):
    x = torch.zeros(0, 3, device=device, requires_grad=True)
    y = square_plus.square_plus(x, torch.ones(3, device=device))
    assert y.shape == (0, 3)
    y.sum().backward()
    assert (torch.ones(3, device=device) + 1).tolist() == [2, 2, 2]  # no error is left for the next operation
    assert square_plus.square_plus(torch.tensor(3.0, device=device), torch.tensor(1.0, device=device)).item() == 10


def test_opcheck_finds_nothing(square_plus, device):
    for dtype in ERRORS:
        x, b = torch.rand(2, 3, 4, device=device, dtype=dtype, requires_grad=True)
        for op in (torch.ops.square_plus.forward.default, torch.ops.square_plus.backward.default):
            for inputs in ((x, b), (x.t(), b.t()), (x[:0], b[:0])):
                assert set(torch.library.opcheck(op, inputs).values()) == {"SUCCESS"}


def test_autocast_computes_in_float32_and_gradients_keep_their_dtype(square_plus, device):
    x = torch.full((3,), 300.0, device=device, dtype=torch.float16, requires_grad=True)
    b = torch.ones(3, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        y = square_plus.square_plus(x, b)
    assert y.dtype == torch.float32 and y.tolist() == [90001] * 3
    y.sum().backward()
    assert x.grad.dtype == torch.float16 and x.grad.tolist() == [600] * 3


def test_autocast_does_not_convert_float64(square_plus, device):
    x, b = torch.ones(3, device=device, dtype=torch.float64), torch.ones(3, device=device, dtype=torch.float16)
    with torch.autocast(device, dtype=torch.bfloat16):
        assert square_plus.square_plus(x, x).dtype == torch.float64
        with pytest.raises(RuntimeError, match="both must have the same dtype"):
            square_plus.square_plus(x, b)


def test_forward_and_backward_compile_into_one_graph_each(square_plus, device):
    compiled = torch.compile(lambda x, b: 2 * square_plus.square_plus(x, b), fullgraph=True)
    for size in (5, 6, 7):  # from the second size on, with a dynamic shape
        x, b = torch.rand(3, size, device=device, requires_grad=True), torch.rand(size, device=device, requires_grad=True)
        gradients = torch.autograd.grad(compiled(x, b).sum(), (x, b))
        for found, expected in zip(gradients, (4 * x, torch.full_like(b, 6)), strict=True):
            torch.testing.assert_close(found, expected)


def test_vmap_calls_the_ops_once_for_a_whole_batch(square_plus, device):
    torch._C._functorch._set_vmap_fallback_enabled(False)  # without a rule, vmap now raises an error instead of calling the op in a loop
    vmap, op = torch.vmap, square_plus.square_plus
    x, b = torch.rand(4, 5, 3, device=device), torch.rand(5, 3, device=device)
    for y in (vmap(op, (0, None))(x, b), vmap(op, (2, 1), 2)(x, b), vmap(vmap(op), (0, None))(x, b)):
        torch.testing.assert_close(y, x * x + b)
    torch.testing.assert_close(vmap(op, (None, 0))(b, x), b * b + x)


def test_gradients_for_each_element_of_a_batch(square_plus, device):
    torch._C._functorch._set_vmap_fallback_enabled(False)
    x, b = torch.rand(4, 5, 3, device=device, requires_grad=True), torch.rand(3, device=device, requires_grad=True)
    bs = b.detach().expand(len(x), *b.shape).requires_grad_()
    (per_element,) = torch.autograd.grad(torch.vmap(square_plus.square_plus)(x, bs).sum(), bs)
    assert per_element.tolist() == [[5.0] * 3] * 4

    y, g = square_plus.square_plus(x, b), torch.rand(6, 4, 5, 3, device=device)
    dx, db = torch.vmap(lambda g: torch.autograd.grad(y, (x, b), g, retain_graph=True))(g)
    torch.testing.assert_close(dx, 2 * x * g)
    torch.testing.assert_close(db, g.sum((1, 2)))


def test_invalid_input_is_rejected_with_a_clear_message(square_plus):
    forward = torch.ops.square_plus.forward
    with pytest.raises(RuntimeError, match="\"square_plus\" not implemented for 'Int'"):
        forward(torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="the two tensors must have the same shape"):
        forward(torch.ones(3), torch.ones(4))
    with pytest.raises(RuntimeError, match="one tensor is Float, the other Double; both must have the same dtype"):
        forward(torch.ones(3), torch.ones(3, dtype=torch.float64))


def test_the_fake_implementation_rejects_what_the_op_rejects(square_plus):
    for op in torch.ops.square_plus.forward, torch.ops.square_plus.backward:
        x = torch.ones(3, device="meta")
        for other in (torch.ones(4, device="meta"), torch.ones(3, device="meta", dtype=torch.float64)):
            with pytest.raises(RuntimeError, match="the two tensors must have the same shape, dtype and device"):
                op(x, other)
        assert op(x, x).shape == x.shape


def test_the_library_uses_only_the_stable_interface(kernels):
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("there is no nm here")
    library = built(kernels.__file__, "installed/square_plus/_C.abi3.so")
    said = subprocess.run([nm, "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1].split("@")[0] for line in said.splitlines()]
    assert "torch_library_impl" in names
    assert not [name for name in names if re.match(r"_Z.*(c10|2at|5torch)|_?Py|cu[A-Z]", name)]


def test_importing_it_does_not_start_cuda(square_plus):
    """torch.cuda.is_initialized() would not do, because it returns False even after torch.cuda.is_available() has called cuInit."""
    program = "import ctypes, square_plus; print(ctypes.CDLL('libcuda.so.1').cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p())))"
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(square_plus.__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert ended.stdout.strip() == "3", f"cuCtxGetCurrent did not return CUDA_ERROR_NOT_INITIALIZED: {ended.stdout}{ended.stderr}"


@pytest.fixture
def recorded(square_plus, host_code):
    """What was recorded of the calls of the forward op and of the backward op."""
    if not torch._C._dispatch_has_kernel_for_dispatch_key("square_plus::forward", "CUDA"):
        pytest.skip("this package is built without CUDA")
    return host_code(pathlib.Path(square_plus.__file__).with_name("_C.abi3.so"), "square_plus.forward", "square_plus.backward").values()


def test_a_failed_launch_raises_an_error(recorded):
    """Everywhere under a stand-in for CUDA."""
    for calls in recorded:
        run = calls["a failed launch"]
        assert "CUDA error 209" in run["raised"] and run["launches"] == 1 and run["pending_error"] == run["device_afterwards"] == 0


def test_the_host_code_uses_the_tensors_device_and_pytorchs_stream(square_plus, recorded):
    """Everywhere under a stand-in for CUDA, on a GPU with a CUDA graph, and with two GPUs with tensors on the second one."""
    for calls in recorded:
        expected = {"launches": 1, "grid": 5, "block": 256, "stream": 1, "device": 1, "device_afterwards": 0, "pending_error": 0, "raised": ""}
        assert calls["5000 elements"] == expected
        run = calls["no elements"]
        assert run["launches"] == run["pending_error"] == 0 and run["raised"] == ""
    if SEES_A_GPU:
        records_forward_and_backward(square_plus)
    if torch.cuda.device_count() > 1:
        serves_the_second_device(square_plus)


def records_forward_and_backward(square_plus):
    x = torch.zeros(1000, device="cuda", requires_grad=True)
    b, g = torch.ones(1000, device="cuda"), torch.ones(1000, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # autograd's first run, outside the capture
        torch.autograd.grad(square_plus.square_plus(x, b), x, g)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = square_plus.square_plus(x, b)
        (dx,) = torch.autograd.grad(y, x, g)
    with torch.no_grad():
        x.fill_(3)
    graph.replay()
    assert y.tolist() == [10] * 1000 and dx.tolist() == [6] * 1000


def serves_the_second_device(square_plus):
    for stream in (torch.cuda.default_stream(1), torch.cuda.Stream(1)):
        x, b = torch.rand(2, 1000, device="cuda:1")
        torch.cuda.synchronize(1)
        with torch.cuda.stream(stream), torch.cuda.device(0):
            y = square_plus.square_plus(x, b)
            assert torch.cuda.current_device() == 0
        torch.cuda.synchronize(1)
        assert_right(y, x, b)
