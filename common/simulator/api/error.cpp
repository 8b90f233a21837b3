// Error handling (CUDA Driver API manual, "Error Handling"): the codes' names and sentences.
#include "common/simulator/api/error_table.hpp"
#include "common/simulator/api/guard.hpp"

namespace cudasim {
namespace {

const ErrorText* find(CUresult code) {
  for (const ErrorText& text : kErrorTexts) {
    if (text.code == static_cast<int>(code)) return &text;
  }
  return nullptr;
}

CUresult answer(const char** out, CUresult code, const char* ErrorText::*part) {
  require(out != nullptr);
  const ErrorText* text = find(code);
  *out = text != nullptr ? text->*part : nullptr;
  return text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

const char* error_name(CUresult code) {
  const ErrorText* text = find(code);
  return text != nullptr ? text->name : "unknown CUresult";
}

}  // namespace cudasim

using namespace cudasim;

CUDASIM_API CUresult cuGetErrorName(CUresult error, const char** text) {
  return CUDASIM_CALL(error, text) { return answer(text, error, &ErrorText::name); };
}

CUDASIM_API CUresult cuGetErrorString(CUresult error, const char** text) {
  return CUDASIM_CALL(error, text) { return answer(text, error, &ErrorText::sentence); };
}
