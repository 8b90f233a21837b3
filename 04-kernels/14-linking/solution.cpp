// Link several images into one module.
#include "common/cu.hpp"

#include <string>
#include <vector>

// Links the PTX files and loads the result into the current context; the caller unloads it. If a driver call fails,
// throws cu::Error (CU_THROW) and sets `log` to the linker's error log; otherwise sets it to an empty string. Destroys
// the linker on every path.
CUmodule link_files(const std::vector<std::string>& files, std::string* log) {
  struct Linker {
    CUlinkState handle = nullptr;
    char log[8192] = "";  // must outlive the linker, which may write to it at any time
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[2] = {log, reinterpret_cast<void*>(sizeof log)};  // the linker writes here, too
    ~Linker() {
      if (handle != nullptr) CU_REPORT(cuLinkDestroy(handle));
    }
  };
  Linker linker;
  *log = "";
  try {
    CU_THROW(cuLinkCreate(2, linker.options, linker.values, &linker.handle));
    for (const std::string& file : files) {
      CU_THROW(cuLinkAddFile(linker.handle, CU_JIT_INPUT_PTX, file.c_str(), 0, nullptr, nullptr));
    }
    void* image;
    std::size_t bytes;
    CU_THROW(cuLinkComplete(linker.handle, &image, &bytes));
    CUmodule module;
    CU_THROW(cuModuleLoadData(&module, image));
    return module;
  } catch (const cu::Error&) {
    *log = linker.log;
    throw;
  }
}
