// Self-check of 04-kernels/13-occupancy: judges the learner's largest_shared().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

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

  // How many blocks fit, as the driver says.
  int fit(CUfunction kernel, int threads, int bytes) {
    int blocks;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    return blocks;
  }

  // True if this is the largest: so many blocks fit with it, and no longer with a kilobyte more.
  bool largest(CUfunction kernel, int threads, int blocks) {
    const int bytes = largest_shared(kernel, threads, blocks);
    CAPTURE(threads, blocks, bytes);
    CHECK(bytes % 1024 == 0);
    return bytes >= 0 && fit(kernel, threads, bytes) >= blocks && fit(kernel, threads, bytes + 1024) < blocks;
  }
};

}  // namespace

TEST_CASE_METHOD(Asking, "two and four blocks fit, and would not with more") {
  CHECK(largest(plain, 256, 2));
  CHECK(largest(plain, 256, 4));
}

TEST_CASE_METHOD(Asking, "a single block may have more than 48 KiB") { CHECK(largest_shared(plain, 256, 1) > 49152); }

TEST_CASE_METHOD(Asking, "what the kernel has statically is taken off") { CHECK(largest(with_static, 256, 2)); }

TEST_CASE_METHOD(Asking, "more threads than a multiprocessor has never fit") {
  const int threads = device(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  CHECK(largest_shared(plain, 256, threads / 256) >= 0);
  CHECK(largest_shared(plain, 256, threads / 256 + 1) == -1);
}
