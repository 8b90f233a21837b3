"""Triton: kernels in Python, compiled by LLVM for sm_90. triton_products.py has those that multiply matrices."""

import os
import sys
import tempfile

from triton_arrays import OnDevice, case, cases, driver, from_e4m3, from_e5m2, near, random, same, zeros  # before Triton: it keeps PyTorch out
import triton_products  # its cases come first

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice


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
    normalise_back_kernel[(rows,)](*on, OnDevice(gradient), means, spreads, to_x, to_scale, zeros(1, np.int32), columns, 512)
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
def rows_kernel(x, summed, back, slopes, offsets, sorted, best, where, counts, picked, M: tl.constexpr, N: tl.constexpr):
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
        rows_kernel[(1,)](OnDevice(x), summed, back, slopes, offsets, ordered, best, where, counts, picked, m, n, num_warps=warps)
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
                libdevice.erf(values) + libdevice.pow(tl.abs(values), 1.5) + tl.math.fma(values, values, tl.sin(values)),
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
    assert driver.cuCtxSynchronize() == 710, "a failed assertion is reported"  # it also ends the context, so this case is the last


wanted = sys.argv[1:]
for function in cases:
    if not wanted or function.__name__ in wanted:
        function()
        print(function.__name__, flush=True)
print("Triton: all as expected")
