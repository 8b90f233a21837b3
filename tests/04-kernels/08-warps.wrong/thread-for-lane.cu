// Rejected with: "every warp begins anew"
// The guard asks for the thread's place in the block. In the second warp it is never below the distance.
extern "C" __global__ void scan_warps(int* numbers) {
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffff, sum, distance);
    if (threadIdx.x >= distance) sum += before;
  }
  numbers[threadIdx.x] = sum;
}
