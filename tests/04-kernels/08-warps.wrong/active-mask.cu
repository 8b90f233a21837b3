// Rejected with: "the mask is a constant, not the result of __activemask()"
// The shuffle is inside the `if`, with the active lanes as its mask. Lanes read from lanes that are not in the mask.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    if (lane >= distance) sum += __shfl_up_sync(__activemask(), sum, distance);
  }
  numbers[threadIdx.x] = sum;
}
