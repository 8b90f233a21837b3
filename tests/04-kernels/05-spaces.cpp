// Checks the learner's write_variable() (exercise of 04-kernels/05-spaces).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes);

namespace {

struct Loaded {
  cu::Context context;
  cu::Module module{cu::image("check.ptx")};

  // The numbers in counts, as the host reads them.
  std::vector<int> counts() {
    std::vector<int> found(4);
    CUdeviceptr address;
    CU_CHECK(cuModuleGetGlobal(&address, nullptr, module.handle, "counts"));
    CU_CHECK(cuMemcpyDtoH(found.data(), address, 4 * sizeof(int)));
    return found;
  }
};

// What write_variable() throws, or CUDA_SUCCESS.
CUresult error_of(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  try {
    write_variable(module, name, value, bytes);
    return CUDA_SUCCESS;
  } catch (const cu::Error& error) {
    return error.code();
  }
}

const int kNew[8] = {10, 20, 30, 40, 50, 60, 70, 80};

}  // namespace

MAY_BE_REFUSED(cuModuleGetGlobal, (CUdeviceptr * address, std::size_t* bytes, CUmodule module, const char* name),
               (address, bytes, module, name))
MAY_BE_REFUSED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))

TEST_CASE_METHOD(Loaded, "a variable in global memory is written") {
  write_variable(module.handle, "counts", kNew, 4 * sizeof(int));
  CHECK(counts() == std::vector<int>{10, 20, 30, 40});
}

TEST_CASE_METHOD(Loaded, "a kernel reads the new value in constant memory") {
  const float factors[3] = {5, 6, 7};
  write_variable(module.handle, "factors", factors, sizeof factors);
  cu::Memory memory(3 * sizeof(float));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(module.function("use"), 1, 1, 1, 3, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> got(3);
  CU_CHECK(cuMemcpyDtoH(got.data(), memory.address, 3 * sizeof(float)));
  CHECK(got == std::vector<float>{5, 6, 7});
}

TEST_CASE_METHOD(Loaded, "a name that the module does not have is reported") {
  CHECK(error_of(module.handle, "prices", kNew, sizeof(int)) == CUDA_ERROR_NOT_FOUND);
}

TEST_CASE_METHOD(Loaded, "too many bytes are rejected") {
  CHECK(error_of(module.handle, "counts", kNew, 8 * sizeof(int)) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE_METHOD(Loaded, "too few bytes are rejected, and nothing is written") {
  CHECK(error_of(module.handle, "counts", kNew, 2 * sizeof(int)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(counts() == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE_METHOD(Loaded, "every call is checked") {
  const auto solution = [&] { write_variable(module.handle, "counts", kNew, 4 * sizeof(int)); };
  CHECK(ignored_failure({"cuModuleGetGlobal", "cuMemcpyHtoD", "cuMemcpy", "cuMemcpyHtoDAsync"}, solution) == "");
}

// A missing name is not the only reason: a context may be unusable after a fault, or the driver may be shutting down.
TEST_CASE_METHOD(Loaded, "the exception contains the driver's own error code") {
  for (const char* call : {"cuModuleGetGlobal", "cuMemcpyHtoD", "cuMemcpy", "cuMemcpyHtoDAsync"}) {
    const Refusal refusal(call);
    const CUresult thrown = error_of(module.handle, "counts", kNew, 4 * sizeof(int));
    if (!refusal.met()) continue;
    INFO(refusal.message() << " with " << cu::name(kRefused));
    CHECK(thrown == kRefused);
  }
}
