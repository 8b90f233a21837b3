# The lesson's op and its launches: tensors that fit together are computed, and others are rejected before the launch.
import ctypes
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import kernels
import main
import nvrtc
from common.driver import cu

pytestmark = pytest.mark.skipif(not nvrtc.is_here(), reason="found no NVRTC that works with this driver")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def op(tmp_path):
    return main.op_of(kernels.Kernels(main.SOURCE, tmp_path))


def refused(kind, words, call, *given):
    with pytest.raises(kind) as caught:
        call(*given)
    assert words in str(caught.value) and str(caught.value).endswith("."), str(caught.value)


def test_any_shape_and_strides_work_if_all_tensors_have_the_same_type(op):
    x, b = torch.randn(5, 3, device=DEVICE).t(), torch.randn(3, 1, device=DEVICE)
    assert op(x, b).allclose(x * x + b)
    assert op(x[:, :0], b).shape == (3, 0)


def test_different_types_are_rejected(op):
    x = torch.arange(6.0, device=DEVICE)
    refused(TypeError, "not torch.float32, torch.float64", op, x, x.double())
    refused(TypeError, "not torch.float16", op, x.half(), x.half())


def test_different_devices_are_rejected(op):
    x = torch.arange(6.0, device=DEVICE)
    refused(ValueError, f"tensor 1 is on meta, but tensor 0 is on {x.device}", op, x, x.to("meta"))
    refused(ValueError, "tensor 0 is on meta, but the kernels run only on cpu and cuda", op, x.to("meta"), x)


def test_a_host_tensor_together_with_a_gpu_tensor_is_rejected(op):
    if DEVICE == "cpu":
        pytest.skip("PyTorch sees no GPU here")
    x = torch.arange(6.0, device=DEVICE)
    refused(ValueError, f"tensor 1 is on cpu, but tensor 0 is on {x.device}", op, x, torch.ones(6))
    refused(ValueError, f"tensor 1 is on {x.device}, but tensor 0 is on cpu", op, torch.ones(6), x)


def test_a_launch_rejects_tensors_of_different_sizes_or_with_gaps(tmp_path):
    made, x = kernels.Kernels(main.SOURCE, tmp_path), torch.zeros(6, device=DEVICE)
    for place, given in enumerate([(x[:5], x, x), (x, x[:5], x), (x, x, x[:5])]):
        other = 1 if place == 0 else place
        sentence = f"tensor {other} has {given[other].numel()} elements, but tensor 0 has {given[0].numel()}"
        refused(ValueError, sentence, made.launch, "forward", ("-DReal=float",), *given)
    gaps = torch.zeros(12, device=DEVICE)[::2]
    refused(ValueError, "tensor 2 is not contiguous", made.launch, "forward", ("-DReal=float",), x, x, gaps)


def test_a_launch_rejects_more_elements_than_a_32_bit_number_can_count(tmp_path):
    many = torch.empty(1 << 32, dtype=torch.int8, device="meta")
    refused(ValueError, "4294967296 elements are too many", kernels.Kernels("", tmp_path).launch, "forward", (), many)


def test_a_thread_without_a_current_context_can_launch(tmp_path):
    """Autograd's threads start without one, like every thread. In the main thread, PyTorch may have made the primary context current."""
    x, b, y = torch.arange(6.0, device=DEVICE), torch.ones(6, device=DEVICE), torch.zeros(6, device=DEVICE)

    def current_context():
        context = ctypes.c_void_p()
        cu.cuCtxGetCurrent(ctypes.byref(context))
        return context.value

    def work():
        before = current_context()
        kernels.Kernels(main.SOURCE, tmp_path).launch("forward", ("-DReal=float",), x, b, y)
        return before, current_context()

    with ThreadPoolExecutor(1) as fresh:
        assert fresh.submit(work).result() == (None, None)
    assert y.tolist() == [1, 2, 5, 10, 17, 26]


def test_a_kernel_of_another_context_can_use_the_memory_until_it_has_ended(tmp_path):
    own = ctypes.c_void_p()
    cu.cuCtxCreate_v2(ctypes.byref(own), 0, 0)
    cu.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    made = kernels.Kernels(main.SOURCE, tmp_path)
    assert [main.launched_in(own, made, ctypes.c_void_p()) for _ in range(5)] == ["launched"] * 5
    cu.cuCtxDestroy_v2(own)


def test_threads_that_compile_the_same_source_share_one_file(tmp_path, monkeypatch):
    """Both threads have compiled and written before either renames its file."""
    both, replace, failed = threading.Barrier(2, timeout=60), kernels.os.replace, []
    monkeypatch.setattr(kernels.os, "replace", lambda *names: (both.wait(), replace(*names)))
    options = ("-DReal=float", "--gpu-architecture=compute_75")

    def compile_it():
        try:
            assert b".entry forward" in kernels.Kernels(main.SOURCE, tmp_path).image(options)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=compile_it) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    assert [file.suffix for file in tmp_path.iterdir()] == [".ptx"]


def test_an_import_does_not_start_the_driver():
    """A process that has called cuInit cannot fork children that use the GPU."""
    program = "import common.driver; from ctypes import *; print(CDLL('libcuda.so.1').cuDeviceGetCount(byref(c_int())))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "3", ended.stderr  # CUDA_ERROR_NOT_INITIALIZED
