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
  const char* name;                  // "cuMemcpyHtoD"
  const char* symbol;                // "cuMemcpyHtoD_v2_ptds"
  bool per_thread = false;           // a form for per-thread default streams
  const char* arguments = "";        // their names: "dstDevice, srcHost, ByteCount"
  const Argument* values = nullptr;  // `count` of them
  std::size_t count = 0;
  bool even_locked = false;  // goes on while the process is locked for a checkpoint
};

}  // namespace cudasim
