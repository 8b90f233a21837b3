// Unified memory: one pointer for host and devices. The simulated device reads and writes the host's bytes in place, so
// prefetching and advice move nothing. They are remembered, and can be queried.
#pragma once
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

// A place as cuMemAdvise and its kin name it. The numbers are CUmemLocationType's and CUdevice's.
struct ManagedLocation {
  int type = 0;  // 0: none
  int id = kNone;
  enum : int { kDevice = 1, kHost = 2, kNuma = 3, kNumaHere = 4 };
  static constexpr int kCpu = -1, kNone = -2;
  // As a device number, the older way to write it.
  int number() const { return type == kDevice ? id : type == 0 ? kNone : kCpu; }
  bool operator==(const ManagedLocation& other) const { return type == other.type && id == other.id; }
};
u64 allocate_managed(Context& context, u64 bytes, unsigned flags);

// Throws CUDA_ERROR_INVALID_VALUE unless the range is managed memory.
void require_managed(CUdeviceptr pointer, std::size_t count);
CUresult advise_managed(CUdeviceptr pointer, std::size_t count, CUmem_advise what, ManagedLocation where);
CUresult prefetch_managed(CUdeviceptr pointer, std::size_t count, const ManagedLocation& where, Stream& stream);
CUresult managed_range_attribute(void* data, std::size_t size, int attribute, CUdeviceptr pointer, std::size_t count);

}  // namespace cudasim
