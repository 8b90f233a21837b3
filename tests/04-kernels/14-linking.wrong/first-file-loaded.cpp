// Rejected with: "two files become one module"
// Links all files but discards the result, and loads only the first file.
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
  for (const std::string& file : files) cuLinkAddFile(linker, CU_JIT_INPUT_PTX, file.c_str(), 0, nullptr, nullptr);
  void* image;
  std::size_t bytes;
  cuLinkComplete(linker, &image, &bytes);
  *log = said;
  CU_REPORT(cuLinkDestroy(linker));
  CUmodule module;
  CU_THROW(cuModuleLoad(&module, files[0].c_str()));
  return module;
}
