// Notes on a function's text: the state of resolve_notes.cpp.
#pragma once
#include "common/simulator/ptx/module.hpp"
#include "common/simulator/ptx/notes.hpp"
#include "common/simulator/ptx/slots.hpp"

#include <memory>
#include <vector>

namespace cudasim::ptx {

struct Body;
struct Draft;

struct BodyNotes {
  std::shared_ptr<Notes> notes;  // null: not asked for
  std::vector<u32> read;         // registers that are read, if there are notes
  std::size_t text_at = 0;       // a place in the module's text, and its line
  u32 text_line = 1;
};

void note(const Draft& draft, const Statement& s);
void finish_notes(Body& body, const SlotMap& slots);

}  // namespace cudasim::ptx
