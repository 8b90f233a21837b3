// Linking (CUDA Driver API manual, "Module Management": cuLink*). PTX only: what comes out holds the texts that went
// in, checked together; loading it links them.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/launches/device_runtime.hpp"
#include "common/simulator/state/linking/grid_synchronization.hpp"
#include "common/simulator/state/modules/image.hpp"

namespace cudasim {

struct Linker {
  std::mutex mutex;
  JitOptions options;  // its buffers are the program's, until cuLinkDestroy
  Texts texts;
  std::vector<std::string> names;  // of the texts, for the log
  std::string image;               // of cuLinkComplete
  bool complete = false;
  CUresult failed = CUDA_SUCCESS;  // why something could not be added
  bool archive = false;            // one was added
};
Registry<Linker, CUlinkState>& linkers();
CUresult create_linker(unsigned count, CUjit_option* options, void** values, CUlinkState* out);
std::shared_ptr<Linker> get_linker(CUlinkState handle);

// Throws for texts that contradict each other, with a linker's messages.
[[noreturn]] void reject_link(Linker& linker, const std::vector<ptx::Diagnostic>& errors);

// Adds the functions of the device runtime that the link lacks.
void add_device_runtime(Linker& linker);
CUresult link_data(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count,
                   CUjit_option* options, void** values);
CUresult link_file(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
                   void** values);

}  // namespace cudasim
