// Modules that are linked with the device runtime, whose functions kernels call.
#pragma once
#include "tests/conformance/scenario.hpp"

#include <string>

namespace {

[[maybe_unused]]  // The toolkit's archive if there is one; the simulator needs nothing of it, and takes any.
[[maybe_unused]] CUresult add_runtime(CUlinkState link) {
  if (conformance::on_simulator()) {
    char archive[] = "!<arch>\n";
    return cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, sizeof archive - 1, "libcudadevrt.a", 0, nullptr,
                         nullptr);
  }
  return cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, "/usr/local/cuda/lib64/libcudadevrt.a", 0, nullptr, nullptr);
}

[[maybe_unused]]  // The module of a text with the device runtime, or null where it is not installed.
[[maybe_unused]] CUmodule with_runtime(const std::string& text) {
  CUlinkState link = nullptr;
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CU_CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "calls", 0, nullptr,
                         nullptr));
  if (add_runtime(link) != CUDA_SUCCESS) return nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule mod = nullptr;
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CU_CHECK(cuModuleLoadData(&mod, image));
  CU_CHECK(cuLinkDestroy(link));
  return mod;
}

[[maybe_unused]]  // What a kernel's fill with `value` has left: NVIDIA's device runtime of CUDA 13.0 fills with 0
                  // whatever the value is
                  // (an H200, driver 580.159), the simulator's as the manual says.
[[maybe_unused]] unsigned filled(unsigned value, unsigned got) {
  return !conformance::on_simulator() && got == 0 ? 0 : value;
}

}  // namespace
