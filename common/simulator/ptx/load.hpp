// From PTX text to a Program: parse, then resolve names to slots, rows to functions, labels to indices.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/ptx/module.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

// What loading needs from the context: memory for the module's variables. The loader asks once for each .global and
// .const variable that has to exist; `place` returns its device address, zero-filled and writable through `write`.
// Throws what the context's allocator throws. Nothing is asked before the whole module has been checked.
struct Placement {
  std::function<u64(const ptx::Variable&)> place;
  std::function<void(u64 address, std::span<const std::byte>)> write;
};

struct Loaded {
  std::shared_ptr<const Program> program;  // null: see errors
  std::vector<ptx::Diagnostic> errors, warnings;
};

// Several parsed modules are linked: externs of one are definitions of another (cuLink*, cuModuleLoad*: one module).
Loaded load(std::span<const ptx::Module> modules, const Placement& placement);

// The error log of cuModuleLoadDataEx, in ptxas's form.
std::string log_text(std::span<const ptx::Diagnostic> diagnostics, bool fatal);

// The first of these errors, for the trace of a failed call: one sentence, and its line with the caret.
std::string reason_text(std::span<const ptx::Diagnostic> errors, std::string_view text);

}  // namespace cudasim
