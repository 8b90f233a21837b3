#include "common/simulator/state/contexts/first_contexts.hpp"

namespace cudasim {

void require_first_context() {
  require(is_first(*current_context()), CUDA_ERROR_INVALID_CONTEXT, [] {
    return "this is the function's first version, with pointers of 32 bits: it needs a context that "
           "cuCtxCreate, the first version, has made";
  });
}

void require_no_first_context() {
  const auto context = current_context_if_any();
  require(context == nullptr || !is_first(*context), CUDA_ERROR_INVALID_CONTEXT, [] {
    return "the current context was made by the first version of cuCtxCreate, and its pointers have 32 bits: it needs "
           "the function's first version, if there is one";
  });
}

}  // namespace cudasim
