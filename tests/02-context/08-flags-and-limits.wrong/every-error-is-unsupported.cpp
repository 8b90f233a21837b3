// Rejected with: "a missing context is an error"
// Reports every error as an unsupported limit, even a missing context.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  if (cuCtxGetLimit(&value, limit) != CUDA_SUCCESS) return std::nullopt;
  if (value < bytes && cuCtxSetLimit(limit, bytes) != CUDA_SUCCESS) return std::nullopt;
  CU_THROW(cuCtxGetLimit(&value, limit));
  return value;
}
