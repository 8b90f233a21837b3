// The sums of the rows of an image of bytes, or of a strip of each row. The rows are `pitch` bytes apart.
#include <cstddef>

constexpr int kThreads = 256, kWarp = 32;

// The sum over all lanes of a warp, in lane 0 (04-08 explains shuffles).
__device__ unsigned warp_sum(unsigned sum) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  return sum;
}

// The sum of the four bytes in a word.
__device__ unsigned bytes_of(unsigned word, unsigned sum) { return __dp4a(word, 0x01010101u, sum); }

// One warp adds up the first `width` bytes of a row. Each load reads 4 bytes, so `pitch` must be a multiple of 4.
extern "C" __global__ void sum_rows(const unsigned char* image, std::size_t pitch, int width, unsigned* sums) {
  const int row = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned* words = reinterpret_cast<const unsigned*>(image + row * pitch);
  unsigned sum = 0;
  for (int i = lane; i < width / 4; i += kWarp) sum = bytes_of(words[i], sum);
  sum = warp_sum(sum);
  if (lane == 0) sums[row] = sum;
}

// The same with loads of 16 bytes: `pitch` must be a multiple of 16.
extern "C" __global__ void sum_rows_16(const unsigned char* image, std::size_t pitch, int width, unsigned* sums) {
  const int row = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned char* bytes = image + row * pitch;
  unsigned sum = 0;
  for (int i = lane; i < width / 16; i += kWarp) {
    const uint4 four = reinterpret_cast<const uint4*>(bytes)[i];
    sum = bytes_of(four.x, bytes_of(four.y, bytes_of(four.z, bytes_of(four.w, sum))));
  }
  const int rest = width / 16 * 4 + lane;  // the words that no load of 16 bytes has read
  if (rest < width / 4) sum = bytes_of(reinterpret_cast<const unsigned*>(bytes)[rest], sum);
  sum = warp_sum(sum);
  if (lane == 0) sums[row] = sum;
}
