// Rejected with: "if the cache cannot be written, the service starts, and the warning names the folder"
// Only asks whether the volume exists. A volume that is mounted read-only exists, too.
#include "01-driver-init/09-first-seconds/source.hpp"
#include "common/cu.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace fs = std::filesystem;

CUmodule start_service(const Source& source, const std::string& volume, std::string* warning) {
  setenv("CUDA_CACHE_PATH", (volume + "/cache").c_str(), 0);  // 0: what the deployment has set stays
  const std::string folder = std::getenv("CUDA_CACHE_PATH");
  warning->clear();
  if (!fs::exists(volume)) *warning = folder + " cannot be written: every start compiles all kernels";

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
