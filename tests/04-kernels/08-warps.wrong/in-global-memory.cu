// Rejected with: "the simulator finds no fault in how the kernel runs"
// No shuffle: each lane reads a number that its neighbor may or may not have changed already.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    if (lane >= distance) numbers[threadIdx.x] += numbers[threadIdx.x - distance];
  }
}
