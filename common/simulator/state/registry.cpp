#include "common/simulator/state/registry.hpp"

#include <atomic>

namespace cudasim {

u64 fresh_handle() {
  static std::atomic<u64> next{0x3c00'0000'0040};
  return next.fetch_add(0x40, std::memory_order_relaxed);
}

}  // namespace cudasim
