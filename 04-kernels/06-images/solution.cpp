// Load the first image that fits this device.
#include "common/cu.hpp"

#include <string>
#include <vector>

// Tries the images in order and loads the first that the driver accepts into `module`. Skips images that are not for
// this device or driver (CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_UNSUPPORTED_PTX_VERSION); any other failure ends the
// search. Returns the last result of the driver, or CUDA_ERROR_NO_BINARY_FOR_GPU if there are no images. Sets `log` to
// the error log of the image that ended the search with an error, and otherwise to an empty string.
CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log) {
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  log->clear();
  for (const std::string& image : images) {
    char messages[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {messages, reinterpret_cast<void*>(sizeof messages)};
    result = cuModuleLoadDataEx(module, image.c_str(), 2, options, values);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) continue;
    *log = messages;
    break;
  }
  return result;
}
