// Handlers that the resolver emits without a row: addresses of variables in the frame and in shared memory.
#include "common/simulator/exec/pseudo.hpp"

#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/grid.hpp"

namespace cudasim {
namespace {

template <class T>
void fill(Warp& warp, Slot slot, u64 value) {
  T* d = warp.out<T>(slot);
  const T v = static_cast<T>(value);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = v; });
}

template <class T>
void local_address(Warp& warp, const Instruction& i) {
  fill<T>(warp, i.slot[0], warp.frame->local_base + static_cast<u64>(i.offset));
}

template <class T>
void shared_address(Warp& warp, const Instruction& i) {
  const auto& offsets = warp.block->grid->kernel.shared_offset;
  const auto found = offsets.find(i.target);
  if (found == offsets.end()) {
    throw Fault{.kind = FaultKind::illegal_address,
                .what = "a shared variable that the kernel has no memory for",
                .lane = static_cast<u32>(__builtin_ctz(warp.mask))};
  }
  fill<T>(warp, i.slot[0], found->second + static_cast<u64>(i.offset));
}

}  // namespace

Handler local_address_handler(u32 bytes) {
  return bytes == 8 ? local_address<u64> : bytes == 4 ? local_address<u32> : nullptr;
}

Handler shared_address_handler(u32 bytes) {
  return bytes == 8 ? shared_address<u64> : bytes == 4 ? shared_address<u32> : nullptr;
}

}  // namespace cudasim
