// Checks the learner's largest_shared() (exercise of 04-kernels/18-occupancy).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <string>

int largest_shared(CUfunction kernel, int threads, int blocks);

namespace {

struct Asking {
  cu::Context context;
  cu::Module module{cu::image("check.ptx")};
  CUfunction plain = raised("plain", 0), with_static = raised("with_static", 16384);

  CUfunction raised(const char* name, int static_bytes) {
    const CUfunction kernel = module.function(name);
    const int bytes = device(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) - static_bytes;
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
    return kernel;
  }

  int device(CUdevice_attribute which) {
    int value;
    CU_CHECK(cuDeviceGetAttribute(&value, which, context.device));
    return value;
  }

  // How many blocks fit, according to the driver.
  int fit(CUfunction kernel, int threads, int bytes) {
    int blocks;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    return blocks;
  }

  // Describes what is wrong with the result of largest_shared(); "" if it is correct.
  std::string complaint(CUfunction kernel, int threads, int blocks) {
    const int bytes = largest_shared(kernel, threads, blocks);
    const std::string found = "largest_shared() returned " + std::to_string(bytes) + ", ";
    if (bytes < 0) return found + "but the blocks fit without dynamic shared memory";
    if (bytes % 1024 != 0) return found + "which is not a multiple of 1024";
    const int most = device(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if (bytes > most) return found + "but a block can have at most " + std::to_string(most);
    const int with = fit(kernel, threads, bytes), with_more = fit(kernel, threads, bytes + 1024);
    if (with < blocks)
      return found + "with which only " + std::to_string(with) + " blocks fit, not " + std::to_string(blocks);
    return with_more < blocks ? "" : found + "but just as many blocks fit with 1024 bytes more";
  }
};

}  // namespace

MAY_BE_REFUSED(cuCtxGetDevice, (CUdevice * device), (device))
MAY_BE_REFUSED(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device),
               (value, attribute, device))
MAY_BE_REFUSED(cuFuncGetAttribute, (int* value, CUfunction_attribute attribute, CUfunction kernel),
               (value, attribute, kernel))
MAY_BE_REFUSED(cuOccupancyMaxActiveBlocksPerMultiprocessor,
               (int* blocks, CUfunction kernel, int threads, std::size_t shared_bytes),
               (blocks, kernel, threads, shared_bytes))
MAY_BE_REFUSED(cuOccupancyAvailableDynamicSMemPerBlock,
               (std::size_t* bytes, CUfunction kernel, int blocks, int threads), (bytes, kernel, blocks, threads))

TEST_CASE_METHOD(Asking, "two and four blocks fit, and would not fit with more memory each") {
  CHECK(complaint(plain, 256, 2) == "");
  CHECK(complaint(plain, 256, 4) == "");
}

TEST_CASE_METHOD(Asking, "a single block may have more than 48 KiB") { CHECK(largest_shared(plain, 256, 1) > 49152); }

TEST_CASE_METHOD(Asking, "the kernel's static shared memory is subtracted") {
  CHECK(complaint(with_static, 256, 2) == "");
}

TEST_CASE_METHOD(Asking, "for the largest number of blocks that fit, the result can be 0; for one more, it is -1") {
  for (const CUfunction kernel : {plain, with_static}) {
    const int most = fit(kernel, 64, 0);
    CHECK(complaint(kernel, 64, most) == "");
    CHECK(largest_shared(kernel, 64, most + 1) == -1);
  }
}

TEST_CASE_METHOD(Asking, "more threads than a multiprocessor has do not fit") {
  const int threads = device(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  CHECK(largest_shared(plain, 256, threads / 256) >= 0);
  CHECK(largest_shared(plain, 256, threads / 256 + 1) == -1);
}

TEST_CASE_METHOD(Asking, "every call is checked") {
  CHECK(ignored_failure({"cuCtxGetDevice", "cuDeviceGetAttribute", "cuFuncGetAttribute",
                         "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuOccupancyAvailableDynamicSMemPerBlock"},
                        [&] { largest_shared(plain, 256, 2); }) == "");
}
