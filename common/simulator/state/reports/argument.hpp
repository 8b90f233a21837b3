// A call of the driver and its arguments, as traces and checks see them.
#pragma once
#include <cstddef>
#include <string>

namespace cudasim {

struct Argument {
  const void* value;
  // After the call: what an output pointer points to if the call has succeeded.
  void (*print)(std::string& out, const void* value, bool succeeded);
  bool is_output;  // a pointer that the call writes through
};

// A call of the driver.
struct Call {
  const char* name;       // "cuMemcpyHtoD"
  const char* symbol;     // "cuMemcpyHtoD_v2_ptds"
  bool per_thread;        // a form for per-thread default streams
  const char* arguments;  // their names: "dstDevice, srcHost, ByteCount"
  const Argument* values;
  std::size_t count;
};

}  // namespace cudasim
