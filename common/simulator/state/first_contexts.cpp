#include "common/simulator/state/first_contexts.hpp"

namespace cudasim {
namespace {

thread_local u32 wishes = 0;

}  // namespace

FirstMemory::FirstMemory() { ++wishes; }
FirstMemory::~FirstMemory() { --wishes; }
bool FirstMemory::wanted(const Context& context) { return wishes != 0 || context.api_version == kFirstApiVersion; }

void require_first_context() {
  const auto context = current_context();
  require(context->api_version == kFirstApiVersion || lives_context_of(kFirstApiVersion), CUDA_ERROR_INVALID_CONTEXT,
          [] {
            return "this is the function's first version, with pointers of 32 bits: it needs a context that "
                   "cuCtxCreate, the first version, has made";
          });
}

}  // namespace cudasim
