// Rejected with: "the linker is destroyed after a success"
// The module is loaded, but the linker and its copy of the image are never released.
#include "common/cu.hpp"

#include <string>
#include <vector>

CUmodule link_files(const std::vector<std::string>& files, std::string* log) {
  char said[8192] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {said, reinterpret_cast<void*>(sizeof said)};
  *log = "";
  CUlinkState linker;
  CU_THROW(cuLinkCreate(2, options, values, &linker));
  for (const std::string& file : files)
    CU_THROW(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, file.c_str(), 0, nullptr, nullptr));
  void* image;
  std::size_t bytes;
  const CUresult result = cuLinkComplete(linker, &image, &bytes);
  *log = result == CUDA_SUCCESS ? "" : said;
  CU_THROW(result);
  CUmodule module;
  CU_THROW(cuModuleLoadData(&module, image));
  return module;
}
