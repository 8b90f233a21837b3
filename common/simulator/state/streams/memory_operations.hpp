// Stream memory operations as work: for the stream's calls and for graph nodes.
#pragma once
#include "common/simulator/state/streams/scheduler.hpp"

namespace cudasim {

constexpr unsigned kBatchLimit = 256;  // a batch has fewer operations

// For a word of `size` bytes. Both throw what memory_operation does.
Operation wait_operation(u64 address, u64 value, u32 size, unsigned flags, const std::shared_ptr<Health>& health);
Operation write_operation(u64 address, u64 value, u32 size, unsigned flags);

// Throws CUDA_ERROR_INVALID_VALUE for what is no operation, CUDA_ERROR_NOT_SUPPORTED for flushing remote writes.
Operation memory_operation(const CUstreamBatchMemOpParams& given, const std::shared_ptr<Health>& health);

}  // namespace cudasim
