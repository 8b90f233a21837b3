// Rejected with: "every other refusal is one"
// Without a context it says that the device does not know the limit.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  if (cuCtxGetLimit(&value, limit) != CUDA_SUCCESS) return std::nullopt;
  if (value < bytes && cuCtxSetLimit(limit, bytes) != CUDA_SUCCESS) return std::nullopt;
  CU_THROW(cuCtxGetLimit(&value, limit));
  return value;
}
