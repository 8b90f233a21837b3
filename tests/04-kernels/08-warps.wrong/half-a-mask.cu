// Rejected with: "the simulator finds no fault in how the kernel runs"
// The mask contains 16 lanes, but all 32 execute the shuffle.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xffff, sum, distance);
    if (lane >= distance) sum += before;
  }
  numbers[threadIdx.x] = sum;
}
