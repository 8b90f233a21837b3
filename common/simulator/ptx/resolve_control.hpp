// Branches, returns and calls.
#pragma once
#include "common/simulator/ptx/draft.hpp"

namespace cudasim::ptx {

void branch(const Draft& draft, const Statement& s);
void branch_indexed(const Draft& draft, const Statement& s);
void leave(const Draft& draft, const Statement& s);
void call(const Draft& draft, const Statement& s);

// The statement that a label stands before.
u32 label(const Draft& draft, const Operand& operand);
// Remembers what not every call may pass: see Loader::check_conventions().
void note_narrow(Body& body, const std::vector<Parameter>& results, const std::vector<Parameter>& parameters,
                 Position at);

}  // namespace cudasim::ptx
