// The kernels that several scenarios launch.
#pragma once

static __global__ void store(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
static __global__ void add_one(int* to) { atomicAdd(to, 1); }
static __global__ void nothing() {}
// Spins for about so many clock cycles.
static __global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
