"""Compares the lesson's last kernels with PyTorch's on a GPU: speed, as a share of that of a copy, and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/30-softmax-and-norm. The first table compares with torch.compile; both
get the same matrices and alternate. The second one compares errors with those of PyTorch's own functions.
"""

import ctypes
import pathlib
import subprocess
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import beside  # noqa: E402

ELEMENTS, EPSILON = 1 << 27, 1e-6
MATRICES = {"softmax": 2, "softmax_backward": 3, "rms_norm": 4, "rms_norm_backward": 4}  # that must be loaded or stored
COLUMNS = [1 << exponent for exponent in range(10, 18)]
ODD_COLUMNS = [1, 7, 1023, 1024, 1025, 8193, 16392, 100_000]
SUM_COLUMNS, SUM_THREADS = 32, 1024  # as in shape.hpp
beside.MILLISECONDS = 10.0  # a kernel takes less than one
POINTERS = ("x", "residual", "weight", "y", "h", "dy", "dh", "dx", "parts")


class Rows(ctypes.Structure):
    """The kernels' argument, as in shape.hpp."""

    _fields_ = [*((name, ctypes.c_void_p) for name in POINTERS), *((name, ctypes.c_int) for name in ("rows", "columns")), ("epsilon", ctypes.c_float)]


def softmax(t):
    return torch.softmax(t["x"], -1)


def softmax_backward(t):
    y, dy = t["y"].float(), t["dy"].float()
    return (y * (dy - (y * dy).sum(-1, keepdim=True))).to(t["y"].dtype)


def rms_norm(t):
    h = t["x"] + t["residual"]
    wide = h.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON) * t["weight"].float()).to(h.dtype), h


def rms_norm_backward(t):
    h, g = t["h"].float(), t["dy"].float() * t["weight"].float()
    r = torch.rsqrt(h.square().mean(-1, keepdim=True) + EPSILON)
    dx = t["dh"].float() + r * g - h * r**3 * (g * h).mean(-1, keepdim=True)
    return dx.to(t["h"].dtype), (t["dy"].float() * h * r).sum(0).to(t["h"].dtype)


THEIRS = {"softmax": softmax, "softmax_backward": softmax_backward, "rms_norm": rms_norm, "rms_norm_backward": rms_norm_backward}


def matrices(op, dtype, rows, columns, factor=1.0):
    needed = {"softmax": "x", "softmax_backward": "y dy", "rms_norm": "x residual", "rms_norm_backward": "h dy dh"}[op].split()
    tensors = {name: (factor * torch.randn(rows, columns, device="cuda")).to(dtype) for name in needed}
    if "y" in tensors:
        tensors["y"] = torch.softmax(tensors["y"], -1)
    if op.startswith("rms"):
        tensors["weight"] = torch.randn(columns, device="cuda", dtype=dtype)
    return tensors


def listed(folder, columns):
    """How the program launches its kernels: {(op, type, columns): (kernel, threads, blocks, rows of a block, teams, shared memory)}."""
    command = [folder / "main", "--list", *map(str, columns)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {(op, dtype, int(n)): (kernel, *map(int, numbers)) for op, dtype, n, kernel, *numbers in map(str.split, lines)}


def ours(driver, op, launch, tensors):
    """A function that launches the lesson's kernels and returns their first result."""
    name, threads, blocks, rows_of_block, teams, shared = launch
    some = next(iter(tensors.values()))
    rows, columns = some.shape
    outputs = {"softmax": "y", "softmax_backward": "dx", "rms_norm": "y h", "rms_norm_backward": "dx"}[op].split()
    buffers = {**tensors, **{output: torch.empty_like(some) for output in outputs}}
    groups = -(-rows // rows_of_block)
    teams = -(-groups // -(-groups // teams))  # all of them have about equally many rows
    if op == "rms_norm_backward":
        buffers["parts"] = torch.empty(teams, columns, device="cuda")
        buffers["sum"] = torch.empty(columns, device="cuda", dtype=some.dtype)
    argument = Rows(*(buffers[pointer].data_ptr() if pointer in buffers else None for pointer in POINTERS), rows, columns, EPSILON)
    function = driver.function(name, shared)
    adding = driver.function("add_parts_" + name.split("_")[3], 0) if "parts" in buffers else None

    def run():
        driver.launch_clusters(function, teams * blocks, threads, shared, blocks, [argument])
        if adding is not None:
            sums = [ctypes.c_void_p(buffers["parts"].data_ptr()), ctypes.c_int(teams), ctypes.c_int(columns), ctypes.c_void_p(buffers["sum"].data_ptr())]
            driver.launch(adding, (-(-columns // SUM_COLUMNS), 1, 1), SUM_THREADS, 0, sums)
        return buffers[outputs[0]]

    return run


def exact(op, tensors, rows):
    """The first result for the first rows, in double precision."""
    t = {name: tensor[:rows].double() if tensor.dim() == 2 else tensor.double() for name, tensor in tensors.items()}
    if op == "softmax":
        return torch.softmax(t["x"], -1)
    if op == "softmax_backward":
        return t["y"] * (t["dy"] - (t["y"] * t["dy"]).sum(-1, keepdim=True))
    if op == "rms_norm":
        h = (tensors["x"][:rows] + tensors["residual"][:rows]).double()
        return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + EPSILON) * t["weight"]
    g, h = t["dy"] * t["weight"], t["h"]
    r = torch.rsqrt(h.square().mean(-1, keepdim=True) + EPSILON)
    return t["dh"] + r * g - h * r**3 * (g * h).mean(-1, keepdim=True)


def first(result):
    return result[0] if isinstance(result, tuple) else result


def compare(driver, op, dtype, columns, launch):
    """[share of ours, of torch.compile; error of ours, of torch.compile]"""
    tensors = matrices(op, dtype, ELEMENTS // columns, columns)
    compiled = torch.compile(THEIRS[op], dynamic=False)
    own = ours(driver, op, launch, tensors)
    source, target = torch.randn(2, ELEMENTS, device="cuda", dtype=dtype)
    times = beside.alternate([lambda: target.copy_(source), own, lambda: compiled(tensors)])
    shares = [times[0] / 2 * MATRICES[op] / time for time in times[1:]]
    rows = 64
    right = exact(op, tensors, rows)
    return shares + [beside.error(result[:rows], right) for result in (own(), first(compiled(tensors)))]


def uncompiled(op, t):
    """The result of PyTorch's own function."""
    if op == "softmax_backward":
        return torch._softmax_backward_data(t["dy"], t["y"], -1, t["y"].dtype)
    if op == "rms_norm":
        return torch.nn.functional.rms_norm(t["x"] + t["residual"], t["x"].shape[-1:], t["weight"], EPSILON)
    return first(THEIRS[op](t))


def odd_errors(driver, op, dtype, columns, launch, factor):
    """The errors of both relative to double precision, for a few rows; every third element of x is masked, and so are all of the first row."""
    tensors = matrices(op, dtype, 5, columns, factor)
    if op == "softmax":
        tensors["x"][:, ::3] = tensors["x"][0] = -torch.inf
    right = exact(op, tensors, 5)
    results = ours(driver, op, launch, tensors)(), uncompiled(op, tensors)
    valid = ~right.isnan()
    same = all(torch.equal(result.isnan(), ~valid) for result in results)
    nothing = not right[valid].any()
    return [result[valid].abs().sum().item() if nothing else beside.error(result[valid], right[valid]) for result in results], same


def run():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    folder = pathlib.Path(sys.argv[1]).resolve()
    torch.zeros(1, device="cuda")  # makes PyTorch's context current
    driver = beside.Driver(folder / "kernels.ptx")
    lines = [f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}: share of the speed of a copy, and errors relative to double precision"]
    lines.append("op,type,columns,ours,compiled,error_ours,error_compiled")
    print("\n".join(lines), flush=True)
    for (op, dtype, columns), launch in listed(folder, COLUMNS).items():
        torch.compiler.reset()  # otherwise PyTorch gives up after a few sizes of one function
        numbers = compare(driver, op, getattr(torch, dtype), columns, launch)
        lines.append(f"{op},{dtype},{columns}," + ",".join(f"{number:.3g}" for number in numbers))
        print(lines[-1], flush=True)
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\nop,type,columns,factor,error_ours,error_PyTorch,NaN in the same places")
    for (op, dtype, columns), launch in listed(folder, ODD_COLUMNS).items():
        for factor in (1, 1000) if op == "softmax" else (1,):
            errors, same = odd_errors(driver, op, getattr(torch, dtype), columns, launch, factor)
            print(f"{op},{dtype},{columns},{factor}," + ",".join(f"{error:.2g}" for error in errors) + f",{same}", flush=True)


if __name__ == "__main__":
    run()
