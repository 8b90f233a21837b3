// A scenario is a function that makes calls of the runtime API and prints each call with its result. It runs in a
// process of its own. What it prints is compared with a recording (../recorded): it must be equal with NVIDIA's
// libcudart on a GPU, with ours on a GPU, and with ours on the simulator.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Scenario {
  const char* name;
  void (*run)();
  Scenario(const char* name, void (*run)());
};
std::vector<Scenario>& scenarios();

#define SCENARIO(name)                                \
  static void name();                                 \
  static const Scenario scenario_##name{#name, name}; \
  static void name()

// Prints a call and the name of the error that it returns.
#define SAY(call) std::printf("%s: %s\n", #call, cudaGetErrorName(call))
// Prints a number, or a truth.
#define SHOW(value) std::printf("%s = %lld\n", #value, static_cast<long long>(value))
#define SHOW_TEXT(value) std::printf("%s = \"%s\"\n", #value, value)
// Prepares something that is not the subject. Prints only a failure.
#define NEED(call)                                                                               \
  do {                                                                                           \
    const cudaError_t needed = (call);                                                           \
    if (needed != cudaSuccess) std::printf("FAILED: %s: %s\n", #call, cudaGetErrorName(needed)); \
  } while (false)

// Device memory for one scenario.
template <class T>
T* on_device(std::size_t count) {
  void* pointer = nullptr;
  NEED(cudaMalloc(&pointer, count * sizeof(T)));
  NEED(cudaMemset(pointer, 0, count * sizeof(T)));
  return static_cast<T*>(pointer);
}
template <class T>
T first(const T* device) {
  T value{};
  NEED(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
