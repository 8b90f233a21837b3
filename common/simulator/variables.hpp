// The simulator's variables in the environment: which there are. Each is read where it is needed.
#pragma once
#include "common/simulator/types.hpp"

namespace cudasim {

// Names unknown variables that begin with CUDASIM_ on stderr: a misspelt one would silently change nothing.
void name_unknown_variables();

// The whole number in a variable, or `otherwise` if it is not set. If it is not a number from `least` to `most`, says
// what was `expected` on stderr and returns `otherwise`.
u32 number_in(const char* variable, u32 least, u32 most, u32 otherwise, const char* expected);

// CUDASIM_QUIET: stderr is not for what a driver would not say.
bool quiet();

}  // namespace cudasim
