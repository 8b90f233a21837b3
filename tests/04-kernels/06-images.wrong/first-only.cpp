// Rejected with: "machine code for another GPU is skipped"
// Only one image is tried, which works on the machine where it was written.
#include "common/cu.hpp"

#include <string>
#include <vector>

CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log) {
  *log = "";
  if (images.empty()) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  char said[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {said, reinterpret_cast<void*>(sizeof said)};
  const CUresult result = cuModuleLoadDataEx(module, images[0].c_str(), 2, options, values);
  *log = said;
  return result;
}
