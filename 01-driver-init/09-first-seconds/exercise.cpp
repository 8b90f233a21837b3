// Find and repair the causes of slow starts.
//
// A service calls start_service() when it starts. Each of its lines once seemed a good idea. The people who operate the
// service write:
//
//   "Every restart takes as long as the first start, and the folder on the volume grows with every restart."
//   "We set CUDA_CACHE_PATH in the deployment, to a disk that all replicas share. The service ignores it."
//   "On one cluster, the volume is mounted read-only. Starts are slow there, and no message says why."
//   "A colleague has repaired the restarts. Now some are fast and some are slow. It seems to be a matter of luck."
#include "common/cu.hpp"
#include "source.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

// Starts the service: initializes the driver, makes the primary context of device 0 current, and returns a module with
// all kernels. `volume` is a folder that keeps its files when the service is restarted. If the cache cannot be used,
// the service starts all the same, and *warning says why, with the path of the folder. Otherwise, *warning is empty.
CUmodule start_service(const Source& source, const std::string& volume, std::string* warning) {
  warning->clear();
  CU_THROW(cuInit(0));
  CUcontext context;
  CU_THROW(cuDevicePrimaryCtxRetain(&context, 0));
  CU_THROW(cuCtxSetCurrent(context));

  // Services on the same volume should not disturb each other.
  const std::string process = std::to_string(getpid());
  setenv("CUDA_CACHE_PATH", (volume + "/cache-" + process).c_str(), 1);

  // If this text ends up in a bug report, it should say where it comes from.
  std::string ptx = "// compiled by process " + process + "\n" + source.header;
  for (const std::string& kernel : source.kernels) ptx += kernel;

  CUmodule module;
  CU_THROW(cuModuleLoadData(&module, ptx.c_str()));
  return module;
}
