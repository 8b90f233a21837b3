// What the cases about graphs share.
#pragma once
#include "tests/conformance/scenario.hpp"

namespace {

// The kernel `inc` adds one to the module's `counter` for each thread.
struct Counter {
  CUdeviceptr address = 0;
  explicit Counter(const conformance::Module& F) {
    const int zero = 0;
    CU_CHECK(cuModuleGetGlobal(&address, nullptr, F.mod, "counter"));
    CU_CHECK(cuMemcpyHtoD(address, &zero, 4));
  }
  int value() const {
    int v = -1;
    CU_CHECK(cuMemcpyDtoH(&v, address, 4));
    return v;
  }
};

[[maybe_unused]] CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f, unsigned blocks, unsigned threads) {
  CUDA_KERNEL_NODE_PARAMS kp{};
  kp.func = f;
  kp.gridDimX = blocks;
  kp.gridDimY = kp.gridDimZ = 1;
  kp.blockDimX = threads;
  kp.blockDimY = kp.blockDimZ = 1;
  return kp;
}

}  // namespace
