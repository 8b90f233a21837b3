// Raise a limit of the current context for code that needs more, without taking anything from code that needs more yet.
#include "common/cu.hpp"

#include <optional>

// Sees to it that `limit` is at least `bytes`, and never makes it smaller. Returns the limit's value afterwards, as the
// driver tells it, which may be more than was asked for; nothing if this device does not know the limit. Throws
// cu::Error if the driver refuses for any other reason (CU_THROW).
std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  const CUresult answer = cuCtxGetLimit(&value, limit);
  if (answer == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(answer);
  if (value < bytes) {
    CU_THROW(cuCtxSetLimit(limit, bytes));
    CU_THROW(cuCtxGetLimit(&value, limit));
  }
  return value;
}
