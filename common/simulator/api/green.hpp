// Green contexts, for calls that ask which one a stream belongs to. green.cpp
#pragma once
#include "common/simulator/names.hpp"
#include "common/simulator/types.hpp"

namespace cudasim {

// Null if it belongs to none.
CUgreenCtx green_context_of(CUstream stream);

// What cuCtxGetId answers for a context that cuCtxFromGreenCtx has given out; 0 for others.
u64 green_id_of(CUcontext handle);

}  // namespace cudasim
