// Rejected with: "at most one atomic operation per block"
// The warps do not combine their results: each of them updates the result atomically.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  using u64 = unsigned long long;
  constexpr int kLoads = 4;  // independent 128-bit loads
  const int4* vectors = reinterpret_cast<const int4*>(in);
  const u64 count = n / 4, threads = u64(gridDim.x) * blockDim.x;
  const u64 index = u64(blockIdx.x) * blockDim.x + threadIdx.x;

  int most = -2147483647 - 1;
  u64 i = index;
  for (; i + (kLoads - 1) * threads < count; i += kLoads * threads) {
    int4 loaded[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) loaded[k] = vectors[i + k * threads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      most = max(most, max(max(loaded[k].x, loaded[k].y), max(loaded[k].z, loaded[k].w)));
    }
  }
  for (; i < count; i += threads) {
    const int4 v = vectors[i];
    most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
  }
  if (4 * count + index < n) most = max(most, in[4 * count + index]);  // up to three elements are left

  for (int distance = 16; distance > 0; distance /= 2) most = max(most, __shfl_down_sync(0xffffffff, most, distance));
  if (threadIdx.x % 32 == 0) atomicMax(largest, most);
}
