// Compute, for each lane, the sum of its number and those of all lower lanes.

// Each warp of a block has 32 numbers, one per lane. Afterwards, numbers[i] is the sum of its warp's numbers up to and
// including this one (an inclusive scan). Launched with one block, whose size is a multiple of 32; each warp is scanned
// separately.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += before;
  }
  numbers[threadIdx.x] = sum;
}
