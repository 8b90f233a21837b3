// Error handling (CUDA Driver API manual, "Error Handling").
#include "common/simulator/api/call.hpp"

namespace cudasim {

namespace {

CUresult tell(const char** out, CUresult code, const char* ErrorText::* part) {
  require(out != nullptr);
  const ErrorText* text = error_text(code);
  *out = text != nullptr ? text->*part : nullptr;
  return text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult driver::call_cuGetErrorName(CUresult error, const char** text) { return tell(text, error, &ErrorText::name); }

CUresult driver::call_cuGetErrorString(CUresult error, const char** text) {
  return tell(text, error, &ErrorText::sentence);
}

}  // namespace cudasim
