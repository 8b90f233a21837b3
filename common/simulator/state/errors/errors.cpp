#include "common/simulator/state/errors/errors.hpp"

namespace cudasim {

const ErrorText* error_text(CUresult code) {
  for (const ErrorText& text : kErrorTexts) {
    if (text.code == static_cast<int>(code)) return &text;
  }
  return nullptr;
}

const char* error_name(CUresult code) {
  const ErrorText* text = error_text(code);
  return text != nullptr ? text->name : "unknown CUresult";
}

}  // namespace cudasim
