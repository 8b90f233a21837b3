// Rejected with: "PTX for a newer driver is skipped"
// Assumes that PTX runs everywhere. A driver that is older than the PTX rejects it.
#include "common/cu.hpp"

#include <string>
#include <vector>

CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log) {
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  for (const std::string& image : images) {
    char said[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {said, reinterpret_cast<void*>(sizeof said)};
    result = cuModuleLoadDataEx(module, image.c_str(), 2, options, values);
    *log = result == CUDA_ERROR_NO_BINARY_FOR_GPU ? "" : said;
    if (result != CUDA_ERROR_NO_BINARY_FOR_GPU) break;
  }
  return result;
}
