"""Triton: kernels in Python, compiled by LLVM for sm_90, with TMA, wgmma, clusters and warps of different trades.

Triton has machine code made of its PTX before it calls the driver; here ptx_as_it_is hands the PTX on instead.
"""

import ctypes
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = os.path.join(here, "ptx_as_it_is")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
cache = tempfile.TemporaryDirectory()
os.environ["TRITON_CACHE_DIR"] = cache.name


class WithoutTorch:
    """Triton would ask PyTorch, where it is installed, whether there is a GPU."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, WithoutTorch)

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

driver = ctypes.CDLL("libcuda.so.1")
triton.runtime.driver.active.get_current_device()  # makes the primary context current
random = np.random.default_rng(1)


class Kind(str):
    """The name of a type of element, as Triton asks it."""

    itemsize = property(lambda self: int("".join(filter(str.isdigit, self.split("_")[0].replace("bfloat", "")))) // 8)


class OnDevice:
    """An array on the device, as Triton's launcher wants it: dtype, data_ptr()."""

    def __init__(self, values, dtype=None):
        self.values = np.ascontiguousarray(values)
        self.dtype = Kind(dtype or self.values.dtype)
        self.shape, self.ndim = self.values.shape, self.values.ndim
        address, size = ctypes.c_uint64(), ctypes.c_size_t(self.values.nbytes)
        assert driver.cuMemAlloc_v2(ctypes.byref(address), size) == 0
        self.address = address.value
        assert driver.cuMemcpyHtoD_v2(address, self.values.ctypes.data_as(ctypes.c_void_p), size) == 0

    def __del__(self):
        driver.cuMemFree_v2(ctypes.c_uint64(self.address))

    def data_ptr(self):
        return self.address

    def stride(self, dimension=None):
        strides = [bytes // self.values.itemsize for bytes in self.values.strides]
        return strides if dimension is None else strides[dimension]

    def element_size(self):
        return self.values.itemsize

    def back(self):
        result = np.empty_like(self.values)
        error = driver.cuMemcpyDtoH_v2(
            result.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self.address), ctypes.c_size_t(result.nbytes)
        )
        assert error == 0, f"CUDA error {error}"
        return result


def zeros(shape, dtype=np.float32):
    return OnDevice(np.zeros(shape, dtype))


def bfloat16(x):
    """float32 to the bits of the nearest bfloat16."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_e4m3(bits):
    sign = np.where(bits & 0x80, -1.0, 1.0)
    exponent, mantissa = (bits >> 3) & 15, (bits & 7) / 8.0
    value = np.where(exponent == 0, mantissa * 2.0**-6, (1 + mantissa) * 2.0 ** (exponent.astype(float) - 7))
    return (sign * np.where((bits & 0x7F) == 0x7F, np.nan, value)).astype(np.float32)


def from_e5m2(bits):
    return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def same(what, got, want):
    assert got.shape == want.shape, f"{what}: {got.shape}, not {want.shape}"
    off = got != want
    assert not off.any(), f"{what}: {np.count_nonzero(off)} of {want.size} are wrong: {got[off][:4]}, not {want[off][:4]}"


def near(what, got, want, error):
    off = np.abs(got.astype(np.float64) - want.astype(np.float64)) / (1 + np.abs(want.astype(np.float64)))
    assert got.shape == want.shape and not np.isnan(off).any() and off.max() <= error, f"{what}: off by {off.max()}"


cases = []


def case(function):
    cases.append(function)
    return function


@triton.jit
def softmax_kernel(out, x, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, weights / tl.sum(weights, axis=0), mask=at < columns)


@case
def softmax():
    for dtype, columns, warps in ((np.float32, 777, 4), (np.float16, 64, 1), (np.float32, 3000, 8)):
        x = random.standard_normal((17, columns)).astype(dtype)
        out = zeros(x.shape, dtype)
        softmax_kernel[(17,)](out, OnDevice(x), columns, WIDTH=triton.next_power_of_2(columns), num_warps=warps)
        weights = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        near("softmax", out.back(), weights / weights.sum(1, keepdims=True), 1e-6 if dtype == np.float32 else 1e-3)


@triton.jit
def product_kernel(
    a,
    b,
    c,
    m,
    n,
    k,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    SUM: tl.constexpr,
    PRECISION: tl.constexpr,
    STAGES: tl.constexpr,
    MASKED: tl.constexpr,
):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), SUM)
    for start in tl.range(0, k, K, num_stages=STAGES):
        left_at, right_at = (
            a + (rows % m)[:, None] * k + (start + inner)[None, :],
            b + (start + inner)[:, None] * n + (columns % n)[None, :],
        )
        if MASKED:
            left = tl.load(left_at, mask=(start + inner < k)[None, :], other=0)
            right = tl.load(right_at, mask=(start + inner < k)[:, None], other=0)
        else:
            left, right = tl.load(left_at), tl.load(right_at)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=SUM)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


def operands(kind, m, n, k):
    """Two matrices of `kind`: on the device, and what they mean."""
    shapes = ((m, k), (k, n))
    if kind == "int8":
        values = [random.integers(-128, 128, shape, dtype=np.int8) for shape in shapes]
        return [OnDevice(v) for v in values], [v.astype(np.int64) for v in values]
    if kind.startswith("float8"):
        meaning = from_e4m3 if "e4m3" in kind else from_e5m2
        values = [
            ((random.integers(0, 2, shape) << 7) | random.integers(0x20, 0x44, shape)).astype(np.uint8)
            for shape in shapes
        ]
        return [OnDevice(v, kind) for v in values], [meaning(v).astype(np.float64) for v in values]
    values = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    if kind == "bfloat16":
        bits = [bfloat16(v) for v in values]
        return [OnDevice(v, kind) for v in bits], [from_bfloat16(v).astype(np.float64) for v in bits]
    values = [v.astype(kind) for v in values]
    return [OnDevice(v) for v in values], [v.astype(np.float64) for v in values]


@case
def products():
    for kind, precision, tile, stages, warps, error in (
        ("float16", "ieee", (64, 64, 32), 3, 4, 1e-4),
        ("float16", "ieee", (128, 128, 64), 2, 8, 1e-4),
        ("bfloat16", "ieee", (64, 32, 64), 2, 4, 1e-4),
        ("float16", "ieee", (16, 16, 16), 1, 1, 1e-4),
        ("float32", "tf32", (64, 64, 32), 2, 4, 2e-2),
        ("float32", "tf32x3", (64, 32, 32), 1, 4, 1e-5),
        ("float32", "ieee", (32, 32, 16), 2, 4, 1e-5),
        ("float32", "tf32", (32, 32, 16), 1, 2, 2e-2),
        ("float64", "ieee", (16, 32, 16), 1, 4, 1e-14),
        ("int8", "ieee", (64, 64, 64), 3, 4, 0),
        ("int8", "ieee", (32, 32, 32), 1, 2, 0),
        ("float8_e4m3fn", "ieee", (64, 64, 64), 3, 4, 1e-2),
        ("float8_e5m2", "ieee", (64, 64, 64), 2, 4, 1e-2),
        ("float8_e5m2", "ieee", (32, 32, 32), 2, 2, 1e-2),
    ):
        m, n, k = 150, 208, 128 if kind.startswith("float8") else 144
        (a, b), (left, right) = operands(kind, m, n, k)
        total = {"int8": np.int32, "float64": np.float64}.get(kind, np.float32)
        c = zeros((m, n), total)
        product_kernel[(triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1]))](
            a,
            b,
            c,
            m,
            n,
            k,
            *tile,
            {np.int32: tl.int32, np.float64: tl.float64}.get(total, tl.float32),
            precision,
            stages,
            k % tile[2] != 0,
            num_warps=warps,
        )
        near(f"product of {kind}, {precision}, {tile}", c.back(), left @ right, error)


@triton.jit
def described_product_kernel(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PROGRAMS: tl.constexpr, TRADES: tl.constexpr
):
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    out = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    across = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * across, PROGRAMS, flatten=not TRADES):
        row, column = tile // across * M, tile % across * N
        total = tl.zeros((M, N), tl.float32)
        for start in tl.range(0, k, K, warp_specialize=TRADES):
            total = tl.dot(left.load([row, start]), right.load([column, start]).T, total)
        out.store([row, column], total.to(tl.float16))


scratch = []


def allocate(size, alignment, stream):
    scratch.append(zeros(size, np.uint8))
    return scratch[-1]


@case
def products_by_tensor_maps():
    triton.set_allocator(allocate)
    m, n, k = 200, 192, 160
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (n, k)))
    for tile, stages, warps, trades in (
        ((64, 64, 64), 3, 4, False),
        ((128, 64, 32), 2, 4, False),
        ((128, 128, 64), 3, 8, True),
    ):
        c = zeros((m, n), np.float16)
        described_product_kernel[(3,)](
            OnDevice(a), OnDevice(b), c, m, n, k, *tile, 3, trades, num_stages=stages, num_warps=warps
        )
        near(f"product by tensor maps {tile}", c.back(), a.astype(np.float64) @ b.astype(np.float64).T, 1e-3)


@triton.jit
def mapped_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    out.store([row, column], x.load([row, column]) + tl.trans(y.load([column, row])))


@case
def maps_of_the_host():
    x, y = random.standard_normal((100, 72)).astype(np.float32), random.standard_normal((72, 100)).astype(np.float32)
    out = zeros((100, 72))
    parts = [
        TensorDescriptor.from_tensor(OnDevice(x), [32, 16]),
        TensorDescriptor.from_tensor(OnDevice(y), [16, 32]),
        TensorDescriptor.from_tensor(out, [32, 16]),
    ]
    mapped_kernel[(4, 5)](*parts, 32, 16)
    same("tensor maps of the host", out.back(), x + y.T)


@triton.jit
def attention_kernel(
    q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr
):
    rows, inner = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    base = tl.program_id(1) * length * D
    query = tl.load(q + base + rows[:, None] * D + inner[None, :], mask=rows[:, None] < length, other=0)
    best = tl.full((M,), -1e30, tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in tl.range(0, tl.minimum((tl.program_id(0) + 1) * M, length), N, num_stages=STAGES):
        columns = start + tl.arange(0, N)
        key = tl.load(k + base + columns[None, :] * D + inner[:, None], mask=columns[None, :] < length, other=0)
        score = tl.where(
            (rows[:, None] >= columns[None, :]) & (columns[None, :] < length), tl.dot(query, key) * scale, -1e30
        )
        now = tl.maximum(best, tl.max(score, 1))
        part = tl.exp2(score - now[:, None])
        shrink = tl.exp2(best - now)
        weight = weight * shrink + tl.sum(part, 1)
        value = tl.load(v + base + columns[:, None] * D + inner[None, :], mask=columns[:, None] < length, other=0)
        total = tl.dot(part.to(tl.float16), value, total * shrink[:, None])
        best = now
    tl.store(
        out + base + rows[:, None] * D + inner[None, :],
        (total / weight[:, None]).to(tl.float16),
        mask=rows[:, None] < length,
    )


@case
def attention():
    heads, length, width = 2, 150, 64
    q, k, v = (random.standard_normal((heads, length, width)).astype(np.float16) for _ in range(3))
    score = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
    score[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    weights = np.exp(score - score.max(-1, keepdims=True))
    want = weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)
    for rows, columns, stages, warps in ((64, 32, 2, 4), (128, 64, 3, 8), (16, 16, 1, 1)):
        out = zeros(q.shape, np.float16)
        attention_kernel[(triton.cdiv(length, rows), heads)](
            OnDevice(q),
            OnDevice(k),
            OnDevice(v),
            out,
            length,
            0.125 * np.log2(np.e),
            rows,
            columns,
            width,
            stages,
            num_warps=warps,
        )
        near("attention", out.back(), want, 2e-3)


@triton.jit
def normalise_kernel(x, scale, shift, out, means, spreads, columns, WIDTH: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, WIDTH)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0)
    mean = tl.sum(values, 0) / columns
    off = tl.where(inside, values - mean, 0)
    spread = tl.rsqrt(tl.sum(off * off, 0) / columns + 1e-5)
    tl.store(means + row, mean)
    tl.store(spreads + row, spread)
    tl.store(
        out + row * columns + at,
        off * spread * tl.load(scale + at, mask=inside) + tl.load(shift + at, mask=inside),
        mask=inside,
    )


@triton.jit
def normalise_back_kernel(x, scale, gradient, means, spreads, to_x, to_scale, lock, columns, WIDTH: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, WIDTH)
    inside = at < columns
    mean, spread = tl.load(means + row), tl.load(spreads + row)
    normal = tl.where(inside, (tl.load(x + row * columns + at, mask=inside, other=0) - mean) * spread, 0)
    g = tl.load(gradient + row * columns + at, mask=inside, other=0)
    weighed = tl.load(scale + at, mask=inside, other=0) * g
    tl.store(
        to_x + row * columns + at,
        (weighed - (normal * tl.sum(normal * weighed, 0) + tl.sum(weighed, 0)) / columns) * spread,
        mask=inside,
    )
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(to_scale + at, tl.load(to_scale + at, mask=inside) + g * normal, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@case
def layer_norm():
    rows, columns = 40, 300
    x, gradient = (random.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    scale, shift = (random.standard_normal(columns).astype(np.float32) for _ in range(2))
    on = OnDevice(x), OnDevice(scale)
    out, means, spreads, to_x, to_scale = zeros(x.shape), zeros(rows), zeros(rows), zeros(x.shape), zeros(columns)
    normalise_kernel[(rows,)](*on, OnDevice(shift), out, means, spreads, columns, 512)
    normalise_back_kernel[(rows,)](
        *on, OnDevice(gradient), means, spreads, to_x, to_scale, zeros(1, np.int32), columns, 512
    )
    x, gradient = x.astype(np.float64), gradient.astype(np.float64)
    spread = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    normal = (x - x.mean(1, keepdims=True)) * spread
    near("layer norm", out.back(), normal * scale + shift, 1e-5)
    near("layer norm's scale, back", to_scale.back(), (gradient * normal).sum(0), 1e-5)
    weighed = gradient * scale
    near(
        "layer norm, back",
        to_x.back(),
        (weighed - normal * (normal * weighed).mean(1, keepdims=True) - weighed.mean(1, keepdims=True)) * spread,
        1e-5,
    )


@triton.jit
def random_kernel(bits, uniform, seed, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    first, second, third, fourth = tl.randint4x(seed, at)
    tl.store(bits + at * 4, first)
    tl.store(bits + at * 4 + 1, second)
    tl.store(bits + at * 4 + 2, third)
    tl.store(bits + at * 4 + 3, fourth)
    tl.store(uniform + at, tl.rand(seed, at))


def philox(seed, counters):
    """Ten rounds of Philox 4x32."""
    c = [counters.astype(np.uint64), *(np.zeros(counters.size, np.uint64) for _ in range(3))]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        left, right = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low = np.uint64(0xFFFFFFFF)
        c = [
            (right >> np.uint64(32)) ^ c[1] ^ np.uint64(keys[0]),
            right & low,
            (left >> np.uint64(32)) ^ c[3] ^ np.uint64(keys[1]),
            left & low,
        ]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, 1).astype(np.uint32)


@case
def random_numbers():
    bits, uniform = zeros((1024, 4), np.int32), zeros(1024)
    random_kernel[(4,)](bits, uniform, 0x123456789A, 256)
    want = philox(0x123456789A, np.arange(1024))
    same("Philox", bits.back().view(np.uint32), want)
    first = want[:, 0].view(np.int32)
    same(
        "random numbers in [0, 1)",
        uniform.back(),
        np.where(first < 0, -first - 1, first).astype(np.float32) * np.float32(4.6566127342e-10),
    )


@triton.jit
def atomics_kernel(x, floats, halves, whole, long, best, old, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    values = tl.load(x + at)
    tl.atomic_add(floats + at % 7, values.to(tl.float32))
    tl.atomic_add(halves + at % 8, (values % 3).to(tl.float16))
    tl.store(old + at, tl.atomic_add(whole + at % 5, 1, mask=values > 0, sem="relaxed"), mask=values > 0)
    every = tl.zeros((N,), tl.int32)
    tl.atomic_max(long + every, values.to(tl.int64) * 1000000007)
    tl.atomic_max(best + every, values.to(tl.float32) - 0.5)
    tl.atomic_min(best + 1 + every, values.to(tl.float32) + 0.25)
    tl.atomic_xor(whole + 5 + every, values, sem="release", scope="sys")
    tl.atomic_or(whole + 6 + every, values)
    tl.atomic_and(whole + 7 + every, values)


@case
def atomic_operations():
    x = random.integers(-100, 100, 2048).astype(np.int32)
    floats, halves, whole, long, best, old = (
        zeros(7),
        zeros(8, np.float16),
        zeros(8, np.int32),
        zeros(1, np.int64),
        zeros(2),
        zeros(2048, np.int32),
    )
    atomics_kernel[(16,)](OnDevice(x), floats, halves, whole, long, best, old, 128)
    at = np.arange(2048)
    same("atomic sums of float", floats.back(), np.array([x[at % 7 == i].sum() for i in range(7)], np.float32))
    remainders = np.sign(x) * (np.abs(x) % 3)
    same("atomic sums of half", halves.back(), np.array([remainders[at % 8 == i].sum() for i in range(8)], np.float16))
    got = whole.back()
    same("atomic sums of int", got[:5], np.array([(x[at % 5 == i] > 0).sum() for i in range(5)], np.int32))
    same("atomic bits", got[5:], np.array([np.bitwise_xor.reduce(x), np.bitwise_or.reduce(x), 0], np.int32))
    same("atomic maximum", long.back(), np.array([int(x.max()) * 1000000007]))
    same("atomic maximum of float", best.back(), np.array([x.max() - 0.5, x.min() + 0.25], np.float32))
    for i in range(5):
        same("what was there before", np.sort(old.back()[(at % 5 == i) & (x > 0)]), np.arange(got[i], dtype=np.int32))


@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def better(value, at, other, other_at):
    takes = (value > other) | ((value == other) & (at < other_at))
    return tl.where(takes, value, other), tl.where(takes, at, other_at)


@triton.jit
def rows_kernel(
    x, summed, back, slopes, offsets, sorted, best, where, counts, picked, M: tl.constexpr, N: tl.constexpr
):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    at = rows[:, None] * N + columns[None, :]
    values = tl.load(x + at)
    tl.store(summed + at, tl.cumsum(values, 1))
    tl.store(back + at, tl.cumsum(values, 0, reverse=True))
    slope, offset = tl.associative_scan((values & 3, values), 1, compose)
    tl.store(slopes + at, slope)
    tl.store(offsets + at, offset)
    tl.store(sorted + at, tl.sort(values, dim=1))
    most, place = tl.reduce((values, tl.broadcast_to(columns[None, :], (M, N))), 1, better)
    tl.store(best + rows, most)
    tl.store(where + rows, place)
    tl.store(counts + tl.arange(0, 256), tl.histogram(tl.reshape(values + 128, (M * N,)), 256))
    tl.store(picked + at, tl.gather(values, (values & 7) * 3 + tl.broadcast_to((columns % 8)[None, :], (M, N)), 1))


@case
def scans_and_sorts():
    for m, n, warps in ((16, 64, 4), (4, 256, 8), (32, 32, 1)):
        x = random.integers(-128, 128, (m, n)).astype(np.int32)
        summed, back, slopes, offsets, ordered, picked = (zeros((m, n), np.int32) for _ in range(6))
        best, where, counts = zeros(m, np.int32), zeros(m, np.int32), zeros(256, np.int32)
        rows_kernel[(1,)](
            OnDevice(x), summed, back, slopes, offsets, ordered, best, where, counts, picked, m, n, num_warps=warps
        )
        same("sums so far", summed.back(), np.cumsum(x, 1, dtype=np.int32))
        same("sums from the end", back.back(), np.cumsum(x[::-1], 0, dtype=np.int32)[::-1])
        slope, offset = (x & 3).astype(np.uint32), x.astype(np.uint32)
        for i in range(1, n):
            slope[:, i], offset[:, i] = slope[:, i - 1] * slope[:, i], offset[:, i - 1] * slope[:, i] + offset[:, i]
        same("a scan of pairs", slopes.back().view(np.uint32), slope)
        same("a scan of pairs, its second", offsets.back().view(np.uint32), offset)
        same("sort", ordered.back(), np.sort(x, 1))
        same("largest", best.back(), x.max(1))
        same("its place", where.back(), x.argmax(1).astype(np.int32))
        same("histogram", counts.back(), np.bincount((x + 128).ravel(), minlength=256).astype(np.int32))
        same("gather", picked.back(), np.take_along_axis(x, (x & 7) * 3 + np.arange(n) % 8, 1))


@triton.jit
def float8_kernel(x, halves, to_e4m3, to_e5m2, widened, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    values = tl.load(x + at)
    tl.store(to_e4m3 + at, values.to(tl.float8e4nv).to(tl.uint8, bitcast=True))
    tl.store(to_e5m2 + at, tl.load(halves + at).to(tl.float8e5).to(tl.uint8, bitcast=True))
    tl.store(widened + at, (at & 255).to(tl.uint8).to(tl.float8e4nv, bitcast=True).to(tl.float32))


@case
def floats_of_8_bits():
    x = (random.standard_normal(2048) * np.exp2(random.integers(-11, 7, 2048))).astype(np.float32)
    halves = x.astype(np.float16)
    to_e4m3, to_e5m2, widened = zeros(2048, np.uint8), zeros(2048, np.uint8), zeros(2048)
    float8_kernel[(8,)](OnDevice(x), OnDevice(halves), to_e4m3, to_e5m2, widened, 256)
    every = np.arange(256, dtype=np.uint8)
    same("e4m3 to float", widened.back()[:127], from_e4m3(every)[:127])
    assert np.isnan(widened.back()[127])
    for what, got, values, meaning in (
        ("e4m3", to_e4m3.back(), x, from_e4m3(every)),
        ("e5m2", to_e5m2.back(), halves.astype(np.float32), from_e5m2(every)),
    ):
        finite = np.where(np.isfinite(meaning), meaning, 1e30).astype(np.float64)
        off = np.abs(finite[None, :] - values[:, None].astype(np.float64))
        nearest = off.min(1)
        same(f"float to {what}", off[np.arange(2048), got], nearest)
        tied = (off == nearest[:, None]).sum(1) > 1
        assert tied.any() and (got[tied & (values != 0) & (nearest > 0)] % 2 == 0).all(), f"{what}: ties go to even"


@triton.jit
def scaled_kernel(
    a,
    a_scale,
    b,
    b_scale,
    c,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    PACK_A: tl.constexpr,
    PACK_B: tl.constexpr,
):
    rows, columns, scales = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    left_at, right_at = tl.arange(0, K // PACK_A), tl.arange(0, K // PACK_B)
    left = tl.load(a + rows[:, None] * (K // PACK_A) + left_at[None, :])
    right = tl.load(b + right_at[:, None] * N + columns[None, :])
    left_scale = tl.load(a_scale + rows[:, None] * (K // 32) + scales[None, :])
    right_scale = tl.load(b_scale + columns[:, None] * (K // 32) + scales[None, :])
    total = tl.dot_scaled(left, left_scale, A, right, right_scale, B)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@case
def scaled_products():
    m, n, k = 64, 32, 128
    nibbles = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    for kinds in (("e4m3", "e4m3"), ("e5m2", "e2m1"), ("e2m1", "e4m3")):
        bytes, values = [], []
        for kind, shape, packed in ((kinds[0], (m, k), 1), (kinds[1], (k, n), 0)):
            if kind == "e2m1":
                codes = random.integers(0, 16, shape)
                low, high = (codes[:, 0::2], codes[:, 1::2]) if packed else (codes[0::2], codes[1::2])
                bytes.append((low | high << 4).astype(np.uint8))
                values.append(nibbles[codes])
            else:
                codes = ((random.integers(0, 2, shape) << 7) | random.integers(0x20, 0x44, shape)).astype(np.uint8)
                bytes.append(codes)
                values.append((from_e4m3 if kind == "e4m3" else from_e5m2)(codes).astype(np.float64))
        scales = [random.integers(120, 134, (size, k // 32)).astype(np.uint8) for size in (m, n)]
        c = zeros((m, n))
        names = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e2m1": None}
        left, right = (OnDevice(b, names[kind]) for b, kind in zip(bytes, kinds))
        scaled_kernel[(1,)](
            left,
            OnDevice(scales[0]),
            right,
            OnDevice(scales[1]),
            c,
            m,
            n,
            k,
            *kinds,
            *(2 if kind == "e2m1" else 1 for kind in kinds),
        )
        factors = [np.repeat(2.0 ** (s.astype(float) - 127), 32, 1) for s in scales]
        near(f"scaled product of {kinds}", c.back(), (values[0] * factors[0]) @ (values[1] * factors[1].T), 1e-3)


@triton.jit
def several_kernel(addresses, sizes, out_addresses, count, N: tl.constexpr):
    for i in range(tl.program_id(0), count, tl.num_programs(0)):
        x = tl.load(addresses + i).to(tl.pointer_type(tl.float32))
        out = tl.load(out_addresses + i).to(tl.pointer_type(tl.float32))
        size = tl.load(sizes + i)
        for start in range(0, size, N):
            at = start + tl.arange(0, N)
            values = tl.load(x + at, mask=at < size)
            tl.store(
                out + at,
                libdevice.erf(values)
                + libdevice.pow(tl.abs(values), 1.5)
                + tl.math.fma(values, values, tl.sin(values)),
                mask=at < size,
            )


@case
def arrays_by_address():
    from math import erf

    arrays = [random.standard_normal(size).astype(np.float32) for size in (5, 100, 257, 64)]
    on, out = [OnDevice(a) for a in arrays], [zeros(a.shape) for a in arrays]
    several_kernel[(3,)](
        OnDevice(np.array([a.address for a in on])),
        OnDevice(np.array([a.size for a in arrays], np.int32)),
        OnDevice(np.array([a.address for a in out])),
        4,
        128,
    )
    for x, got in zip(arrays, out):
        x = x.astype(np.float64)
        near("functions of libdevice", got.back(), np.vectorize(erf)(x) + np.abs(x) ** 1.5 + x * x + np.sin(x), 2e-6)


@triton.jit
def assembled_kernel(x, out, pairs, N: tl.constexpr):
    at = tl.arange(0, N)
    values = tl.load(x + at)
    tl.store(
        out + at,
        tl.inline_asm_elementwise(
            "{ .reg .b32 t; prmt.b32 t, $1, 0, 0x0123; lop3.b32 $0, t, $1, 0x55555555, 0x96; }",
            "=r,r",
            [values],
            dtype=tl.int32,
            is_pure=True,
            pack=1,
        ),
    )
    low, high = tl.split(tl.reshape(values, (N // 2, 2)))
    tl.store(pairs + at, tl.interleave(high, low))


@case
def inline_ptx():
    x = random.integers(-(2**31), 2**31, 512).astype(np.int32)
    out, pairs = zeros(512, np.int32), zeros(512, np.int32)
    assembled_kernel[(1,)](OnDevice(x), out, pairs, 512)
    same("inline PTX", out.back(), x.byteswap() ^ x ^ 0x55555555)
    same("pairs", pairs.back(), x.reshape(-1, 2)[:, ::-1].ravel())


@triton.jit
def clustered_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    values = tl.load(x + rows[:, None] * N + columns[None, :])
    product = tl.dot(values, tl.load(y + columns[:, None] * N + columns[None, :]))
    tl.store(out + columns, tl.sum(product, 0) + tl.max(values, 0).to(tl.float32))


@case
def clusters():
    x, y = random.standard_normal((128, 64)).astype(np.float16), random.standard_normal((64, 64)).astype(np.float16)
    out = zeros(64)
    clustered_kernel[(1,)](OnDevice(x), OnDevice(y), out, 128, 64, num_ctas=2)
    near("a cluster", out.back(), (x.astype(np.float64) @ y.astype(np.float64)).sum(0) + x.max(0), 1e-3)


@triton.jit
def speaking_kernel(x, N: tl.constexpr):
    at = tl.arange(0, N)
    values = tl.load(x + at)
    tl.device_print("seen", values)
    tl.device_assert(values < 5, "too much")


@case
def prints_and_asserts():
    with tempfile.TemporaryFile("w+") as heard:
        sys.stdout.flush()
        before = os.dup(1)
        os.dup2(heard.fileno(), 1)
        speaking_kernel[(1,)](OnDevice(np.arange(4, dtype=np.int32)), 4, num_warps=1, debug=True)
        driver.cuCtxSynchronize()
        os.dup2(before, 1)
        heard.seek(0)
        said = heard.read()
    for i in range(4):
        assert f"seen: {i}" in said, said
    speaking_kernel[(1,)](OnDevice(np.arange(8, dtype=np.int32)), 8, num_warps=1, debug=True)
    assert (
        driver.cuCtxSynchronize() == 710
    ), "a failed assertion is reported"  # it also ends the context, so this case is the last


wanted = sys.argv[1:]
for function in cases:
    if not wanted or function.__name__ in wanted:
        function()
        print(function.__name__, flush=True)
print("Triton: all as expected")
