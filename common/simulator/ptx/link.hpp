// Which name means what, across the modules that are loaded together.
#pragma once
#include "common/simulator/ptx/module.hpp"

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudasim::ptx {

// .extern .shared without a size is what the launch asks for. With a size, it is an array like any other: LLVM's front
// ends write those so, and a driver allocates them.
inline bool is_dynamic_shared(const Variable& variable) {
  return variable.space == Space::shared && variable.linkage == Linkage::external && variable.size == 0;
}

struct LinkedVariable {
  const Variable* variable = nullptr;  // the definition; of an extern without one: the declaration
  u32 module = 0;
  bool dynamic_shared = false;  // is_dynamic_shared()
  u64 address = 0;              // once it is placed: .global and .const; .local: in each thread's local memory
};

struct LinkedFunction {
  const Function* function = nullptr;  // the definition, else the declaration
  u32 module = 0;
  bool defined = false;
  u32 index = ~0u;  // in Program::functions, if it is defined
};

struct Symbol {
  enum Kind : u8 { variable, function } kind = variable;
  u32 index = 0;      // of Link::variables or Link::functions
  Position declared{};  // where the module first names it; the text before that does not know it
};

// Of local memory. A thread has less; what is too much for it is seen when the kernel is launched.
constexpr u64 kLargestFrame = u64{1} << 30;

// A register of the module: index in Module::registers, number of %r<n>.
struct SharedRegister {
  u32 reg = 0, number = 0;
  auto operator<=>(const SharedRegister&) const = default;
};

struct Link {
  std::vector<LinkedVariable> variables;
  std::vector<LinkedFunction> functions;
  std::vector<u32> definitions;  // by index in Program::functions: in `functions`
  std::vector<std::unordered_map<std::string_view, Symbol>> symbols;  // by module
  // By index in Program::functions: the registers of its module that a function uses, or one that it calls. A call
  // hands them over and gets them back, so that all functions of a thread see the same values.
  std::vector<std::vector<SharedRegister>> shared_registers;
  u64 thread_bytes = 0;  // of local memory, for the modules' .local variables; at the beginning of each thread's
  std::vector<Diagnostic> errors, warnings;

  const Symbol* find(u32 module, std::string_view name) const {
    const auto at = symbols[module].find(name);
    return at == symbols[module].end() ? nullptr : &at->second;
  }
};

// The modules must outlive the Link.
Link link(std::span<const Module> modules);

// Fills in Link::shared_registers.
void share_registers(std::span<const Module> modules, Link& link);

}  // namespace cudasim::ptx
