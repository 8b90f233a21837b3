// An argument of a driver call, as those see it who look on.
#pragma once
#include <string>

namespace cudasim {

struct Argument {
  const void* value;
  // After the call: what an output pointer points to if the call has succeeded.
  void (*print)(std::string& out, const void* value, bool succeeded);
  bool is_output;  // a pointer that the call writes through
};

}  // namespace cudasim
