// Green contexts, for calls that ask which one a stream belongs to. green.cpp
#pragma once
#include "common/simulator/api/names.hpp"

namespace cudasim {

// Null if it belongs to none.
CUgreenCtx green_context_of(CUstream stream);

}  // namespace cudasim
