// The core dump settings of the process and of each context (CUDA Driver API manual, "Coredump Attributes Control
// API"). They are kept and reported, but no dump is written: the report on stderr describes the fault.
#pragma once
#include "common/simulator/names.hpp"
#include "common/simulator/types.hpp"

#include <mutex>
#include <string>

namespace cudasim {

class Context;

struct CoredumpSettings {
  bool on_exception = false, user_trigger = false;
  unsigned flags = 0;
  std::string file, pipe;
};

// The process's settings. The environment overrides the defaults.
struct GlobalCoredump {
  GlobalCoredump();
  std::mutex mutex;
  CoredumpSettings settings;
};
GlobalCoredump& global_coredump();

// A context begins with the process's settings of that moment.
struct ContextCoredump {
  ContextCoredump();
  std::mutex mutex;
  CoredumpSettings settings;
};

// Applies the flags that the context was created with.
void begin_coredump_settings(Context& context);

// `attribute`: a CUcoredumpSettings, which the oldest headers lack. Throws CUDA_ERROR_INVALID_VALUE for others. A null
// `value` asks for the size only.
void get_coredump_setting(const CoredumpSettings& settings, int attribute, void* value, std::size_t* size);
void set_coredump_setting(CoredumpSettings& settings, int attribute, const void* value, std::size_t* size);

}  // namespace cudasim
