// The kind of an edge between two nodes of a graph.
#pragma once
#include "common/simulator/types.hpp"

#include <memory>

namespace cudasim {

struct Node;

// What CUgraphEdgeData says of an edge. Every edge is kept in full here: a node begins when those before it have ended,
// which is within what a programmatic one promises.
struct EdgeKind {
  u8 from_port = 0, to_port = 0, type = 0;
  static constexpr u8 kProgrammaticPort = 1, kLaunchPort = 2, kProgrammatic = 1;
  bool operator==(const EdgeKind&) const = default;
};

// What a node that is still to come will come after.
struct Dependency {
  std::shared_ptr<Node> node;
  EdgeKind kind;
};

}  // namespace cudasim
