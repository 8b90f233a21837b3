// Rejected with: "a run of equal bytes is found, whatever their value"
// A kernel that happens to write the value of the guard leaves no trace.
#include "03-memory/02-bounds/guarded.hpp"
#include "common/cu.hpp"

#include <vector>

namespace {

std::vector<unsigned char> pattern() {
  std::vector<unsigned char> bytes(kGuard);
  for (std::size_t i = 0; i < kGuard; ++i) bytes[i] = 0xcd;
  return bytes;
}

}  // namespace

Guarded allocate_guarded(std::size_t bytes) {
  if (bytes == 0) CU_THROW(CUDA_ERROR_INVALID_VALUE);
  cu::Memory all(kGuard + bytes + kGuard);
  const CUdeviceptr address = all.address + kGuard;
  CU_THROW(cuMemcpyHtoD(address - kGuard, pattern().data(), kGuard));
  CU_THROW(cuMemcpyHtoD(address + bytes, pattern().data(), kGuard));
  all.address = 0;  // nothing can fail any more: the caller owns the memory
  return {address, bytes};
}

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

void free_guarded(const Guarded& memory) { CU_THROW(cuMemFree(memory.address - kGuard)); }
