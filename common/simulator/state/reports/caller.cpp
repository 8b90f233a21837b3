#include "common/simulator/state/reports/caller.hpp"

#include <dlfcn.h>
#include <execinfo.h>

namespace cudasim {

const void* caller() {
  void* frames[24];
  const int count = backtrace(frames, 24);
  Dl_info own{}, info{};
  if (dladdr(reinterpret_cast<const void*>(&caller), &own) == 0) return nullptr;
  for (int i = 0; i < count; ++i) {
    if (dladdr(frames[i], &info) == 0 || info.dli_fbase != own.dli_fbase) return frames[i];
  }
  return nullptr;
}

CodeAddress code_address(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = info.dli_fname;
  return {path.substr(path.rfind('/') + 1), reinterpret_cast<u64>(address) - reinterpret_cast<u64>(info.dli_fbase)};
}

}  // namespace cudasim
