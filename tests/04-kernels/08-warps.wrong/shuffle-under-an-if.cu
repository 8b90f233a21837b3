// Rejected with: "all lanes come to each shuffle whose mask names them"
// Only the lanes that add shuffle, with a mask of all.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    if (lane >= distance) sum += __shfl_up_sync(0xffffffff, sum, distance);
  }
  numbers[threadIdx.x] = sum;
}
