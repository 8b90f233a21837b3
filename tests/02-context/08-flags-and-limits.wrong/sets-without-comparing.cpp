// Rejected with: "a limit that is large enough does not change"
// Sets the limit without comparing. Code that needed a larger limit no longer has it.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  const CUresult result = cuCtxSetLimit(limit, bytes);
  if (result == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(result);
  std::size_t value;
  CU_THROW(cuCtxGetLimit(&value, limit));
  return value;
}
