// Rejected with: "all numbers are 1: lane n has n + 1"
// Shuffles in the wrong direction: each lane has the sum from its own number to the last one.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int after = __shfl_down_sync(0xffffffff, sum, distance);
    if (lane + distance < 32) sum += after;
  }
  numbers[threadIdx.x] = sum;
}
