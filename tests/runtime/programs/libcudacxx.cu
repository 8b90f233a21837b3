// cuda::atomic, cuda::barrier, cuda::latch and cuda::std in kernels.
#include "expect.hpp"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/tuple>

static __global__ void count(cuda::atomic<int, cuda::thread_scope_device>* to, int* largest) {
  to->fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device> most(*largest);
  most.fetch_max(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

// One block writes and raises a flag; the other waits for the flag and reads.
static __global__ void hand_over(int* data, cuda::atomic<int, cuda::thread_scope_device>* flag, int* result) {
  if (blockIdx.x == 0) {
    *data = 42;
    flag->store(1, cuda::memory_order_release);
    flag->notify_all();
  } else {
    flag->wait(0, cuda::memory_order_acquire);
    *result = *data;
  }
}

#pragma nv_diag_suppress static_var_with_dynamic_init
static __global__ void barriers(int* result) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ cuda::latch<cuda::thread_scope_block>* none;
  __shared__ int numbers[128];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    none = nullptr;
  }
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x) + round;
    barrier.arrive_and_wait();
    sum += numbers[(threadIdx.x + 1) % blockDim.x];
    barrier.arrive_and_wait();
  }
  result[threadIdx.x] = sum + (none != nullptr);
}

static __global__ void standard(float* result) {
  cuda::std::array<int, 4> numbers{4, 3, 2, 1};
  int sum = 0;
  for (const int number : numbers) sum += number;
  const cuda::std::complex<float> square = cuda::std::complex<float>(1, 2) * cuda::std::complex<float>(1, 2);
  const auto pair = cuda::std::make_tuple(sum, square.imag());
  const cuda::std::optional<float> perhaps = cuda::std::get<1>(pair);
  result[0] = static_cast<float>(cuda::std::get<0>(pair));
  result[1] = perhaps.value_or(0);
}

int main() {
  using Atomic = cuda::atomic<int, cuda::thread_scope_device>;
  Atomic *counter, *flag;
  int *largest, *data, *results;
  float* numbers;
  EXPECT_SUCCESS(cudaMallocManaged(&counter, sizeof *counter));
  EXPECT_SUCCESS(cudaMallocManaged(&flag, sizeof *flag));
  EXPECT_SUCCESS(cudaMallocManaged(&largest, sizeof *largest));
  EXPECT_SUCCESS(cudaMallocManaged(&data, 2 * sizeof *data));
  EXPECT_SUCCESS(cudaMallocManaged(&results, 128 * sizeof *results));
  EXPECT_SUCCESS(cudaMallocManaged(&numbers, 2 * sizeof *numbers));
  new (counter) Atomic(0);
  new (flag) Atomic(0);
  *largest = 0;
  count<<<16, 128>>>(counter, largest);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(counter->load() == 16 * 128);
  EXPECT(*largest == 16 * 128 - 1);
  hand_over<<<2, 1>>>(data, flag, data + 1);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(data[1] == 42);
  barriers<<<1, 128>>>(results);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i) EXPECT(results[i] == 4 * ((i + 1) % 128) + 6);
  standard<<<1, 1>>>(numbers);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(numbers[0] == 10 && numbers[1] == 4);
  return mistakes();
}
