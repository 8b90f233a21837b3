// Contexts of the first version of cuCtxCreate, whose device memory is below 4 GiB. Driver 580 keeps the two kinds of
// context apart: while one of them lives on a device, none of the other kind can be made there, and a function that
// deals with memory serves one kind only.
#pragma once
#include "common/simulator/state/contexts/context.hpp"

namespace cudasim {

constexpr u32 kFirstApiVersion = 3010, kSecondApiVersion = 3020;

inline bool is_first(const Context& context) { return context.api_version == kFirstApiVersion; }

// The current context, or none, must be of the first version, or must not be; else throws CUDA_ERROR_INVALID_CONTEXT.
void require_first_context();
void require_no_first_context();

}  // namespace cudasim
