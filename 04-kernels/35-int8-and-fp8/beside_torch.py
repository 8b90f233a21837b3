"""Compares the lesson's kernels with PyTorch's on a GPU: speed, and errors.

Usage: python3 beside_torch.py FOLDER [OUT.csv]
FOLDER contains the lesson's program, main, and its kernels.ptx: build/04-kernels/35-int8-and-fp8. All kernels get the same elements and alternate.
"""

import ctypes
import pathlib
import struct
import subprocess
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import beside  # noqa: E402

BLOCK, BOX, BAND, ARGUMENT_BYTES = 128, 64, 2048, 1024  # as in the program
SIZES = (4096, 8192, 16384)
BFLOAT16, SWIZZLE_128B, PROMOTION_256B = 9, 3, 3  # CU_TENSOR_MAP_…


def map_of(driver, matrix, rows, columns):
    """The 128 bytes that describe a matrix to the TMA; see tensor_map.hpp."""
    room = (ctypes.c_byte * 256)()
    skipped = -ctypes.addressof(room) % 128  # the driver wants it aligned
    sizes, pitch = (ctypes.c_uint64 * 2)(columns, rows), (ctypes.c_uint64 * 1)(2 * columns)
    box, strides = (ctypes.c_uint32 * 2)(BOX, BOX), (ctypes.c_uint32 * 2)(1, 1)
    address = ctypes.c_void_p(matrix.data_ptr())
    driver.check(
        driver.library.cuTensorMapEncodeTiled(ctypes.byref(room, skipped), BFLOAT16, 2, address, sizes, pitch, box, strides, 0, SWIZZLE_128B, PROMOTION_256B, 0)
    )
    return bytes(room)[skipped : skipped + 128]


def ours(driver, kernel, x, w, x_scales, w_scales):
    """A function that computes y with one of the lesson's kernels."""
    name, threads, shared, rows, columns, cluster, after = kernel[0], *map(int, kernel[1:])
    y = torch.empty(x.shape[0], w.shape[0], device="cuda", dtype=torch.bfloat16)
    pairs = x.shape[1] // 2
    maps = b"".join(map_of(driver, matrix, matrix.shape[0], width) for matrix, width in ((x, pairs), (w, pairs), (y, y.shape[1])))
    band = max(1, BAND // (rows * cluster))
    argument = ctypes.create_string_buffer(maps, ARGUMENT_BYTES)  # as in shape.hpp; `after` is where the members that Product lacks begin
    struct.pack_into("=Qiiii", argument, len(maps), y.data_ptr(), *y.shape, pairs, band)
    struct.pack_into("=QQQQ", argument, after, *(t.data_ptr() for t in (x, w, x_scales, w_scales)))
    function = driver.function(name, shared)
    tiles = y.shape[0] // rows * (y.shape[1] // columns)
    blocks = min(tiles, torch.cuda.get_device_properties(0).multi_processor_count // cluster * cluster)

    def run():
        driver.launch_clusters(function, blocks, threads, shared, cluster, [argument])
        return y

    run.kept = (x, w, x_scales, w_scales)
    return run


def by_rows(matrix, dtype):
    """Elements of 8 bits, and a scale for each row."""
    most = 127 if dtype == torch.int8 else 448
    scales = matrix.float().abs().amax(1, keepdim=True) / most
    scaled = matrix.float() / scales
    return (scaled.round() if dtype == torch.int8 else scaled).to(dtype), scales


def by_blocks(matrix, rows):
    """The same with a scale for each block of so many rows and 128 columns; and the scales, [blocks of rows, blocks of columns]."""
    blocks = matrix.float().view(matrix.shape[0] // rows, rows, matrix.shape[1] // BLOCK, BLOCK)
    scales = blocks.abs().amax((1, 3), keepdim=True) / 448
    return (blocks / scales).view(matrix.shape).to(torch.float8_e4m3fn), scales.view(scales.shape[0], scales.shape[2])


def products(driver, kernels, x, w):
    """[(name, function)]: ours and theirs."""
    bf16 = torch.bfloat16
    xs, ws = by_rows(x, torch.int8), by_rows(w, torch.int8)
    xe, we = by_rows(x, torch.float8_e4m3fn), by_rows(w, torch.float8_e4m3fn)
    xb, wb = by_blocks(x, 1), by_blocks(w, BLOCK)
    flat = [t.reshape(-1) for t in (xs[1], ws[1], xe[1], we[1])]
    x_columns = xb[1].t().contiguous()  # ours: scales of neighboring rows are neighbors, as in the library's
    found = [
        ("int8_wgmma", ours(driver, kernels["int8_wgmma"], xs[0], ws[0], flat[0], flat[1])),
        ("fp8_rows", ours(driver, kernels["fp8_rows"], xe[0], we[0], flat[2], flat[3])),
        ("promoted", ours(driver, kernels["promoted"], xe[0], we[0], flat[2], flat[3])),
        ("blocks", ours(driver, kernels["blocks"], xb[0], wb[0], x_columns, wb[1].contiguous())),
        ("torch_int8", lambda: torch._int_mm(xs[0], ws[0].t())),
    ]
    for fast in (True, False):
        name = "torch_fp8_fast" if fast else "torch_fp8"
        found.append((name, lambda fast=fast: torch._scaled_mm(xe[0], we[0].t(), xe[1], we[1].t(), out_dtype=bf16, use_fast_accum=fast)))
    found.append(("torch_blocks", lambda: torch._scaled_mm(xb[0], wb[0].t(), x_columns.t(), wb[1].t(), out_dtype=bf16)))
    found.append(("torch_bfloat16", lambda: x @ w.t()))
    return found, (xs[1], ws[1])


def works(function):
    """The function, or None if PyTorch cannot compute it here."""
    try:
        function()
        torch.cuda.synchronize()
        return function
    except (RuntimeError, ValueError, NotImplementedError) as error:
        print(f"# {str(error).splitlines()[0]}", flush=True)
        return None


def compare(driver, kernels, n):
    x, w = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    found, of_int8 = products(driver, kernels, x, w)
    right = x[:64].double() @ w.double().t()
    usable = [(name, works(function)) for name, function in found]
    errors = {}
    for name, function in usable:
        if function is None:
            continue
        y = function()[:64].double()
        errors[name] = beside.error(y * of_int8[0][:64] * of_int8[1].t() if name == "torch_int8" else y, right)
    names = list(errors)
    times = beside.alternate([function for _, function in usable if function is not None])
    return {name: (2 * n**3 / milliseconds / 1e9, errors[name]) for name, milliseconds in zip(names, times)}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    folder = pathlib.Path(sys.argv[1]).resolve()
    torch.zeros(1, device="cuda")  # makes PyTorch's context current
    driver = beside.Driver(folder / "kernels.ptx")
    listed = subprocess.run([folder / "main", "--list"], stdout=subprocess.PIPE, text=True, check=True)
    kernels = {line.split()[0]: line.split() for line in listed.stdout.splitlines()}
    lines = [f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}: TFLOP/s, and errors relative to double precision", "n,product,speed,error"]
    print("\n".join(lines), flush=True)
    for n in SIZES:
        for name, (speed, error) in compare(driver, kernels, n).items():
            lines.append(f"{n},{name},{speed:.1f},{error:.5f}")
            print(lines[-1], flush=True)
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
