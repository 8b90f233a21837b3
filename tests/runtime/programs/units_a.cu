// Two translation units that are linked for the device, too (nvcc -rdc=true): a function, a variable and a kernel of
// the other unit; a kernel that launches a kernel; a grid that synchronizes.
#include "expect.hpp"

#include <cooperative_groups.h>

extern __device__ int offset;
extern __device__ int twice(int value);
extern __constant__ int limits[2];
__global__ void fill(int* to, int value);
void launch_fill(int* to, int value);

static __global__ void use_other(int* to) { *to = twice(4) + offset + limits[1]; }
static __global__ void add(int* to) { to[threadIdx.x] += 1; }
static __global__ void parent(int* to) {
  add<<<1, 4>>>(to);
  add<<<1, 4>>>(to);
}
static __global__ void meet(int* to) {
  atomicAdd(to, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) to[1] = to[0];
}

int main() {
  int *p, host[4] = {};
  EXPECT_SUCCESS(cudaMalloc(&p, sizeof host));
  const int seven = 7;
  EXPECT_SUCCESS(cudaMemcpyToSymbol(limits, &seven, sizeof seven, sizeof(int)));
  use_other<<<1, 1>>>(p);
  EXPECT_SUCCESS(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 115);
  fill<<<1, 4>>>(p, 3);
  EXPECT_SUCCESS(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[3] == 3);
  launch_fill(p, 5);
  parent<<<1, 1>>>(p);
  EXPECT_SUCCESS(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 7 && host[3] == 7);
  EXPECT_SUCCESS(cudaMemset(p, 0, sizeof host));
  void* arguments[] = {&p};
  EXPECT_SUCCESS(cudaLaunchCooperativeKernel(meet, dim3(4), dim3(32), arguments));
  EXPECT_SUCCESS(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[1] == 128);
  return mistakes();
}
