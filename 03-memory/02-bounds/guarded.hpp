// Device memory with guards: bytes before and after it that tell later whether something has written there.
#pragma once
#include <cuda.h>

#include <cstddef>

constexpr std::size_t kGuard = 256;  // bytes on each side

struct Guarded {
  CUdeviceptr address = 0;  // a multiple of 256, like every address from cuMemAlloc
  std::size_t bytes = 0;    // the next byte belongs to the guard
};

Guarded allocate_guarded(std::size_t bytes);
long long damage(const Guarded& memory);
void free_guarded(const Guarded& memory);
