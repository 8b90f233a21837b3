// The kernels of the driver record's scenarios; each does what its name says.
#include <cassert>
#include <cstdio>

__constant__ float coef[16];
__device__ int counter;
__device__ int table[256];

extern "C" {

__global__ void empty_k() {}

__global__ void vadd(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] * coef[0];
}

__global__ void inc() { atomicAdd(&counter, 1); }

__global__ void null_write(int* p) { *p = 1; }

__global__ void oob_write(int* p, long long offset) { p[offset + threadIdx.x] = 1; }

__global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }

__global__ void trap_k() { asm volatile("trap;"); }

__global__ void assert_k(int x) { assert(x == 0); }

// Until `nanoseconds` have passed; the counter is the same on a GPU and on a simulator, cycles are not.
__global__ void spin(long long nanoseconds) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

__global__ void __launch_bounds__(128) bounded(int* out) {
  if (out) out[threadIdx.x] = 1;
}

__global__ void statshared(int* out) {
  __shared__ int cells[1024];
  cells[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x ^ 1];
}

__global__ void dynshared(int* out) {
  extern __shared__ int cells_given[];
  cells_given[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = cells_given[threadIdx.x ^ 1];
}

// The index is known to the caller only, so the array cannot live in registers.
__global__ void local_k(int* out, int which) {
  volatile int cells[64];  // volatile: in local memory, whatever the compiler could do without it
  for (int i = 0; i < 64; ++i) cells[i] = i + which * i;
  out[threadIdx.x] = cells[which & 63];
}

__global__ void shared_oob(int index) {
  __shared__ volatile int cells[32];
  cells[index] = index;
}

__global__ void printf_k(int x, float f) { printf("b%d t%d x=%d f=%.3f %s\n", blockIdx.x, threadIdx.x, x, f, "hi"); }
}
