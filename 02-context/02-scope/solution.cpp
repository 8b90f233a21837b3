// Device memory with several owners, which also keep its context alive.
#include "common/cu.hpp"

#include <memory>

// Allocates `bytes` bytes in `context`, whichever context is current. *share(...) is the address. The caller can copy
// the returned pointer. When the last copy is destroyed, on whatever thread, the memory is freed with its context
// current. Until then the context exists, even if it has no other owner. Neither the function nor the deleter changes
// the calling thread's context stack. A failed allocation throws cu::Error (CU_THROW). The deleter must not throw.
std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  const cu::Current in(context->handle);
  auto memory = std::make_unique<cu::Memory>(bytes);  // freed if one of the lines below throws
  const auto release = [context](cu::Memory* last) {  // the captured copy keeps the context alive
    try {
      const cu::Current in_its_context(context->handle);
      *last = cu::Memory();             // frees the memory
    } catch (const cu::Error& error) {  // from cu::Current; the memory will be released with the context
      std::fprintf(stderr, "%s\n", error.what());
      last->address = 0;
    }
    delete last;
  };
  const std::shared_ptr<cu::Memory> owner(memory.release(), release);
  return {owner, &owner->address};
}
