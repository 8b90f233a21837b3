// Checks the learner's run_one_thread() (exercise of 04-kernels/01-first-launch).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <string>

void run_one_thread(const std::string& image, const char* kernel, CUdeviceptr argument);

namespace {

const std::string kImage = cu::image("check.ptx");  // from 01-first-launch.cu

// A context, and one int on the device.
struct Number {
  cu::Context context;
  cu::Memory memory{sizeof(int)};
  Number() {
    const int twenty = 20;
    CU_CHECK(cuMemcpyHtoD(memory.address, &twenty, sizeof twenty));
  }
  int get() {
    int number;
    CU_CHECK(cuMemcpyDtoH(&number, memory.address, sizeof number));
    return number;
  }
};

int loaded = 0, unloaded = 0;  // modules

CUresult counted(CUresult result) {
  loaded += result == CUDA_SUCCESS;
  return result;
}

}  // namespace

// The solution's calls come through these functions.
CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* file) {
  return Refusal::meets("cuModuleLoad") ? kRefused : counted(DRIVERS(cuModuleLoad)(module, file));
}

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  return Refusal::meets("cuModuleLoadData") ? kRefused : counted(DRIVERS(cuModuleLoadData)(module, image));
}

MAY_BE_REFUSED(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name),
               (function, module, name))
MAY_BE_REFUSED(cuLaunchKernel,
               (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,
                CUstream stream, void** arguments, void** extra),
               (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments,
                extra))
MAY_BE_REFUSED(cuLaunchKernelEx, (const CUlaunchConfig* config, CUfunction kernel, void** arguments, void** extra),
               (config, kernel, arguments, extra))
MAY_BE_REFUSED(cuCtxSynchronize, (), ())
MAY_BE_REFUSED(cuStreamSynchronize, (CUstream stream), (stream))

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  ++unloaded;
  return DRIVERS(cuModuleUnload)(module);
}

TEST_CASE_METHOD(Number, "exactly one thread runs, once") {
  run_one_thread(kImage, "increment", memory.address);
  CHECK(get() == 21);
}

TEST_CASE_METHOD(Number, "the kernel is found by its name") {
  run_one_thread(kImage, "twice", memory.address);
  CHECK(get() == 40);
}

TEST_CASE_METHOD(Number, "the thread has finished when the function returns") {
  run_one_thread(kImage, "count", memory.address);
  CHECK(cuStreamQuery(nullptr) == CUDA_SUCCESS);
  CHECK(get() == 20000000);
}

TEST_CASE_METHOD(Number, "a missing kernel is reported") {
  CHECK_THROWS_AS(run_one_thread(kImage, "thrice", memory.address), cu::Error);
}

TEST_CASE_METHOD(Number, "a missing kernel leaves no module loaded") {
  loaded = unloaded = 0;
  CHECK_THROWS_AS(run_one_thread(kImage, "thrice", memory.address), cu::Error);
  CHECK(unloaded == loaded);
}

TEST_CASE_METHOD(Number, "the module's memory is released") {
  run_one_thread(kImage, "first_of_large", memory.address);  // the first launch allocates the driver's own buffers
  const std::size_t before = free_bytes();
  run_one_thread(kImage, "first_of_large", memory.address);
  CHECK(free_bytes() + (32 << 20) > before);  // not exactly equal: the driver may keep some memory for the next module
}

TEST_CASE_METHOD(Number, "a missing image is reported") {
  CHECK_THROWS_AS(run_one_thread(kImage + ".nope", "increment", memory.address), cu::Error);
}

TEST_CASE_METHOD(Number, "every call is checked, and no module stays loaded") {
  loaded = unloaded = 0;
  CHECK(ignored_failure({"cuModuleLoad", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
                         "cuLaunchKernelEx", "cuCtxSynchronize", "cuStreamSynchronize"},
                        [&] { run_one_thread(kImage, "increment", memory.address); }) == "");
  CHECK(unloaded == loaded);
}

// This case comes last, because the context does not survive it.
TEST_CASE_METHOD(cu::Context, "a fault of the thread is reported") {
  CHECK_THROWS_AS(run_one_thread(kImage, "increment", CUdeviceptr{0}), cu::Error);
}
