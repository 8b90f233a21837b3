// Rejected with: "what is returned is what the driver gave, not what was asked for"
// A limit is a request; the driver rounds it as it likes.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  const CUresult answer = cuCtxGetLimit(&value, limit);
  if (answer == CUDA_ERROR_UNSUPPORTED_LIMIT) return std::nullopt;
  CU_THROW(answer);
  if (value >= bytes) return value;
  CU_THROW(cuCtxSetLimit(limit, bytes));
  return bytes;
}
