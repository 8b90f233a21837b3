# Self-check of 05-extension/05-canonical-op: the learner's op, on the CPU, on a GPU, and its kernels alone.
import ctypes
import pathlib
import re
from ctypes import byref, c_int64, c_void_p

import pytest
import torch

from common.driver import Copy, cu, current, primary

SEES_A_GPU = torch.cuda.is_available()
DEVICES = ["cpu", "cuda"] if SEES_A_GPU else ["cpu"]
SPELLED = {torch.float16: "N3c104HalfE", torch.bfloat16: "N3c108BFloat16E", torch.float32: "f", torch.float64: "d"}
# Relative errors: half a unit in the last place for a single rounding to 16 bits; some units for the exponential function in the wide types.
ERRORS = {torch.float16: 2**-11, torch.bfloat16: 2**-8, torch.float32: 2**-20, torch.float64: 2**-48}


def exact(gate, up):
    gate, up = gate.double(), up.double()
    return gate / (1 + torch.exp(-gate)) * up


def assert_close(y, gate, up):
    expected = exact(gate, up)
    assert y.dtype == gate.dtype and y.device == gate.device and y.shape == gate.shape
    error = (y.double() - expected).abs() / (expected.abs() * ERRORS[y.dtype] * 1.01 + torch.finfo(y.dtype).tiny)
    assert error.max() <= 1, f"{int((error > 1).sum())} of {y.numel()} elements are wrong"


def numbers(*shape, dtype=torch.float32, device="cpu"):
    """Two tensors of numbers of both signs, neither near 0."""
    return [(torch.rand(shape, device=device, dtype=torch.float64) + 0.5).mul_(sign).to(dtype) for sign in (1, -1)]


def test_the_values_are_right(swiglu):
    for device in DEVICES:
        gate, up = numbers(5000, device=device)
        assert_close(swiglu(gate, up), gate, up)


def test_half_types_are_rounded_once(swiglu):
    for device in DEVICES:
        for dtype in (torch.float16, torch.bfloat16):
            gate, up = numbers(5000, dtype=dtype, device=device)
            assert_close(swiglu(gate, up), gate, up)


def test_float64_keeps_its_precision(swiglu):
    for device in DEVICES:
        gate, up = numbers(5000, dtype=torch.float64, device=device)
        assert_close(swiglu(gate, up), gate, up)


def test_tensors_with_any_strides_give_the_right_values(swiglu):
    for device in DEVICES:
        gate, up = numbers(20, 30, device=device)
        for view in (lambda t: t.t(), lambda t: t[:, ::3], lambda t: t[1:, 1:], lambda t: t[0, 0].expand(7, 5)):
            assert_close(swiglu(view(gate), view(up)), view(gate), view(up))


def test_a_tensor_without_elements_is_accepted(swiglu):
    assert swiglu(torch.empty(0, 3), torch.empty(0, 3)).shape == (0, 3)


def test_inputs_that_differ_in_shape_or_type_are_rejected(swiglu):
    with pytest.raises(RuntimeError, match="same shape"):
        swiglu(torch.ones(3), torch.ones(4))
    with pytest.raises(RuntimeError, match="not implemented for 'Int'"):
        swiglu(torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.int32))


def test_the_kernel_computes_every_element(answer):
    """The kernel alone, with the driver API. The elements past the end must keep their values."""
    image = open(answer, "rb").read()
    with current(primary(0)):
        module = c_void_p()
        cu.cuModuleLoadData(byref(module), image + b"\0")
        for dtype, spelled in SPELLED.items():
            (name,) = re.findall(rf"\.entry (\w*13swiglu_kernelI{spelled}EvPK\w+)", image.decode())
            function = c_void_p()
            cu.cuModuleGetFunction(byref(function), module, name.encode())
            for count in (1, 255, 256, 257, 5000):
                gate, up = numbers(count, dtype=dtype)
                result = torch.full((count + 16,), 77, dtype=dtype)
                with Copy(gate, back=False) as g, Copy(up, back=False) as u, Copy(result) as y:
                    values = [g.address, u.address, y.address, c_int64(count)]
                    arguments = (c_void_p * 4)(*[ctypes.addressof(value) for value in values])
                    cu.cuLaunchKernel(function, (count + 255) // 256, 1, 1, 256, 1, 1, 0, None, arguments, None)
                assert_close(result[:count], gate, up)
                assert (result[count:] == 77).all(), f"elements past the end of the tensor, which has {count}, are overwritten"


# The host code for CUDA tensors: everywhere under a stand-in for CUDA, which pretends that the tensors are on device 1 while device 0 is current,
# and on a GPU with real tensors.


@pytest.fixture(scope="session")
def recorded(swiglu, answer, host_code):
    return host_code(pathlib.Path(answer).with_name("answer.so"), "exercise.swiglu")["exercise.swiglu"]


def test_one_launch_has_threads_for_all_elements(recorded):
    run = recorded["5000 elements"]
    assert run["raised"] == "" and run["launches"] == 1
    assert run["grid"] * run["block"] >= 5000


def test_an_empty_tensor_on_a_gpu_leaves_no_error_behind(swiglu, recorded):
    run = recorded["no elements"]
    assert run["raised"] == "" and run["pending_error"] == 0
    if SEES_A_GPU:
        assert swiglu(torch.empty(0, 3, device="cuda"), torch.empty(0, 3, device="cuda")).shape == (0, 3)
        assert (torch.ones(3, device="cuda") + 1).tolist() == [2, 2, 2]


def test_a_failed_launch_raises_an_error(recorded):
    assert recorded["a failed launch"]["raised"] != "", "the launch failed, but the op raised no error"


def test_the_kernel_is_launched_on_the_current_stream_so_a_cuda_graph_captures_it(swiglu, recorded):
    assert recorded["5000 elements"]["stream"] == 1, "the kernel was launched on a stream other than PyTorch's current one on the tensors' device"
    if SEES_A_GPU:
        gate, up = numbers(1000, device="cuda")
        swiglu(gate, up)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = swiglu(gate, up)
        gate.fill_(2)
        graph.replay()
        assert_close(y, gate, up)


def test_tensors_may_be_on_a_device_that_is_not_current(swiglu, recorded):
    assert recorded["5000 elements"]["device"] == 1, "the kernel was launched on the current device, but the tensors are on another one"
    assert recorded["5000 elements"]["device_afterwards"] == 0, "the caller's device was not made current again"
    if torch.cuda.device_count() > 1:
        gate, up = numbers(1000, device="cuda:1")
        with torch.cuda.device(0):
            assert_close(swiglu(gate, up), gate, up)
            assert torch.cuda.current_device() == 0
