// Which shared variable an address is made of: the state of resolve_origins.cpp.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <vector>

namespace cudasim::ptx {

struct Body;
struct Draft;

// Of a register, in so far as it may hold the address of a shared variable.
struct Definition {
  enum Kind : u8 { of_variable, copy, sum, unknown } kind = unknown;
  u32 reg = 0, variable = 0;
  std::vector<Slot> from;
};

struct Origins {
  std::vector<Definition> definitions;
  std::vector<std::pair<u32, Slot>> accesses;  // statement, base register
};

void note_write(Body& body, Slot slot);
void note_made_of(Body& body, Slot slot, u32 variable);
void note_sum(Body& body, Slot slot, Slot one, Slot other);
void note_origin(const Draft& draft);
void find_origins(Body& body);

}  // namespace cudasim::ptx
