// Driver entry point access: finding a function by its public name and the CUDA version whose form of it is wanted.
#include "common/simulator/api/entry_points.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/reports/caller.hpp"
#include "common/simulator/variables.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cudasim {
namespace {

struct Found {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest form that `version` knows. If per-thread ones are asked for, a name that has such forms has no others.
Found look_up(const char* name, int version, bool per_thread_stream) {
  const auto table = entry_points();
  const auto [first, last] =
      std::equal_range(table.begin(), table.end(), EntryPoint{name, 0, nullptr, nullptr, 0, nullptr},
                       [](const EntryPoint& a, const EntryPoint& b) { return std::strcmp(a.name, b.name) < 0; });
  const bool own =
      per_thread_stream && std::any_of(first, last, [](const EntryPoint& form) { return form.per_thread_address; });
  Found found;
  for (auto form = first; form != last && form->since <= kDriverVersion; ++form) {
    if (own && form->per_thread_address == nullptr) continue;
    if ((own ? form->per_thread_since : form->since) > version) break;
    found = {own ? form->per_thread_address : form->address, CU_GET_PROC_ADDRESS_SUCCESS};
  }
  const bool known = first != last && first->since <= kDriverVersion;
  if (known && found.address == nullptr) found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  return found;
}

Found look_up_checked(const char* name, void** address, int version, cuuint64_t flags) {
  constexpr cuuint64_t kKnown = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  require(name != nullptr && address != nullptr && (flags & ~kKnown) == 0);
  require(version <= kDriverVersion);
  if (version < 0) version = kDriverVersion;  // as driver 580 does
  const Found found = look_up(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
  *address = found.address;
  return found;
}

}  // namespace

CUresult driver::call_cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                          CUdriverProcAddressQueryResult* status) {
  const Found found = look_up_checked(symbol, function, version, flags);
  if (status != nullptr) *status = found.status;
  return CUDA_SUCCESS;
}

// In the first version of the call, an unknown name is an error.
CUresult driver::call_cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  const Found found = look_up_checked(symbol, function, version, flags);
  return found.address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// Undocumented tables for NVIDIA's own libraries: not simulated. Its compilers ask for them, too, and do without.
CUresult driver::call_cuGetExportTable(const void** table, const CUuuid* id) {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  const std::string file = code_address(caller()).file;
  const bool needed = !file.starts_with("libnvrtc") && !file.starts_with("libnvJitLink");
  if (needed && !quiet() && !said.test_and_set()) {
    std::fprintf(
        stderr,
        "cudasim: NVIDIA's CUDA runtime (libcudart, in this program or in a library that it uses) needs tables\n"
        "         of the driver that no manual describes: not simulated. The repository's own runtime does\n"
        "         without. Type `. build/simulator/activate`, and link with nvcc -cudart shared.\n"
        "         Where a project names the library itself, it must be -lcudart, not -lcudart_static (CMake:\n"
        "         CUDA::cudart).\n");
  }
  require(table != nullptr && id != nullptr);
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace cudasim
