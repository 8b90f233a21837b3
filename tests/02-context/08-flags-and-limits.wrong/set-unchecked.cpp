// Rejected with: "a value that the driver rejects is an error"
// Ignores the result of cuCtxSetLimit. The caller receives a value that is too small, and no error.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  const CUresult result = cuCtxGetLimit(&value, limit);
  if (result == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(result);
  if (value < bytes) cuCtxSetLimit(limit, bytes);
  CU_THROW(cuCtxGetLimit(&value, limit));
  return value;
}
