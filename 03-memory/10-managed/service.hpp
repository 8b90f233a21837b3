// A service whose arrays are in managed memory, and which the host and a kernel use in turn.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <functional>

struct Array {
  CUdeviceptr address;
  std::size_t bytes;
};

struct Service {
  CUdevice device;
  CUstream stream;
  Array weights;  // the host has written them; in each round, the kernel reads all of them, and so does the host
  Array input;    // in each round, the host writes all of it, and then the kernel reads it
  Array output;   // in each round, the kernel writes all of it, and then the host reads it
  std::function<void()> prepare;  // the host reads the weights and writes the input
  std::function<void()> launch;   // launches the kernel in the stream, and does not wait for it
  std::function<void()> finish;   // the host reads the output
};

// What the host and the kernel may cost, all rounds together: no page fault at all, and at most this many bytes that
// cross the interconnect.
inline std::size_t budget(const Service& service, int rounds) {
  return service.weights.bytes + 2 * rounds * (service.input.bytes + service.output.bytes);
}

void serve(const Service& service, int rounds);
