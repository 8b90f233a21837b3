#include "common/simulator/ptx/notes.hpp"

#include "common/simulator/isa/row.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace cudasim {
namespace {

using Modifiers = std::vector<std::string>;

bool any_of(const Modifiers& modifiers, std::initializer_list<std::string_view> wanted) {
  return std::any_of(modifiers.begin(), modifiers.end(),
                     [&](const std::string& m) { return std::find(wanted.begin(), wanted.end(), m) != wanted.end(); });
}

enum Does { loads, stores, changes };

Class memory_class(const Modifiers& modifiers, Does does) {
  const auto pick = [&](Class load, Class store, Class change) {
    return does == loads ? load : does == stores ? store : change;
  };
  if (any_of(modifiers, {"global"})) return pick(Class::load_global, Class::store_global, Class::atomic_global);
  if (any_of(modifiers, {"shared", "shared::cta"}))
    return pick(Class::load_shared, Class::store_shared, Class::atomic_shared);
  if (any_of(modifiers, {"local"})) return does == loads ? Class::load_local : Class::store_local;
  // The parameters of calls are variables of the caller's or the callee's.
  if (any_of(modifiers, {"const", "param", "param::entry", "param::func"}))
    return does == loads ? Class::load_constant : Class::move;
  return Class::memory_other;
}

}  // namespace

const char* name(Class c) {
  constexpr std::array<const char*, kClasses> kNames = {
      "integer",     "floating", "convert",   "compare",   "move",         "control",  "warp",      "barrier",
      "matrix",      "texture",  "ld.global", "st.global", "atom.global",  "cp.async", "ld.shared", "st.shared",
      "atom.shared", "ld.local", "st.local",  "ld.const",  "other memory", "other",
  };
  return kNames[static_cast<u32>(c)];
}

Class class_of(const Row* row, const Modifiers& modifiers) {
  if (row == nullptr) return Class::control;
  switch (const Class kind = own_class(*row)) {
    case Class::load_global: return memory_class(modifiers, loads);
    case Class::store_global: return memory_class(modifiers, stores);
    case Class::atomic_global: return memory_class(modifiers, changes);
    default: return kind;
  }
}

u32 operand_bytes(std::string_view opcode, const Modifiers& modifiers, bool a_in_registers) {
  if (opcode != "wgmma" || !any_of(modifiers, {"mma_async"})) return 0;
  constexpr u32 kDepth = 32;  // bytes of k, whatever the type
  u32 columns = 0;
  for (const std::string& word : modifiers) {
    if (word.starts_with("m64n")) columns = static_cast<u32>(std::strtoul(word.c_str() + 4, nullptr, 10));
  }
  return (a_in_registers ? 0 : 16 * kDepth) + columns * kDepth / 4;
}

}  // namespace cudasim
