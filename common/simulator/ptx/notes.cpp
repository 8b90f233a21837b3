#include "common/simulator/ptx/notes.hpp"

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

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> wanted) {
  return std::find(wanted.begin(), wanted.end(), opcode) != wanted.end();
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

bool is_floating(const Modifiers& modifiers) {
  return any_of(modifiers, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"});
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

Class class_of(std::string_view opcode, const Modifiers& modifiers) {
  if (opcode == "ld" || opcode == "ldu") return memory_class(modifiers, loads);
  if (opcode == "st") return memory_class(modifiers, stores);
  if (opcode == "atom" || opcode == "red") return memory_class(modifiers, changes);
  if (opcode == "cp") {
    const bool bulk = any_of(modifiers, {"bulk"}),
               waits = any_of(modifiers, {"commit_group", "wait_group", "wait_all"});
    return waits ? Class::barrier : bulk ? Class::memory_other : Class::copy_async;
  }
  if (is_one_of(opcode, {"bra", "brx", "call", "ret", "exit", "trap", "brkpt"})) return Class::control;
  if (is_one_of(opcode, {"setp", "set", "selp", "slct", "testp"})) return Class::compare;
  if (opcode == "cvt") return Class::convert;
  if (is_one_of(opcode, {"mov", "cvta", "isspacep", "mapa", "getctarank", "prmt"})) return Class::move;
  if (is_one_of(opcode, {"shfl", "vote", "match", "redux", "activemask", "elect"})) return Class::warp;
  if (is_one_of(opcode, {"bar", "barrier", "membar", "fence", "mbarrier", "nanosleep", "griddepcontrol"}))
    return Class::barrier;
  if (is_one_of(opcode, {"mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix"})) return Class::matrix;
  if (is_one_of(opcode, {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})) return Class::texture;
  if (is_one_of(opcode, {"prefetch", "prefetchu", "applypriority", "discard", "createpolicy", "multimem"}))
    return Class::memory_other;
  if (is_one_of(opcode, {"and",  "or",  "xor", "not", "cnot", "lop3",  "shl",  "shr",  "shf", "popc",  "clz",  "bfind",
                         "brev", "bfe", "bfi", "fns", "bmsk", "szext", "dp2a", "dp4a", "sad", "mad24", "mul24"}))
    return Class::integer;
  if (is_floating(modifiers)) return Class::floating;
  if (is_one_of(opcode,
                {"add", "sub", "mul", "mad", "div", "rem", "abs", "neg", "min", "max", "addc", "subc", "madc"}) ||
      opcode.starts_with("v"))
    return Class::integer;
  return Class::other;
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
