#include "common/simulator/exec/occupancy.hpp"

#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"

#include <algorithm>

namespace cudasim {
namespace {

constexpr u32 kRegisterUnit = 256;  // registers are given to a warp in units of this many
constexpr u32 kWarpUnit = 4;        // warps are spread over the four schedulers

}  // namespace

u32 max_threads_per_block(const Kernel& kernel) {
  for (const Dim3& bounds : {kernel.directives.required_threads, kernel.directives.max_threads}) {
    if (bounds.count() != 0) return static_cast<u32>(std::min<u64>(bounds.count(), kMaxThreadsPerBlock));
  }
  return kMaxThreadsPerBlock;
}

u32 blocks_that_fit(const Kernel& kernel, u64 threads, u64 dynamic_shared, const char** limit) {
  const char* ignored = nullptr;
  const char*& lacks = limit != nullptr ? *limit : ignored;
  const u64 warps = (threads + kWarpSize - 1) / kWarpSize;
  u64 blocks = kMaxThreadsPerMultiprocessor / kWarpSize / warps;
  lacks = "the number of threads";
  const auto at_most = [&](u64 count, const char* of) {
    if (count < blocks) blocks = count, lacks = of;
  };
  at_most(kMaxBlocksPerMultiprocessor, "the number of blocks");
  if (kernel.registers != 0) {
    const u64 per_warp = round_up(u64{kernel.registers} * kWarpSize, kRegisterUnit);
    const u64 resident_warps = kRegistersPerMultiprocessor / per_warp / kWarpUnit * kWarpUnit;
    at_most(resident_warps / warps, "registers");
  }
  const u64 shared = round_up(u64{kernel.static_shared} + dynamic_shared + kSharedReserved, kSharedUnit);
  at_most(kSharedPerMultiprocessor / shared, "shared memory");
  return static_cast<u32>(blocks);
}

}  // namespace cudasim
