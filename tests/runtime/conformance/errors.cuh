// Which error a call returns, and what cudaGetLastError remembers.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

#include <cassert>

SCENARIO(launch_with_invalid_sizes) {
  int* p = on_device<int>(4096);
  store<<<1, 1280>>>(p, 1);
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
  store<<<1, 1025>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, 0>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<0, 1>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<dim3(1, 65536), 1>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<dim3(1, 1, 65536), 1>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, dim3(1, 1, 65)>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, dim3(32, 33)>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, 1, 49153>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, 1, 1 << 20>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, 1, std::size_t{1} << 33>>>(p, 1);
  SAY(cudaGetLastError());
  store<<<1, 1>>>(p, 7);
  SAY(cudaGetLastError());
  SHOW(first(p));
}

static __global__ void __launch_bounds__(128) bounded(int* to) { *to = 1; }

SCENARIO(launch_beyond_bounds) {
  int* p = on_device<int>(1);
  bounded<<<1, 128>>>(p);
  SAY(cudaGetLastError());
  bounded<<<1, 129>>>(p);
  SAY(cudaGetLastError());
  SAY(cudaDeviceSynchronize());
}

static void no_kernel(int*) {}

SCENARIO(launch_of_what_is_no_kernel) {
  int* p = on_device<int>(1);
  void* arguments[] = {&p};
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(no_kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  SAY(cudaGetLastError());
  SAY(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, nullptr));
  SAY(cudaGetLastError());
  cudaFuncAttributes attributes;
  SAY(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(no_kernel)));
  SAY(cudaFuncGetAttributes(&attributes, static_cast<const void*>(nullptr)));
  SAY(cudaFuncGetAttributes(nullptr, reinterpret_cast<const void*>(add_one)));
  int blocks = 0;
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, no_kernel, 32, 0));
  SAY(cudaFuncSetAttribute(no_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
  SAY(cudaFuncSetCacheConfig(no_kernel, cudaFuncCachePreferL1));
}

SCENARIO(last_error_is_the_last) {
  SAY(cudaGetLastError());
  SAY(cudaMemcpy(nullptr, nullptr, 1, static_cast<cudaMemcpyKind>(17)));
  SAY(cudaSetDevice(-1));
  int device = 7;
  SAY(cudaGetDevice(&device));
  SHOW(device);
  SAY(cudaPeekAtLastError());
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  SAY(cudaPeekAtLastError());
  SAY(cudaFree(reinterpret_cast<void*>(16)));
  SAY(cudaDeviceSynchronize());
  SAY(cudaGetLastError());
}

SCENARIO(not_ready_is_no_error) {
  cudaStream_t stream;
  cudaEvent_t event;
  NEED(cudaStreamCreate(&stream));
  NEED(cudaEventCreate(&event));
  spin<<<1, 1, 0, stream>>>(1000);
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaStreamQuery(stream));
  SAY(cudaEventRecord(event, stream));
  SAY(cudaEventSynchronize(event));
  SAY(cudaEventQuery(event));
  SAY(cudaGetLastError());
}

SCENARIO(names_of_errors) {
  for (const int error :
       {0,   1,   2,   3,   4,   9,   12,  13,  21,  35,  46,  98,  100, 101, 200, 201, 209, 218, 222, 400, 401,
        500, 600, 700, 701, 704, 705, 710, 712, 713, 716, 719, 720, 800, 801, 900, 901, 906, 910, 999, 5000}) {
    const auto e = static_cast<cudaError_t>(error);
    std::printf("%d: %s: %s\n", error, cudaGetErrorName(e), cudaGetErrorString(e));
  }
}

static void what_is_left() {
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
  SAY(cudaPeekAtLastError());
  void* p = nullptr;
  SAY(cudaMalloc(&p, 4));
  SAY(cudaFree(nullptr));
  SAY(cudaDeviceSynchronize());
  SAY(cudaStreamSynchronize(nullptr));
  SAY(cudaStreamQuery(nullptr));
  nothing<<<1, 1>>>();
  SAY(cudaGetLastError());
  int device = 7, count = 7;
  SAY(cudaGetDevice(&device));
  SAY(cudaGetDeviceCount(&count));
  SAY(cudaSetDevice(0));
  cudaEvent_t event;
  SAY(cudaEventCreate(&event));
  cudaStream_t stream;
  SAY(cudaStreamCreate(&stream));
  int value = 0;
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  cudaDeviceProp properties;
  SAY(cudaGetDeviceProperties(&properties, 0));
  std::size_t bytes;
  SAY(cudaMemGetInfo(&bytes, &bytes));
  SAY(cudaGetLastError());
  SAY(cudaDeviceReset());
  SAY(cudaGetLastError());
  SAY(cudaMalloc(&p, 4));
  SAY(cudaGetLastError());
}

SCENARIO(after_an_illegal_address) {
  int* p = reinterpret_cast<int*>(0x100000000000);
  store<<<1, 1>>>(p, 1);
  SAY(cudaGetLastError());
  SAY(cudaDeviceSynchronize());
  what_is_left();
}

static __global__ void stop() { asm volatile("trap;"); }
SCENARIO(after_a_trap) {
  NEED(cudaFree(nullptr));
  stop<<<1, 1>>>();
  SAY(cudaGetLastError());
  SAY(cudaDeviceSynchronize());
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
}

static __global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
SCENARIO(after_a_misaligned_address) {
  char* p = on_device<char>(16);
  misaligned<<<1, 1>>>(p);
  SAY(cudaDeviceSynchronize());
  SAY(cudaGetLastError());
}

static __global__ void asserts(int value) { assert(value == 2); }
SCENARIO(after_an_assertion) {
  asserts<<<1, 1>>>(2);
  SAY(cudaDeviceSynchronize());
  asserts<<<1, 1>>>(3);
  SAY(cudaDeviceSynchronize());
  SAY(cudaGetLastError());
  SAY(cudaPeekAtLastError());
}

SCENARIO(a_reset_makes_everything_new) {
  int* p = on_device<int>(1);
  store<<<1, 1>>>(p, 5);
  SAY(cudaDeviceSynchronize());
  SAY(cudaDeviceReset());
  SAY(cudaDeviceReset());
  int* q = on_device<int>(1);
  store<<<1, 1>>>(q, 6);
  SAY(cudaDeviceSynchronize());
  SHOW(first(q));
}
