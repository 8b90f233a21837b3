// Rejected with: "a limit that this device does not know is no error"
// It throws where the caller was to be told that there is no such limit here.
#include "common/cu.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes) {
  std::size_t value = 0;
  CU_THROW(cuCtxGetLimit(&value, limit));
  if (value < bytes) {
    CU_THROW(cuCtxSetLimit(limit, bytes));
    CU_THROW(cuCtxGetLimit(&value, limit));
  }
  return value;
}
