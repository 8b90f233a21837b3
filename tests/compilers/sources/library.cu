// What the toolkit's headers make of it: half precision, the math library, cooperative groups, CUB, libcu++, matrix
// units, asynchronous copies, inline PTX, printf, assert and the device's heap. check.cpp has the expected values.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

#include <cassert>
#include <cstdio>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/complex>
#include <cuda/std/tuple>

namespace cg = cooperative_groups;
using u32 = unsigned;
using u64 = unsigned long long;

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL(name) extern "C" __global__ void name(const u32* in, u64* out, u32 count)

// Threads of 1 or more blocks of 128; one result each.
KERNEL(math_double) {
  const double x = double(in[INDEX] % 1000) / 100 + 0.5;
  const double r = sin(x) + cos(x) * exp(-x) + log(x) + pow(x, 1.5) + sqrt(x) + cbrt(x) + atan2(x, 2.0) + tanh(x) +
                   erf(x) + tgamma(fmin(x, 5.0)) + lgamma(x) + fmod(x, 0.7) + hypot(x, 3.0) + floor(x) + rint(x) +
                   asinh(x) + j0(x) + normcdf(x / 10) + remainder(x, 0.3) + ldexp(x, 3) + sinpi(x);
  out[INDEX] = u64(llrint(r * 1e6));
}
KERNEL(math_float) {
  const float x = float(in[INDEX] % 1000) / 100 + 0.5f;
  const float r = sinf(x) + cosf(x) * expf(-x) + logf(x) + powf(x, 1.5f) + sqrtf(x) + cbrtf(x) + atan2f(x, 2.0f) +
                  tanhf(x) + erff(x) + fmodf(x, 0.75f) + hypotf(x, 3.0f) + floorf(x) + rintf(x) + exp2f(x / 3) +
                  log10f(x) + rsqrtf(x) + sinf(x * 1e5f);
  out[INDEX] = u64(llrintf(r * 100));
}
KERNEL(half_precision) {
  const __half a = __float2half(float(in[INDEX] % 64)), b = __float2half(0.5f);
  const __half2 p = __halves2half2(a, b), q = __hfma2(p, p, __float2half2_rn(1.0f));
  const __nv_bfloat16 c = __float2bfloat16(float(in[INDEX] % 16)), d = c * c + c;
  const __nv_fp8_e4m3 e(float(in[INDEX] % 13));
  const __nv_fp8_e5m2 f(float(in[INDEX] % 5));
  const __half m = __hmax(a, __hneg(b));
  const bool less = __hlt(b, a);
  out[INDEX] = u64(__half2float(__low2half(q)) + 4 * __half2float(__high2half(q))) + u64(__bfloat162float(d)) * 100000 +
               u64(float(e)) * 100000000 + u64(float(f)) * 10000000000 + u64(__half2float(m)) + less +
               u64(__half2int_rn(hsqrt(a * a)));
}
KERNEL(intrinsics) {
  const u32 x = in[INDEX], y = x * 2654435761u;
  u32 r =
      __popc(x) + __clz(y) + __brev(x) % 1001 + __ffs(y) + __byte_perm(x, y, 0x2735) + __funnelshift_l(x, y, x % 32);
  r ^= __vadd4(x, y) + __vmaxs2(x, y) + __vabsdiffu4(x, y) + __dp4a(x, y, 7u) + __umulhi(x, y) +
       __sad(int(x), int(y), 3u);
  r += __uhadd(x, y) + __mul24(int(x), int(y)) + __vcmpgtu4(x, y) + u32(__mulhi(int(x), int(y)));
  out[INDEX] = r + (u64(__brevll(u64(x) << 20 | y)) ^ __umul64hi(u64(x) << 32, u64(y) << 31)) + u64(__clzll(x));
}
KERNEL(inline_ptx) {
  const u32 x = in[INDEX];
  u32 lop, bfe, sum, lane;
  u64 wide;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(lop) : "r"(x), "r"(x >> 3), "n"(12345));
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(bfe) : "r"(x));
  asm volatile(
      "{\n .reg .pred p;\n .reg .b32 t;\n setp.gt.u32 p, %1, 1000;\n mov.b32 t, 5;\n @p add.u32 t, t, %1;\n mov.b32 "
      "%0, t;\n}"
      : "=r"(sum)
      : "r"(x));
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(x), "r"(77), "l"(u64(x) << 7));
  out[INDEX] = u64(lop) + bfe + sum + lane + wide;
}
KERNEL(groups) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(block);
  const u32 x = in[INDEX] % 1000;
  u64 r = cg::reduce(warp, x, cg::plus<u32>()) + u64(cg::reduce(tile, x, cg::greater<u32>())) * 100000;
  r += u64(cg::exclusive_scan(tile, x)) * 10000000000;
  if (x % 3 == 0) {
    const auto active = cg::coalesced_threads();
    r += active.size() + active.shfl(x, 0);
  }
  r += tile.shfl_xor(x, 3) + warp.match_any(x % 4) % 1000 + warp.ballot(x > 500) % 7;
  const auto parts = cg::labeled_partition(warp, x % 3);
  r += parts.size() * 3 + cg::reduce(parts, 1u, cg::plus<u32>());
  out[INDEX] = r + block.thread_rank();
}
// Tiles of more than one warp. Their barriers are in shared memory that the system reserves.
KERNEL(large_groups) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  const u32 x = in[INDEX] % 1000;
  u64 r = cg::reduce(tile, x, cg::plus<u32>()) + tile.shfl(x, 40) * 100000ull;
  r += cg::inclusive_scan(tile, x) * 1000000000ull + (tile.any(x == 0) ? 7 : 0) + (tile.all(x < 999) ? 9 : 0);
  tile.sync();
  out[INDEX] = r + tile.meta_group_rank() * 3;
}
struct Larger {
  __device__ u32 operator()(u32 a, u32 b) const { return a > b ? a : b; }
};
KERNEL(cub_block) {
  using Reduce = cub::BlockReduce<u32, 128>;
  using Scan = cub::BlockScan<u32, 128>;
  using Sort = cub::BlockRadixSort<u32, 128, 1>;
  using Warp = cub::WarpReduce<u32>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
    Sort::TempStorage sort;
    Warp::TempStorage warp[4];
  } temporary;
  __shared__ u32 total;
  const u32 x = in[INDEX] % 10007;
  const u32 sum = Reduce(temporary.reduce).Sum(x);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  u32 before;
  Scan(temporary.scan).ExclusiveSum(x, before);
  __syncthreads();
  u32 key[1] = {x};
  Sort(temporary.sort).Sort(key);
  __syncthreads();
  const u32 warp = Warp(temporary.warp[threadIdx.x / 32]).Reduce(x, Larger());
  out[INDEX] = u64(total) + before * 3ull + key[0] * 1000003ull + __shfl_sync(~0u, warp, 0) * 7ull;
}
KERNEL(atomics) {
  __shared__ u32 counter, most;
  __shared__ cuda::atomic<u64, cuda::thread_scope_block> sum;
  __shared__ double real;
  __shared__ unsigned short narrow;
  if (threadIdx.x == 0) counter = most = narrow = 0, sum = 0, real = 0;
  __syncthreads();
  const u32 x = in[INDEX] % 1000;
  atomicAdd(&counter, x);
  atomicMax(&most, x);
  atomicAdd(&real, double(x));
  sum.fetch_add(x * x, cuda::std::memory_order_relaxed);
  for (unsigned short seen = 0, was; (was = atomicCAS(&narrow, seen, (unsigned short)(seen + 1))) != seen;) seen = was;
  __syncthreads();
  cuda::atomic_ref<u32, cuda::thread_scope_block> ref(most);
  out[INDEX] = u64(counter) + ref.load() + sum.load() + u64(real) + narrow;
}
KERNEL(barriers) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ u32 a[128], b[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  a[threadIdx.x] = in[INDEX];
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  const u32 other = a[127 - threadIdx.x];
  barrier.arrive_and_wait();
  cuda::memcpy_async(&b[threadIdx.x], &in[INDEX], sizeof(u32), barrier);
  barrier.arrive_and_wait();
  out[INDEX] = u64(other) * 3 + b[threadIdx.x ^ 1];
}
KERNEL(pipelines) {
  __shared__ u32 stage[2][128];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline();
  u64 r = 0;
  for (u32 k = 0; k < 4; ++k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[k % 2][threadIdx.x], &in[(INDEX + k * 128) % count], sizeof(u32), pipe);
    pipe.producer_commit();
    if (k == 0) continue;
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    r = r * 3 + stage[(k - 1) % 2][threadIdx.x];
    pipe.consumer_release();
  }
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  r = r * 3 + stage[1][threadIdx.x];
  block.sync();
  cg::memcpy_async(block, stage[0], in + blockIdx.x * 128, sizeof stage[0]);
  cg::wait(block);
  out[INDEX] = r + stage[0][127 - threadIdx.x];
}
KERNEL(matrix) {
  namespace wmma = nvcuda::wmma;
  __shared__ __half a[256], b[256];
  __shared__ float c[256];
  for (u32 k = threadIdx.x; k < 256; k += 128) {
    a[k] = __float2half(float(in[k] % 8));
    b[k] = __float2half(float(in[255 - k] % 8));
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 2.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int k = 0; k < fc.num_elements; ++k) fc.x[k] *= 2;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  }
  __syncthreads();
  out[INDEX] = u64(c[threadIdx.x]) + u64(c[128 + threadIdx.x]) * 100000;
}
extern __shared__ u32 dynamic[];
KERNEL(dynamic_shared) {
  u64* const sums = reinterpret_cast<u64*>(dynamic + blockDim.x);
  dynamic[threadIdx.x] = in[INDEX];
  __syncthreads();
  sums[threadIdx.x] = u64(dynamic[threadIdx.x]) + dynamic[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  out[INDEX] = sums[(threadIdx.x + 5) % blockDim.x];
}
struct Node {
  Node* next;
  u32 value;
};
KERNEL(heap) {
  Node* head = nullptr;
  for (u32 k = 0; k < 5; ++k) head = new Node{head, in[INDEX] + k};
  u64 r = 0;
  while (head != nullptr) {
    r = r * 3 + head->value;
    Node* const next = head->next;
    delete head;
    head = next;
  }
  void* const bytes = malloc(100);
  assert(bytes != nullptr);
  memset(bytes, int(in[INDEX]), 100);
  r += static_cast<unsigned char*>(bytes)[99];
  free(bytes);
  if (INDEX == 3) printf("%s %d %5.2f %c %llx %%\n", "thread", threadIdx.x, 2.5, 'z', 0x123456789abcull);
  out[INDEX] = r;
}
KERNEL(standard) {
  const cuda::std::complex<double> z(double(in[INDEX] % 10), 2.0), w = z * z + z;
  const cuda::std::tuple<u32, double> t(in[INDEX], w.real());
  cuda::std::array<u32, 4> a = {4, 3, 2, cuda::std::get<0>(t) % 5};
  u32 most = 0;
  for (const u32 x : a) most = most > x ? most : x;
  auto add = [=](auto x) { return x + most; };
  out[INDEX] = u64(w.real() + 1000) + u64(w.imag()) * 10000 + add(u64(a[3])) * 1000000;
}
