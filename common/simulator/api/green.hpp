// Green contexts, for calls that ask which one a stream belongs to. green.cpp
#pragma once
#include "common/simulator/names.hpp"
#include "common/simulator/types.hpp"

#include <memory>

namespace cudasim {

class Stream;

// That a stream belongs to, or, of the null stream, that is current to the thread (which is to say: what
// cuCtxFromGreenCtx made of it). Null if there is none.
CUgreenCtx green_context_of(const Stream& stream);
CUgreenCtx current_green_context();
// What cuCtxFromGreenCtx makes of it; null if it has been destroyed.
CUcontext context_of_green(CUgreenCtx handle);
// A stream that is new belongs to the green context from now on.
void join_green_context(CUgreenCtx handle, const std::shared_ptr<Stream>& stream);

// What cuCtxGetId answers for a context that cuCtxFromGreenCtx has given out; 0 for others.
u64 green_id_of(CUcontext handle);

}  // namespace cudasim
