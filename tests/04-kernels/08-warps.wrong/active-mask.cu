// Rejected with: "the mask is written down, not taken from __activemask()"
// The shuffle stands under the `if`, and the mask is made to fit. Lanes read from others that the mask does not name.
extern "C" __global__ void scan_warps(int* numbers) {
  const int lane = threadIdx.x % 32;
  int sum = numbers[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    if (lane >= distance) sum += __shfl_up_sync(__activemask(), sum, distance);
  }
  numbers[threadIdx.x] = sum;
}
