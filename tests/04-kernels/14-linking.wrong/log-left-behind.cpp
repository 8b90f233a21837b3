// Rejected with: "the log names the undefined function"
// The linker fills its log buffer, but the log is not passed on.
#include "common/cu.hpp"

#include <string>
#include <vector>

CUmodule link_files(const std::vector<std::string>& files, std::string* log) {
  struct Linker {
    CUlinkState handle = nullptr;
    char said[8192] = "";
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[2] = {said, reinterpret_cast<void*>(sizeof said)};
    ~Linker() {
      if (handle != nullptr) CU_REPORT(cuLinkDestroy(handle));
    }
  };
  Linker linker;
  *log = "";
  CU_THROW(cuLinkCreate(2, linker.options, linker.values, &linker.handle));
  for (const std::string& file : files)
    CU_THROW(cuLinkAddFile(linker.handle, CU_JIT_INPUT_PTX, file.c_str(), 0, nullptr, nullptr));
  void* image;
  std::size_t bytes;
  CU_THROW(cuLinkComplete(linker.handle, &image, &bytes));
  CUmodule module;
  CU_THROW(cuModuleLoadData(&module, image));
  return module;
}
