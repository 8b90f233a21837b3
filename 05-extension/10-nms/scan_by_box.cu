// The obvious scan of the mask, for comparison: box by box. A kept box removes others at once, and the whole block
// waits for that. `mask`, `order`, `kept` and `total` are those of nms_scan in package/csrc/kernels.cu, but the rest of
// `kept` is left as it is.
extern "C" __global__ void nms_scan_by_box(const unsigned long long* mask, const long long* order, int count,
                                           long long* kept, long long* total) {
  extern __shared__ unsigned long long gone[];
  const int tiles = (count + 63) / 64;
  for (int t = threadIdx.x; t < tiles; t += blockDim.x) gone[t] = 0;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < count; ++i) {
    if (gone[i / 64] >> (i % 64) & 1) continue;  // the same for all threads
    __syncthreads();  // before a thread changes words that others still read
    if (threadIdx.x == 0) kept[before] = order[i];
    ++before;
    for (int t = i / 64 + threadIdx.x; t < tiles; t += blockDim.x)
      gone[t] |= mask[static_cast<long long>(i) * tiles + t];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = before;
}
