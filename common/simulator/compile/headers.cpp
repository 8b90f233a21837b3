// The headers that generated code includes, as text in this library: the machine that compiles a kernel need not have
// the simulator's sources. The Makefile knows that this file depends on them.
#include "common/simulator/compile/build.hpp"

#include <string_view>

// clang-format off
#define CUDASIM_HEADERS(f)                                                                                             \
  f(words, "words.hpp") f(view, "memory/view.hpp") f(registers, "exec/registers.hpp") f(compiled, "exec/compiled.hpp") \
  f(functions, "isa/functions.hpp") f(values, "isa/values.hpp") f(floats, "isa/floats.hpp") f(integers, "isa/integers.hpp") f(logic, "isa/logic.hpp")    \
  f(operations, "isa/float_operations.hpp") f(comparison, "isa/comparison.hpp")                                        \
  f(conversions, "isa/conversions.hpp") f(support, "compile/support.hpp")
#define CUDASIM_EMBED(name, path)                                                                               \
  asm(".section .rodata\n.globl cudasim_header_" #name "\n.hidden cudasim_header_" #name "\n"                 \
      "cudasim_header_" #name ": .incbin \"common/simulator/" path "\"\n.byte 0\n.previous\n");               \
  extern "C" const char cudasim_header_##name[];
// clang-format on
CUDASIM_HEADERS(CUDASIM_EMBED)
#undef CUDASIM_EMBED

namespace cudasim::compile {
namespace {

// Without what the joined text does not need: it is included once, and has everything before it that it includes.
void append(std::string& all, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (!line.starts_with("#pragma once") && !line.starts_with("#include \"common/")) all += line;
    text.remove_prefix(end);
  }
}

}  // namespace

const std::string& headers() {
  static const std::string& joined = *new std::string([] {
    std::string all = "#pragma once\n";
#define CUDASIM_APPEND(name, path) append(all, cudasim_header_##name);
    CUDASIM_HEADERS(CUDASIM_APPEND)
#undef CUDASIM_APPEND
    return all;
  }());
  return joined;
}

}  // namespace cudasim::compile
