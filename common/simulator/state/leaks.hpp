// What a program has made and not given back: told when its context is destroyed, and when the process ends.
//
// The check looks at the door of the driver only: which calls have succeeded, with which handle.
#pragma once
#include "common/simulator/state/argument.hpp"

#include <cstddef>

namespace cudasim {

// A call has succeeded.
void note_call(const char* function, const Argument* arguments, std::size_t count);

}  // namespace cudasim
