// The simulator's variables in the environment: which there are. Each is read where it is needed.
#pragma once

namespace cudasim {

// Names on stderr what begins with CUDASIM_ and is none of them: a misspelt one would change nothing, silently.
void name_unknown_variables();

// CUDASIM_QUIET: stderr is not for what a driver would not say.
bool quiet();

}  // namespace cudasim
