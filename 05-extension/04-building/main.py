# y = x² + b as a loop in Python, in C++ and as a CUDA kernel: what each costs, what PyTorch knows of it, and which toolkit may build it.
import ctypes
import functools
import logging
import pathlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from ctypes import byref, c_float, c_int64, c_void_p

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from common.built import built
from common.driver import Copy, cu, current, primary

sys.path.insert(0, built(__file__, "module"))
try:
    import bound  # built by setup.py
except ModuleNotFoundError:
    print("skipped: the Python module could not be built without Python.h. Type: sudo apt-get install python3-dev")
    sys.exit(77)

Way = Callable[[Tensor, float], Tensor]
COUNT, FEW, THREADS = 262144, 8192, 256  # elements, elements for the slowest loop, threads per block

# ---- the same loop, four times ----


def over_elements(x: Tensor, b: float) -> Tensor:
    y = torch.empty_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i] + b
    return y


def over_numbers(x: Tensor, b: float) -> Tensor:
    return torch.tensor([number * number + b for number in x.tolist()])


def operations(x: Tensor, b: float) -> Tensor:
    return x * x + b


@functools.cache
def kernel() -> c_void_p:
    module, function = c_void_p(), c_void_p()
    cu.cuModuleLoadData(byref(module), pathlib.Path(built(__file__, "kernels.ptx")).read_bytes() + b"\0")
    cu.cuModuleGetFunction(byref(function), module, b"square_plus")
    return function


def launch(x: int, y: int, b: float, count: int, stream: int = 0) -> None:
    with current(primary(0)):
        values = [c_void_p(x), c_void_p(y), c_float(b), c_int64(count)]
        arguments = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        cu.cuLaunchKernel(kernel(), -(-count // THREADS), 1, 1, THREADS, 1, 1, 0, c_void_p(stream), arguments, None)


def on_a_gpu(x: Tensor, b: float) -> Tensor:
    """For a tensor that is in the GPU's memory. Lesson 05-07 explains how PyTorch and the driver API work together."""
    y = torch.empty_like(x)
    launch(x.data_ptr(), y.data_ptr(), b, x.numel(), torch.cuda.current_stream().cuda_stream)
    return y


def on_a_copy(x: Tensor, b: float) -> Tensor:
    """For a tensor in host memory. The simulated GPU computes with such copies, too."""
    y = torch.empty_like(x)
    with current(primary(0)), Copy(x, back=False) as from_, Copy(y) as to:
        launch(from_.data_ptr(), to.data_ptr(), b, x.numel())
    return y


# ---- how long they take ----


def nanoseconds(f: Way, x: Tensor) -> float:
    """The shortest call of at least three, for one element."""
    wait = torch.cuda.synchronize if x.is_cuda else lambda: None
    times: list[int] = []
    while len(times) < 3 or sum(times) < 5e7:
        wait()
        start = time.perf_counter_ns()
        f(x, 1)
        wait()
        times.append(time.perf_counter_ns() - start)
    return min(times) / len(x)


class Counter(TorchDispatchMode):
    """Counts the PyTorch operations that are called inside a `with`."""

    count = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.count += 1
        return op(*args, **(kwargs or {}))


def operations_of(f: Way, elements: int = 1000) -> int:
    x = torch.ones(elements)
    with Counter() as counter:
        f(x, 1)
    return counter.count


def compare() -> bool:
    torch.set_num_threads(1)  # one core for PyTorch's operations, as for the loops
    x = torch.arange(float(COUNT)) / COUNT
    ways = {"Python, elements": over_elements, "Python, numbers": over_numbers, "PyTorch, x * x + b": operations, "C++ loop": bound.square_plus}
    right = True
    print(f"{'':18} | {'ns per element':14} | {'slower than C++':15} | PyTorch operations for 1000 elements")
    times = {name: nanoseconds(f, x[:FEW] if f is over_elements else x) for name, f in ways.items()}
    for name, f in ways.items():
        right &= torch.allclose(f(x[:FEW], 1), x[:FEW] * x[:FEW] + 1)
        print(f"{name:18} | {times[name]:14.1f} | {times[name] / times['C++ loop']:15.1f} | {operations_of(f)}")
    with_a_gpu = torch.cuda.is_available()
    y = on_a_gpu(x.cuda(), 1).cpu() if with_a_gpu else on_a_copy(x, 1)
    right &= torch.allclose(y, x * x + 1)
    timed = f"{nanoseconds(on_a_gpu, x.cuda()):14.1f}" if with_a_gpu else f"{'not timed':>14}"
    print(f"{'CUDA kernel':18} | {timed} | {'':15} | {'the values are right' if torch.allclose(y, x * x + 1) else 'WRONG'}")
    return right


# ---- what PyTorch knows about the bound function ----


@torch.library.custom_op("building::square_plus", mutates_args=())
def as_an_op(x: Tensor, b: float) -> Tensor:
    return bound.square_plus(x, b)


as_an_op.register_fake(lambda x, b: torch.empty_like(x))


def outcome(call: Callable[[], str]) -> str:
    """The result, or the first line of the error."""
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def compiled(f: Way) -> str:
    torch.compile(lambda x: 2 * f(x, 1.0), backend="aot_eager", fullgraph=True)(torch.ones(3))
    return "one graph"


def what_pytorch_knows() -> None:
    warnings.filterwarnings("ignore", "Dynamo does not know how to trace")  # a page of advice; the table reports the failure
    y = bound.square_plus(torch.ones(3, requires_grad=True), 1)
    print(f"\nthe bound function's result | {'has' if y.requires_grad else 'has no'} gradient")
    print(f"on the device meta          | {outcome(lambda: str(bound.square_plus(torch.ones(3, device='meta'), 1)))}")
    print(f"in float64                  | {outcome(lambda: str(bound.square_plus(torch.ones(3).double(), 1)))}")
    print(f"compiled                    | {outcome(lambda: compiled(bound.square_plus))}")
    print(f"compiled, as a custom_op    | {outcome(lambda: compiled(as_an_op))}")


# ---- which toolkit may build a .cu file for this PyTorch ----


class Warnings(logging.Handler):
    """Keeps what PyTorch logs while it checks a toolkit."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def checked(version: str | None) -> str:
    """Runs the check with which PyTorch's BuildExtension begins, for a toolkit that reports this version."""
    log, handler = logging.getLogger("torch.utils.cpp_extension"), Warnings()
    log.addHandler(handler)
    log.propagate = False
    from torch.utils import cpp_extension  # starts CUDA and may log, so it is imported last

    with tempfile.TemporaryDirectory() as home:
        nvcc = pathlib.Path(home, "bin", "nvcc")
        nvcc.parent.mkdir()
        nvcc.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {version}, V{version}.0'\n")
        nvcc.chmod(0o755)
        cpp_extension.CUDA_HOME = home if version else None
        try:
            cpp_extension._check_cuda_version("g++", torch.torch_version.TorchVersion("12.2"))
        except RuntimeError as error:
            return f"stops: {error}"
        finally:
            log.removeHandler(handler)
    mismatches = [message for message in handler.messages if "mismatch" in message]
    return f"builds, and warns: {mismatches[0]}" if mismatches else "builds"


def which_toolkit() -> None:
    if torch.version.cuda is None:
        print("\ntoolkits: skipped, because this PyTorch is built without CUDA")
        return
    major, minor = map(int, torch.version.cuda.split("."))
    print(f"\nnvcc | what PyTorch {torch.__version__.split('+')[0]}, built for CUDA {torch.version.cuda}, does before it compiles a .cu file")
    for version in (f"{major}.{minor}", f"{major}.{minor + 1}", f"{major - 1}.{minor}", None):
        print(f"{version or 'none':4} | {checked(version)}")


def main() -> int:
    right = compare()
    what_pytorch_knows()
    which_toolkit()
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
