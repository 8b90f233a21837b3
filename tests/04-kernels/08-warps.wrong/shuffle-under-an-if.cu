// Rejected with: "every lane in a shuffle's mask executes the shuffle"
// Only the lanes that add execute the shuffle, but the mask contains all lanes.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    if (lane >= distance) sum += __shfl_up_sync(0xffffffff, sum, distance);
  }
  numbers[threadIdx.x] = sum;
}
