// Rejected with: "a limit that the device does not support is not an error"
// Throws for a limit that the device does not support, instead of returning an empty optional.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  CU_THROW(cuCtxGetLimit(&value, limit));
  if (value < bytes) {
    CU_THROW(cuCtxSetLimit(limit, bytes));
    CU_THROW(cuCtxGetLimit(&value, limit));
  }
  return value;
}
