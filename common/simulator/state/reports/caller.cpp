#include "common/simulator/state/reports/caller.hpp"

#include <dlfcn.h>
#include <execinfo.h>

namespace cudasim {

const void* caller(bool (*passed_over)(const void* address)) {
  void* frames[24];
  const int count = backtrace(frames, 24);
  Dl_info own{}, info{};
  if (dladdr(reinterpret_cast<const void*>(&caller), &own) == 0) return nullptr;
  for (int i = 0; i < count; ++i) {
    const bool own_code = dladdr(frames[i], &info) != 0 && info.dli_fbase == own.dli_fbase;
    if (!own_code && (passed_over == nullptr || !passed_over(frames[i]))) return frames[i];
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
