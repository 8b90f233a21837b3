#include "common/simulator/state/errors/registry.hpp"

#include "common/simulator/numbers.hpp"

#include <atomic>

namespace cudasim {

static constexpr u64 kFirst = 0x3c00'0000'0040, kStep = 0x40;
static std::atomic<u64> next_handle{kFirst};

u64 fresh_handle() { return next_handle.fetch_add(kStep, std::memory_order_relaxed); }

std::string no_such_handle(u64 value) {
  if (value == 0) return "the handle is null";
  const bool given_out = value >= kFirst && value < next_handle && value % kStep == 0;
  return hex(value) + (given_out ? " is the handle of an object that was destroyed, or of another kind of object"
                                 : " is not a handle that the driver has returned");
}

}  // namespace cudasim
