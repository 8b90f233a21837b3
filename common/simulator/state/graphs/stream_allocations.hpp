// Allocating and freeing memory in the order of a stream.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"
#include "common/simulator/state/memory/pools.hpp"

namespace cudasim {

// `pool` null: the current one of the stream's device.
CUresult allocate_in_order(CUdeviceptr* pointer, std::size_t bytes, const CUmemoryPool* pool, CUstream handle);
CUresult free_in_stream_order(CUdeviceptr pointer, CUstream handle);

}  // namespace cudasim
