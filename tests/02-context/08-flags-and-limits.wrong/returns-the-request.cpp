// Rejected with: "the result is the driver's value, not the requested one"
// Returns the requested value. A limit is a request, and the driver may change it.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  const CUresult result = cuCtxGetLimit(&value, limit);
  if (result == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(result);
  if (value >= bytes) return value;
  CU_THROW(cuCtxSetLimit(limit, bytes));
  return bytes;
}
