// The forms of mov that are more than a copy, and what need not run at all: the state of resolve_moves.cpp.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/ptx/module.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cudasim::ptx {

struct Body;
struct Draft;

struct Moves {
  std::unordered_map<std::string_view, u32> writes;    // statements of an entry function that write to this name
  std::unordered_set<std::string_view> of_parameters;  // registers that hold a parameter and never anything else
  std::vector<std::pair<u32, Slot>> of_launch;         // registers that are, all the time, a constant of the launch
  std::vector<std::pair<u32, Code::Index>> of_block;   // registers that are, all the time, a %tid or a %ctaid
};

// Before the first statement.
void count_writes(Body& body);
// Each returns whether the statement is done.
bool special_mov(Draft& draft, const Statement& s);
bool is_known_before(const Draft& draft, const Statement& s, const Match& found);
bool renames(const Draft& draft, const Statement& s);

bool loads_parameter(const Body& body, const Statement& s);

}  // namespace cudasim::ptx
