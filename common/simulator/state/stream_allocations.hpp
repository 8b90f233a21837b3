// Allocating and freeing memory in the order of a stream.
#pragma once
#include "common/simulator/state/capture.hpp"
#include "common/simulator/state/context.hpp"
#include "common/simulator/state/driver.hpp"
#include "common/simulator/state/pools.hpp"

namespace cudasim {

// `pool` null: the current one of the stream's device.
CUresult allocate_in_order(CUdeviceptr* pointer, std::size_t bytes, const CUmemoryPool* pool, CUstream handle);
CUresult free_in_stream_order(CUdeviceptr pointer, CUstream handle);

}  // namespace cudasim
