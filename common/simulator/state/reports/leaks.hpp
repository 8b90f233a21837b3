// Reports what a program has not freed, when its context is destroyed and when the process ends.
//
// The check sees only which calls have succeeded, and with which handle.
#pragma once
#include "common/simulator/state/reports/argument.hpp"

#include <cstddef>

namespace cudasim {

// A call has succeeded.
void note_call(const char* function, const Argument* arguments, std::size_t count);

}  // namespace cudasim
