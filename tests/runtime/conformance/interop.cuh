// The runtime and the driver API in one program, threads and processes, and entry points.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

// cuda_profiler_api.h, which declares them, is not in every toolkit.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart(void);
extern "C" cudaError_t CUDARTAPI cudaProfilerStop(void);

// Prints a call of the driver API.
#define SAY_CU(call) std::printf("%s: %d\n", #call, static_cast<int>(call))

SCENARIO(driver_context_first) {
  SAY_CU(cuInit(0));
  CUdevice device;
  SAY_CU(cuDeviceGet(&device, 0));
  CUcontext context = nullptr, now = nullptr;
  SAY_CU(cuCtxCreate(&context, nullptr, 0, device));
  int* p = nullptr;
  SAY(cudaMalloc(&p, 64));
  SAY_CU(cuCtxGetCurrent(&now));
  SHOW(now == context);
  store<<<1, 1>>>(p, 3);
  SAY(cudaGetLastError());
  SAY(cudaDeviceSynchronize());
  SHOW(first(p));
  int number = 9;
  SAY(cudaGetDevice(&number));
  SHOW(number);
  SAY(cudaSetDevice(0));
  SAY_CU(cuCtxGetCurrent(&now));
  SHOW(now == context);
  store<<<1, 1>>>(p, 4);
  SAY(cudaGetLastError());
  SAY_CU(cuCtxSetCurrent(context));
  SAY(cudaFree(p));
  SAY_CU(cuCtxDestroy(context));
  SAY(cudaMalloc(&p, 64));
  SAY(cudaGetLastError());
}

SCENARIO(runtime_first) {
  CUcontext now = nullptr, primary = nullptr;
  SAY_CU(cuCtxGetCurrent(&now));
  int* p = on_device<int>(1);
  SAY_CU(cuCtxGetCurrent(&now));
  SAY_CU(cuDevicePrimaryCtxRetain(&primary, 0));
  SHOW(now == primary);
  SAY_CU(cuMemsetD32(reinterpret_cast<CUdeviceptr>(p), 11, 1));
  SHOW(first(p));
  CUstream stream = nullptr;
  SAY_CU(cuStreamCreate(&stream, 0));
  store<<<1, 1, 0, stream>>>(p, 12);
  SAY_CU(cuStreamSynchronize(stream));
  SHOW(first(p));
  cudaEvent_t event;
  NEED(cudaEventCreate(&event));
  SAY_CU(cuEventRecord(event, stream));
  SAY_CU(cuEventSynchronize(event));
  SAY_CU(cuCtxPopCurrent(&now));
  SAY_CU(cuCtxGetCurrent(&now));
  SHOW(now == nullptr);
  store<<<1, 1>>>(p, 13);
  SAY(cudaGetLastError());
  SHOW(first(p));
  SAY_CU(cuCtxGetCurrent(&now));
  SHOW(now == primary);
  unsigned flags = 0;
  int active = 0;
  SAY_CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  SHOW(active);
}

SCENARIO(asking_makes_no_context) {
  int count = 0, device = 0, value = 0, active = 9;
  unsigned flags = 0;
  CUcontext now = nullptr;
  SAY(cudaGetDeviceCount(&count));
  SAY(cudaGetDevice(&device));
  cudaDeviceProp properties;
  SAY(cudaGetDeviceProperties(&properties, 0));
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  SAY(cudaGetLastError());
  SAY_CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  SHOW(active);
  SAY_CU(cuCtxGetCurrent(&now));
  SHOW(now == nullptr);
  SAY(cudaSetDevice(0));
  SAY_CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  SHOW(active);
  SAY_CU(cuCtxGetCurrent(&now));
  SHOW(now == nullptr);
}

SCENARIO(threads_share_the_context) {
  int* p = on_device<int>(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([p] {
      for (int j = 0; j < 8; ++j) add_one<<<1, 32>>>(p);
      NEED(cudaStreamSynchronize(nullptr));
    });
  }
  for (std::thread& thread : threads) thread.join();
  SHOW(first(p));
}

SCENARIO(a_forked_process_has_no_device) {
  int* p = on_device<int>(1);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    SAY(cudaMalloc(&p, 4));
    SAY(cudaDeviceSynchronize());
    int count = 9;
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaGetLastError());
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  SHOW(status);
  store<<<1, 1>>>(p, 2);
  SHOW(first(p));
}

SCENARIO(a_fork_before_the_first_call) {
  const pid_t child = fork();
  if (child == 0) {
    int* p = on_device<int>(1);
    store<<<1, 1>>>(p, 2);
    SHOW(first(p));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  SHOW(status);
  int* p = on_device<int>(1);
  store<<<1, 1>>>(p, 3);
  SHOW(first(p));
}

SCENARIO(memory_of_another_process) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return;
  const pid_t child = fork();
  char go = 0;
  if (child == 0) {
    cudaIpcMemHandle_t handle;
    if (read(there[0], &handle, sizeof handle) != sizeof handle) _exit(1);
    int* p = nullptr;
    SAY(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&p), handle, cudaIpcMemLazyEnablePeerAccess));
    add_one<<<1, 5>>>(p);
    SAY(cudaDeviceSynchronize());
    SAY(cudaIpcCloseMemHandle(p));
    if (write(back[1], &go, 1) != 1) _exit(1);
    _exit(0);
  }
  int* p = on_device<int>(1);
  cudaIpcMemHandle_t handle;
  SAY(cudaIpcGetMemHandle(&handle, p));
  NEED(cudaDeviceSynchronize());
  if (write(there[1], &handle, sizeof handle) != sizeof handle || read(back[0], &go, 1) != 1) return;
  int status = 0;
  waitpid(child, &status, 0);
  SHOW(first(p));
  SAY(cudaIpcGetMemHandle(&handle, nullptr));
}

SCENARIO(entry_points) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  SAY(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault, &result));
  SHOW(function != nullptr);
  SHOW(result);
  SAY(cudaGetDriverEntryPoint("cuNothing", &function, cudaEnableDefault, &result));
  SHOW(function == nullptr);
  SHOW(result);
  SAY(cudaGetDriverEntryPoint("cuNothing", &function, cudaEnableDefault));
  SAY(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &result));
  SHOW(result);
  SAY(cudaGetDriverEntryPointByVersion("cuMemGetMemPool", &function, 12000, cudaEnableDefault, &result));
  SHOW(result);
  SAY(cudaGetLastError());
}

SCENARIO(profiler_calls) {
  SAY(cudaProfilerStart());
  SAY(cudaProfilerStop());
  SAY(cudaGetLastError());
}
