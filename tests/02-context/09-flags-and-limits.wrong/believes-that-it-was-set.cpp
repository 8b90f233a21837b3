// Rejected with: "a value that the driver refuses is an error, too"
// Nobody looks whether the limit was set: the caller gets a number, and it is too small.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  const CUresult answer = cuCtxGetLimit(&value, limit);
  if (answer == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(answer);
  if (value < bytes) cuCtxSetLimit(limit, bytes);
  CU_THROW(cuCtxGetLimit(&value, limit));
  return value;
}
