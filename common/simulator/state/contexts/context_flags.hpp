// The flags that cuCtxCreate, cuCtxSetFlags and cuDevicePrimaryCtxSetFlags take.
#pragma once
#include "common/simulator/state/devices/driver.hpp"

namespace cudasim {

namespace context_flag {
constexpr unsigned kMapHost = 0x08, kResize = 0x10, kCoredump = 0x20, kUserCoredump = 0x40, kSyncMemops = 0x80;
}
// Those that a context is made with; cuCtxSetFlags takes them and changes nothing (H200, driver 580).
constexpr unsigned kMadeWith = context_flag::kMapHost | context_flag::kCoredump | context_flag::kUserCoredump;

// The flag for user-triggered core dumps is reported as the flag for core dumps.
inline unsigned told_flags(unsigned flags) {
  using namespace context_flag;
  return (flags & kUserCoredump) == 0 ? flags : (flags & ~kUserCoredump) | kCoredump;
}

// Throws CUDA_ERROR_INVALID_VALUE for flags that do not exist or exclude each other.
inline void require_context_flags(unsigned flags) {
  using namespace context_flag;
  const unsigned sched = flags & CU_CTX_SCHED_MASK;
  require((flags & ~(CU_CTX_SCHED_MASK | kMapHost | kResize | kCoredump | kUserCoredump | kSyncMemops)) == 0);
  require((sched & (sched - 1)) == 0);  // at most one way of waiting
}

// A context with these flags would write core dumps on a GPU. The simulator says once that it writes none.
inline void note_coredump_flags(unsigned flags) {
  if ((flags & (context_flag::kCoredump | context_flag::kUserCoredump)) == 0) return;
  refuse("a core dump of the device", "a fault is reported on stderr only");
}

}  // namespace cudasim
