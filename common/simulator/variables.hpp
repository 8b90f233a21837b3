// The simulator's variables in the environment: which there are. Each is read where it is needed.
#pragma once
#include "common/simulator/types.hpp"

namespace cudasim {

// Names on stderr what begins with CUDASIM_ and is none of them: a misspelt one would change nothing, silently.
void name_unknown_variables();

// The whole number that a variable has; `otherwise`, if it is not set, or is none from `least` to `most`: then stderr
// is told what was `expected`.
u32 number_in(const char* variable, u32 least, u32 most, u32 otherwise, const char* expected);

// CUDASIM_QUIET: stderr is not for what a driver would not say.
bool quiet();

}  // namespace cudasim
