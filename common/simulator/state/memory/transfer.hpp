// Moving bytes: copies of every kind between host and device, and fills, as the driver's structures describe them.
//
// A call checks its ranges at once and makes an Operation; the operation finds the memory again when its turn comes,
// since it may have been freed by then, which is a fault as on a device.
#pragma once
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/names.hpp"
#include "common/simulator/state/streams/stream.hpp"

namespace cudasim {

// What the manual's section "API synchronization behavior" tells apart.
enum class Side : u8 { device, pinned, managed, pageable };

struct Copy {
  Operation operation;  // empty `run`: nothing to do
  Side from = Side::device, to = Side::device;
  u64 bytes = 0;
  bool touches_host() const { return from != Side::device || to != Side::device; }
};

// Checks the copy and makes the operation. Throws CUDA_ERROR_INVALID_VALUE for what the manual forbids and for ranges
// that are not in memory of the stated kind. `label`: the call, for timelines and reports.
// `in_graph`: memory that a graph's launch will allocate counts as there.
Copy make_copy(const CUDA_MEMCPY3D& copy, const char* label, bool in_graph = false);

// A copy of bytes in a row.
struct Linear {
  static CUDA_MEMCPY3D copy(CUmemorytype from, u64 source, CUmemorytype to, u64 target, u64 bytes);
};

struct Fill {
  Operation operation;
  Side target = Side::device;
};

Fill make_fill(CUDA_MEMSET_NODE_PARAMS fill, const char* label, bool in_graph = false);

// True if all of [address, address + size) is mapped in this process. Cheap; a look at the map, not at the memory.
bool host_range_is_mapped(u64 address, u64 size);

}  // namespace cudasim
