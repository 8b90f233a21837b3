// The PTX versions and architectures that the simulated driver takes. Source: PTX ISA, "Release notes".
#include "common/simulator/ptx/version.hpp"

#include <iterator>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace cudasim::ptx {
namespace {

struct Known {
  std::string_view name;
  Target target;
};
constexpr Known kTargets[] = {
    {"sm_10", {10, 10}},    {"sm_11", {11, 10}},    {"sm_12", {12, 12}},    {"sm_13", {13, 12}},
    {"sm_20", {20, 20}},    {"sm_21", {21, 20}},    {"sm_30", {30, 30}},    {"sm_32", {32, 40}},
    {"sm_35", {35, 31}},    {"sm_37", {37, 41}},    {"sm_50", {50, 40}},    {"sm_52", {52, 41}},
    {"sm_53", {53, 42}},    {"sm_60", {60, 50}},    {"sm_61", {61, 50}},    {"sm_62", {62, 50}},
    {"sm_70", {70, 60}},    {"sm_72", {72, 61}},    {"sm_75", {75, 63}},    {"sm_80", {80, 70}},
    {"sm_86", {86, 71}},    {"sm_87", {87, 74}},    {"sm_88", {88, 90}},    {"sm_89", {89, 78}},
    {"sm_90", {90, 78}},    {"sm_90a", {90, 80}},   {"sm_100", {100, 86}},  {"sm_100f", {100, 88}},
    {"sm_100a", {100, 86}}, {"sm_101", {101, 86}},  {"sm_101f", {101, 88}}, {"sm_101a", {101, 86}},
    {"sm_103", {103, 88}},  {"sm_103f", {103, 88}}, {"sm_103a", {103, 88}}, {"sm_110", {110, 90}},
    {"sm_110f", {110, 90}}, {"sm_110a", {110, 90}}, {"sm_120", {120, 87}},  {"sm_120f", {120, 88}},
    {"sm_120a", {120, 87}}, {"sm_121", {121, 88}},  {"sm_121f", {121, 88}}, {"sm_121a", {121, 88}},
};

// The last minor version of each major one.
constexpr u32 kLastMinor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8};

constexpr Later kLater[] = {
    {".address_size", ".address_size directive", 23, 0},
    {".managed", ".managed", 40, 30},
    {".common", ".common directive", 50, 0},
    {".branchtargets", ".branchtargets directive", 60, 30},
    {".alias", ".alias", 63, 30},
    {".noreturn", ".noreturn", 64, 30},
    {"label:", "Defining labels in .section", 70, 0},
    {"label-label", "labels1 - labels2 expression in .section", 75, 0},
    {"-number", "Negative numbers in dwarf section", 75, 0},
    {"inlined_at", "Line information of inline functions", 70, 0},
    {"mask()", "mask operator in initializer", 71, 0},
    {".explicitcluster", ".explicitcluster", 78, 90},
    {".reqnctapercluster", ".reqnctapercluster", 78, 90},
    {".maxclusterrank", ".maxclusterrank", 78, 90},
    {".unified", ".unified", 80, 90},
    {".b128", "Type .b128", 83, 70},
    {".f16x2", ".f16x2 packed data-type", 0, 53},
    {".abi_preserve", ".abi_preserve", 90, 80},
    {".abi_preserve_control", ".abi_preserve_control", 90, 80},
    {".blocksareclusters", ".blocksareclusters", 90, 90},
};

}  // namespace

u32 newest_ptx() {
#if defined(CUDA_VERSION)
  constexpr u32 major = CUDA_VERSION / 1000, minor = CUDA_VERSION % 1000 / 10;
  if constexpr (major >= 13) return (major - 4) * 10 + minor;
  // CUDA 12: 8.0 and so on, but 12.6 still wrote 8.5.
  return 80 + (minor > 5 ? minor - 1 : minor);
#else
  return 90;
#endif
}

bool is_release(u32 version) {
  const u32 major = version / 10, minor = version % 10;
  return version >= 10 && (major >= std::size(kLastMinor) || minor <= kLastMinor[major]);
}

Target target_named(std::string_view name) {
  for (const Known& each : kTargets) {
    if (name == each.name) return each.target;
  }
  return {};
}

const Later* later(std::string_view word) {
  for (const Later& each : kLater) {
    if (word == each.word) return &each;
  }
  return nullptr;
}

}  // namespace cudasim::ptx
