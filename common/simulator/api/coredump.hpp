// What a context that is made has to do with core dumps.
#pragma once
#include "common/simulator/state/context.hpp"

namespace cudasim {

#if CUDA_VERSION >= 12010
// The process's settings of this moment become the context's, and its flags are heeded.
void begin_coredump_settings(Context& context);
#else
inline void begin_coredump_settings(Context&) {}
#endif

}  // namespace cudasim
