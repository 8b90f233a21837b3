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
  u64 address = 0;              // once it is placed: .global and .const
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

struct Link {
  std::vector<LinkedVariable> variables;
  std::vector<LinkedFunction> functions;
  std::vector<u32> definitions;  // by index in Program::functions: in `functions`
  std::vector<std::unordered_map<std::string_view, Symbol>> symbols;  // by module
  std::vector<Diagnostic> errors, warnings;

  const Symbol* find(u32 module, std::string_view name) const {
    const auto at = symbols[module].find(name);
    return at == symbols[module].end() ? nullptr : &at->second;
  }
};

// The modules must outlive the Link.
Link link(std::span<const Module> modules);

}  // namespace cudasim::ptx
