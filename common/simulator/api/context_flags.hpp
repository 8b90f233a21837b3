// The flags that cuCtxCreate, cuCtxSetFlags and cuDevicePrimaryCtxSetFlags take.
#pragma once
#include "common/simulator/state/driver.hpp"

namespace cudasim {

// Throws CUDA_ERROR_INVALID_VALUE for flags that do not exist or exclude each other.
inline void require_context_flags(unsigned flags) {
  constexpr unsigned kMapHost = 0x08, kResize = 0x10, kCoredump = 0x20, kUserCoredump = 0x40, kSyncMemops = 0x80;
  const unsigned sched = flags & CU_CTX_SCHED_MASK;
  require((flags & ~(CU_CTX_SCHED_MASK | kMapHost | kResize | kCoredump | kUserCoredump | kSyncMemops)) == 0);
  require((sched & (sched - 1)) == 0);  // at most one way of waiting
}

}  // namespace cudasim
