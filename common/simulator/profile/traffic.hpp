// What a warp's access costs a GPU's memory: sectors of global memory, wavefronts of shared memory. The rules are those
// of the CUDA Programming Guide where it has them, else what an H200's profiler has counted for the probes in
// tests/profile.
#pragma once
#include "common/simulator/types.hpp"

#include <cstddef>

namespace cudasim {

// One lane's access of a warp's access.
struct LaneAccess {
  u32 lane = 0, size = 0;  // bytes
  u64 address = 0;
};

constexpr u32 kSector = 32;  // bytes that memory gives at a time

struct GlobalCost {
  u64 sectors = 0;
  u64 bytes = 0;  // requested bytes, each counted once
};
// `changes`: atomically. Lanes that want the same place have to go to its sector one after the other.
GlobalCost global_cost(const LaneAccess* accesses, std::size_t count, bool changes = false);

// Turns that the banks of shared memory take, and how many it would take if no two lanes wanted different words of one
// bank.
struct SharedCost {
  u64 wavefronts = 0, least = 0;
};
enum class SharedAccess : u8 {
  load,
  store,
  atomic,
  counting,  // atomic additions of one without a result: lanes with one address are combined
  matrix,
};
SharedCost shared_cost(const LaneAccess* accesses, std::size_t count, SharedAccess access);

}  // namespace cudasim
