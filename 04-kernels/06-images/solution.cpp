// Load the first image that this device takes.
#include "common/cu.hpp"

#include <string>
#include <vector>

// Tries the images in turn, and loads the first that the driver takes into `module`. Passes over those that are not for
// this device or this driver (CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_UNSUPPORTED_PTX_VERSION); any other failure ends
// the search. Returns the driver's last answer; CUDA_ERROR_NO_BINARY_FOR_GPU if there are no images. `log` becomes what
// the driver's compiler said about the image that ended the search with an error, else empty.
CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log) {
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  log->clear();
  for (const std::string& image : images) {
    char said[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {said, reinterpret_cast<void*>(sizeof said)};
    result = cuModuleLoadDataEx(module, image.c_str(), 2, options, values);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) continue;
    *log = said;
    break;
  }
  return result;
}
