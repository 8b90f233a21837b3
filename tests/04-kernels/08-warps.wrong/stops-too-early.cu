// Rejected with: "all numbers are 1: lane n has n + 1"
// Stops at distance 8, which is enough for 16 lanes only.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 16; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += before;
  }
  numbers[threadIdx.x] = sum;
}
