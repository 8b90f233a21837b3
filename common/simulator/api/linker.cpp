// Linking (CUDA Driver API manual, "Module Management": cuLink*).
#include "common/simulator/state/linking/linker.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/launches/device_runtime.hpp"
#include "common/simulator/state/linking/grid_synchronization.hpp"
#include "common/simulator/state/modules/image.hpp"

namespace cudasim {

CUresult driver::call_cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues,
                                   CUlinkState* stateOut) {
  return create_linker(numOptions, options, optionValues, stateOut);
}

CUresult driver::call_cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options, void** optionValues,
                                      CUlinkState* stateOut) {
  return create_linker(numOptions, options, optionValues, stateOut);
}

CUresult driver::call_cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                                    unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return link_data(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult driver::call_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                                       const char* name, unsigned int numOptions, CUjit_option* options,
                                       void** optionValues) {
  return link_data(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult driver::call_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                                    CUjit_option* options, void** optionValues) {
  return link_file(state, type, path, numOptions, options, optionValues);
}

CUresult driver::call_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path,
                                       unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return link_file(state, type, path, numOptions, options, optionValues);
}

// The image belongs to the linker and goes with it.
CUresult driver::call_cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
  const auto linker = get_linker(state);
  require(cubinOut != nullptr);
  const std::scoped_lock lock(linker->mutex);
  require(!linker->complete, CUDA_ERROR_INVALID_HANDLE);
  if (linker->failed != CUDA_SUCCESS) fail(linker->failed, "an earlier input was rejected");
  add_device_runtime(*linker);
  if (!linker->texts.empty()) {
    if (const auto errors = link_errors(linker->texts); !errors.empty()) reject_link(*linker, errors);
    check_ptx(linker->texts, linker->options, false);
  }
  linker->image = linked_image(linker->texts, linker->options.max_registers());
  linker->complete = true;
  *cubinOut = linker->image.data();
  if (sizeOut != nullptr) *sizeOut = linker->image.size() + 1;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLinkDestroy(CUlinkState state) {
  require_calls_permitted();
  return linkers().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace cudasim
