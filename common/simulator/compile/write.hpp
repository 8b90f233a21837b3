// Writes a kernel, or a function that it calls, as C++.
#pragma once
#include "common/simulator/compile/flow.hpp"

namespace cudasim::compile {

// The whole text, without its includes: `together` and `apart` (exec/compiled.hpp).
std::string written(const Code& code, const Shape& shape, bool entry);

}  // namespace cudasim::compile
