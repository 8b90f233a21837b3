// Core dump settings (CUDA Driver API manual, "Coredump Attributes Control API").
#include "common/simulator/state/contexts/coredump.hpp"

#include "common/simulator/api/call.hpp"

#if CUDA_VERSION >= 12010
namespace cudasim {

CUresult driver::call_cuCoredumpGetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
  const auto context = current_context_even_faulted();
  ContextCoredump& own = context->coredump;
  require(attrib != CU_COREDUMP_ENABLE_USER_TRIGGER && attrib != CU_COREDUMP_PIPE);  // the process's only
  const std::scoped_lock lock(own.mutex);
  get_coredump_setting(own.settings, attrib, value, size);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
  require_calls_permitted();
  const std::scoped_lock lock(global_coredump().mutex);
  get_coredump_setting(global_coredump().settings, attrib, value, size);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCoredumpSetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
  const auto context = current_context_even_faulted();
  ContextCoredump& own = context->coredump;
  require(attrib != CU_COREDUMP_ENABLE_USER_TRIGGER && attrib != CU_COREDUMP_PIPE);  // the process's only
  const std::scoped_lock lock(own.mutex);
  set_coredump_setting(own.settings, attrib, value, size);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
  require_calls_permitted();
  const std::scoped_lock lock(global_coredump().mutex);
  set_coredump_setting(global_coredump().settings, attrib, value, size);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
#endif
