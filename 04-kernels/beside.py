"""Runs the chapter's attention kernels on PyTorch's tensors, and measures them beside PyTorch's. Imported by the lessons' scripts."""

import ctypes
import math
import pathlib
import statistics
import subprocess
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

TOKENS, WIDTH = 16384, 2048  # rows in all batches together, elements of a row in all heads together
ROUNDS, MILLISECONDS = 5, 60.0
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8  # CU_FUNC_ATTRIBUTE_…
CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_…


class Attention(ctypes.Structure):
    """The kernel's argument, as in 04-kernels/attention.hpp."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("q", "k", "v", "o", "lse")),
        *((name, ctypes.c_int) for name in ("queries", "keys", "group")),
        ("scale", ctypes.c_float),
        ("causal", ctypes.c_bool),
    ]


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute."""

    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [*((name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")), ("stream", ctypes.c_void_p)]
    _fields_ += [("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class Driver:
    """The calls of the driver API that this script needs, in PyTorch's context."""

    def __init__(self, image):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.module = ctypes.c_void_p()
        self.check(self.library.cuModuleLoad(ctypes.byref(self.module), str(image).encode()))

    @staticmethod
    def check(result):
        if result != 0:
            raise SystemExit(f"a call of the driver API returned error {result}")

    def function(self, name, shared_bytes):
        found = ctypes.c_void_p()
        self.check(self.library.cuModuleGetFunction(ctypes.byref(found), self.module, name.encode()))
        self.check(self.library.cuFuncSetAttribute(found, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes))
        return found

    def launch(self, function, grid, threads, shared_bytes, arguments):
        """Launches in PyTorch's stream. The arguments are objects of ctypes."""
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))  # `arguments` must outlive the call
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.library.cuLaunchKernel(function, *grid, threads, 1, 1, shared_bytes, stream, addresses, None))

    def launch_clusters(self, function, blocks, threads, shared_bytes, cluster, arguments):
        """The same for clusters of so many blocks in x."""
        attribute = LaunchAttribute(CLUSTER_DIMENSION)
        attribute.value[0], attribute.value[1], attribute.value[2] = cluster, 1, 1
        stream = torch.cuda.current_stream().cuda_stream
        config = LaunchConfig(blocks, 1, 1, threads, 1, 1, shared_bytes, stream, ctypes.pointer(attribute), int(cluster > 1))
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self.check(self.library.cuLaunchKernelEx(ctypes.byref(config), function, addresses, None))


def milliseconds(work, budget):
    """The time of one execution of `work`: the median while the device is kept busy for `budget` milliseconds."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def timed(launches):
        start.record()
        for _ in range(launches):
            work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / launches

    launches = max(1, int(2 / timed(1)))
    times, spent = [], 0.0
    while spent < budget:
        times.append(timed(launches))
        spent += times[-1] * launches
    return statistics.median(times[len(times) // 2 :])


def error(o, exact):
    """The root mean square of the errors, relative to that of the right values."""
    return ((o.double() - exact).norm() / exact.norm()).item()


def alternate(kernels):
    """The median time of each kernel. They alternate, because the clock rate of a GPU depends on what has run before."""
    times = [[milliseconds(work, MILLISECONDS) for work in kernels] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*times)]


def matrices(n, d, count, requires_grad=False):
    """Random normals, a tensor [batch, heads, n, d] for each of the `count` matrices."""
    shape = (TOKENS // n, WIDTH // d, n, d)
    return [torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=requires_grad) for _ in range(count)]


def attention(q, k, v, o, lse, causal):
    """The argument for tensors [batch, heads, n, d]."""
    n, d = q.shape[-2:]
    return Attention(*(x.data_ptr() for x in (q, k, v, o, lse)), n, n, 1, 1 / math.sqrt(d), causal)


def run(usage, columns, compare):
    """Prints a table, and writes it to a file if one is named. compare(driver, kernels, d, n, causal) returns the numbers of a row."""
    if len(sys.argv) not in (2, 3):
        sys.exit(usage)
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    folder = pathlib.Path(sys.argv[1]).resolve()
    torch.zeros(1, device="cuda")  # makes PyTorch's context current
    driver = Driver(folder / "kernels.ptx")
    listed = subprocess.run([folder / "main", "--list"], stdout=subprocess.PIPE, text=True, check=True)
    kernels = [line.split() for line in listed.stdout.splitlines()]
    lines = [f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}: TFLOP/s, and errors relative to double precision"]
    lines.append(f"elements,n,causal,{columns}")
    print("\n".join(lines), flush=True)
    for d in sorted({int(kernel[0]) for kernel in kernels}):
        own = [kernel[1:] for kernel in kernels if int(kernel[0]) == d]
        for causal in (False, True):
            for n in (2048, 4096, 8192, 16384):
                numbers = compare(driver, own, d, n, causal)
                lines.append(f"{d},{n},{int(causal)}," + ",".join(f"{number:.5f}" if number < 1 else f"{number:.1f}" for number in numbers))
                print(lines[-1], flush=True)
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")


def theirs(backend, q, k, v, causal):
    def run():
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    return run


def run_forward(usage, ours):
    """Compares a lesson's kernels with PyTorch's attention. ours(driver, kernel, q, k, v, causal) returns a function that computes o."""

    def compare(driver, kernels, d, n, causal):
        q, k, v = matrices(n, d, 3)
        works = [ours(driver, kernels[0], q, k, v, causal)]
        works += [theirs(backend, q, k, v, causal) for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION)]
        first = [x[0, :1].double() for x in (q, k, v)]  # one head is enough for the errors
        scores = first[0] @ first[1].transpose(-1, -2) / math.sqrt(d)
        if causal:
            scores.masked_fill_(torch.ones(n, n, dtype=torch.bool, device="cuda").triu(1), -math.inf)
        exact = scores.softmax(-1) @ first[2]
        del scores
        errors = [error(work()[0, :1], exact) for work in works[:2]]
        operations = 4.0 * TOKENS * n * WIDTH / (2 if causal else 1)
        return [operations / time / 1e9 for time in alternate(works)] + errors

    run(usage, "ours,flash,cuDNN,error_ours,error_flash", compare)
