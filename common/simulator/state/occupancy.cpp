#include "common/simulator/state/occupancy.hpp"

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

u32 blocks_per_multiprocessor(const Function& function, u64 threads, u64 dynamic_shared) {
  return blocks_per_multiprocessor(*function.kernel, function.current_settings(), threads, dynamic_shared);
}

u32 blocks_per_multiprocessor(const Kernel& kernel, const FunctionSettings& settings, u64 threads, u64 dynamic_shared) {
  if (threads == 0 || threads > max_threads_per_block(kernel)) return 0;
  if (dynamic_shared > static_cast<u64>(settings.max_dynamic_shared)) return 0;
  return blocks_that_fit(kernel, threads, dynamic_shared);
}

}  // namespace cudasim
