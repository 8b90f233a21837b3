// Rejected with: "every driver error is thrown, including that of the second query"
// Ignores an error of the second query and returns the value from before.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  const CUresult result = cuCtxGetLimit(&value, limit);
  if (result == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(result);
  if (value < bytes) {
    CU_THROW(cuCtxSetLimit(limit, bytes));
    cuCtxGetLimit(&value, limit);
  }
  return value;
}
