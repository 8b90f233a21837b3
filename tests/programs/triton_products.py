"""Triton: products of matrices, with TMA, wgmma, clusters and warps of different trades."""

from triton_arrays import OnDevice, bfloat16, case, from_bfloat16, from_e4m3, from_e5m2, near, random, same, zeros  # before Triton: it keeps PyTorch out

import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


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
        values = [((random.integers(0, 2, shape) << 7) | random.integers(0x20, 0x44, shape)).astype(np.uint8) for shape in shapes]
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
def described_product_kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PROGRAMS: tl.constexpr, TRADES: tl.constexpr):
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
        described_product_kernel[(3,)](OnDevice(a), OnDevice(b), c, m, n, k, *tile, 3, trades, num_stages=stages, num_warps=warps)
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
def attention_kernel(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr):
    rows, inner = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    base = tl.program_id(1) * length * D
    query = tl.load(q + base + rows[:, None] * D + inner[None, :], mask=rows[:, None] < length, other=0)
    best = tl.full((M,), -1e30, tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in tl.range(0, tl.minimum((tl.program_id(0) + 1) * M, length), N, num_stages=STAGES):
        columns = start + tl.arange(0, N)
        key = tl.load(k + base + columns[None, :] * D + inner[:, None], mask=columns[None, :] < length, other=0)
        score = tl.where((rows[:, None] >= columns[None, :]) & (columns[None, :] < length), tl.dot(query, key) * scale, -1e30)
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
