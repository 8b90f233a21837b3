// Rejected with: "a limit that is large enough stays as it is"
// Setting is not raising: whoever needed more before has less now.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  const CUresult answer = cuCtxSetLimit(limit, bytes);
  if (answer == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(answer);
  std::size_t value;
  CU_THROW(cuCtxGetLimit(&value, limit));
  return value;
}
