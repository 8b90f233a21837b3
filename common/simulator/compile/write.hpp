// Writes a function of a kernel as C++.
#pragma once
#include "common/simulator/compile/flow.hpp"

namespace cudasim::compile {

// The whole text, without its includes: `together` and `apart` (exec/compiled.hpp).
std::string written(const Code& code, const Shape& shape);

}  // namespace cudasim::compile
