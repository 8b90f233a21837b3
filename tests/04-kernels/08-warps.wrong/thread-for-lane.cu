// Rejected with: "every warp starts its own sum"
// The guard compares the thread's index in the block. From the second warp on, that index is never below the distance.
extern "C" __global__ void scan_warps(int* numbers) {
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffff, sum, distance);
    if (threadIdx.x >= distance) sum += before;
  }
  numbers[threadIdx.x] = sum;
}
