// What is entered into a captured stream, as nodes of the capture's graph.
#pragma once
#include "common/simulator/state/graphs/graph.hpp"

#include <functional>

namespace cudasim {

// If the stream is captured: adds its next node, which `describe` describes with Graph::mutex() held, and returns true.
// Another thread can end the capture before this or after it, not in between.
bool add_if_captured(const Stream& stream, const std::function<Part(const Graph&)>& describe);
// The stream's next node, if it is captured, may begin before the kernels that it comes after have ended.
void allow_overlap(const Stream& stream);

}  // namespace cudasim
