// The named sets of alternatives that rows may write for a modifier: `.rnd` for `.rn|rz|rm|rp`. Names and members are
// the PTX manual's. A set's name must not be a modifier itself (the test of the table looks).
#pragma once
#include <array>
#include <string_view>

namespace cudasim {

struct ModifierSet {
  std::string_view name, members;
};

inline constexpr ModifierSet kSets[] = {
    // Types
    {"int", "u16|u32|u64|s16|s32|s64"},
    {"integer", "u8|u16|u32|u64|s8|s16|s32|s64"},
    // Rounding
    {"rnd", "rn|rz|rm|rp"},
    {"irnd", "rni|rzi|rmi|rpi"},
    // Comparison
    {"cmp_eq", "eq|ne"},
    {"cmp", "eq|ne|lt|le|gt|ge"},
    {"cmp_unsigned", "lo|ls|hi|hs"},
    {"cmp_float", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"bool", "and|or|xor"},
    // Memory
    {"vec", "v2|v4"},
    {"scope", "cta|cluster|gpu|sys"},
    {"sem", "relaxed|acquire|release|acq_rel"},
};

// Modifiers that are younger than the instructions they may be on, and what a compiler calls them.
struct Feature {
  std::string_view modifier;
  const char* name;
  unsigned ptx, target;  // the first that have it, as in Row
};
inline constexpr Feature kFeatures[] = {
    {"shared::cta", "::cta", 78, 30},      {"shared::cluster", "::cluster", 78, 90},
    {"cluster", ".cluster scope", 78, 90}, {"param::entry", "::entry", 83, 30},
    {"param::func", "::func", 83, 30},
};

}  // namespace cudasim
