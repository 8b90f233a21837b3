// What the first versions of PTX left out.
#pragma once
#include "common/simulator/ptx/module.hpp"

#include <optional>

namespace cudasim::ptx {

struct Body;

// The statement with all that is understood; nothing if it is complete.
std::optional<Statement> modernized(const Body& body, const Statement& s);

}  // namespace cudasim::ptx
