// Rejected with: "a folder that the deployment has chosen is used"
// Replaces the value that the deployment has set.
#include "01-driver-init/09-first-seconds/source.hpp"
#include "common/cu.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;

// Creates the folder if necessary. Returns whether files can be written there, which only an attempt can tell: root may
// write where the permissions say no, and nobody may on a read-only file system.
static bool can_write(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path attempt = folder / ("attempt-" + std::to_string(getpid()));
  const bool written = static_cast<bool>(std::ofstream(attempt) << "x" << std::flush);
  fs::remove(attempt, error);
  return written;
}

CUmodule start_service(const Source& source, const std::string& volume, std::string* warning) {
  setenv("CUDA_CACHE_PATH", (volume + "/cache").c_str(), 1);
  const std::string folder = std::getenv("CUDA_CACHE_PATH");
  warning->clear();
  if (!can_write(folder)) *warning = folder + " cannot be written: every start compiles all kernels";

  CU_THROW(cuInit(0));
  CUcontext context;
  CU_THROW(cuDevicePrimaryCtxRetain(&context, 0));
  CU_THROW(cuCtxSetCurrent(context));

  std::vector<std::string> kernels = source.kernels;
  std::sort(kernels.begin(), kernels.end());
  std::string ptx = source.header;
  for (const std::string& kernel : kernels) ptx += kernel;

  CUmodule module;
  CU_THROW(cuModuleLoadData(&module, ptx.c_str()));
  return module;
}
