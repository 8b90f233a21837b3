// Stream memory operations as work: for the stream's calls and for graph nodes.
#pragma once
#include "common/simulator/state/scheduler.hpp"

namespace cudasim {

// Throws CUDA_ERROR_INVALID_VALUE for what is no operation, CUDA_ERROR_NOT_SUPPORTED for flushing remote writes.
Operation memory_operation(const CUstreamBatchMemOpParams& given, const std::shared_ptr<Health>& health);

}  // namespace cudasim
