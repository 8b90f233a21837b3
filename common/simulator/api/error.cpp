// Error handling (CUDA Driver API manual, "Error Handling").
#include "common/simulator/api/guard.hpp"

using namespace cudasim;

namespace {

CUresult tell(const char** out, CUresult code, const char* ErrorText::*part) {
  require(out != nullptr);
  const ErrorText* text = error_text(code);
  *out = text != nullptr ? text->*part : nullptr;
  return text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUDASIM_API CUresult cuGetErrorName(CUresult error, const char** text) {
  return CUDASIM_CALL_WHEN_LOCKED(error, text) { return tell(text, error, &ErrorText::name); };
}

CUDASIM_API CUresult cuGetErrorString(CUresult error, const char** text) {
  return CUDASIM_CALL_WHEN_LOCKED(error, text) { return tell(text, error, &ErrorText::sentence); };
}
