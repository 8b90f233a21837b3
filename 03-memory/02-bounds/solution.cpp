// Find the writes outside an array that the driver cannot detect.
#include "03-memory/02-bounds/guarded.hpp"
#include "common/cu.hpp"

#include <vector>

namespace {

// Neighboring bytes of the pattern differ, so no run of equal bytes can look like it.
std::vector<unsigned char> pattern() {
  std::vector<unsigned char> bytes(kGuard);
  for (std::size_t i = 0; i < kGuard; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + 1);
  return bytes;
}

}  // namespace

// Each function throws cu::Error if a driver call fails (CU_THROW).

// Allocates device memory with kGuard bytes of guard on each side, in the current context. No memory stays allocated if
// it throws. 0 bytes are rejected, as by cuMemAlloc.
Guarded allocate_guarded(std::size_t bytes) {
  if (bytes == 0) CU_THROW(CUDA_ERROR_INVALID_VALUE);
  cu::Memory all(kGuard + bytes + kGuard);
  const CUdeviceptr address = all.address + kGuard;
  CU_THROW(cuMemcpyHtoD(address - kGuard, pattern().data(), kGuard));
  CU_THROW(cuMemcpyHtoD(address + bytes, pattern().data(), kGuard));
  all.address = 0;  // nothing can fail any more: the caller owns the memory
  return {address, bytes};
}

// Returns 0 if both guards are as they were, otherwise the offset of a damaged byte from memory.address: -1 is the byte
// before the memory, memory.bytes the one after it. Of several damaged bytes, the one that is closest to the memory
// counts; of two that are equally close, the one after it. Includes what the device was still doing when it was called.
long long damage(const Guarded& memory) {
  const std::vector<unsigned char> expected = pattern();
  std::vector<unsigned char> before(kGuard), after(kGuard);
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemcpyDtoH(before.data(), memory.address - kGuard, kGuard));
  CU_THROW(cuMemcpyDtoH(after.data(), memory.address + memory.bytes, kGuard));
  for (std::size_t i = 0; i < kGuard; ++i) {
    if (after[i] != expected[i]) return static_cast<long long>(memory.bytes + i);
    if (before[kGuard - 1 - i] != expected[kGuard - 1 - i]) return -1 - static_cast<long long>(i);
  }
  return 0;
}

// Frees what allocate_guarded() has allocated.
void free_guarded(const Guarded& memory) { CU_THROW(cuMemFree(memory.address - kGuard)); }
