// Self-check of 04-kernels/01-first-launch: judges the learner's run_one_thread().
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

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* file) {
  ++loaded;
  return DRIVERS(cuModuleLoad)(module, file);
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  ++unloaded;
  return DRIVERS(cuModuleUnload)(module);
}

TEST_CASE_METHOD(Number, "one thread has run, once") {
  run_one_thread(kImage, "increment", memory.address);
  CHECK(get() == 21);
}

TEST_CASE_METHOD(Number, "the kernel is found by its name") {
  run_one_thread(kImage, "twice", memory.address);
  CHECK(get() == 40);
}

TEST_CASE_METHOD(Number, "nothing is running any more when the function returns") {
  run_one_thread(kImage, "count", memory.address);
  CHECK(cuStreamQuery(nullptr) == CUDA_SUCCESS);
  CHECK(get() == 20000000);
}

TEST_CASE_METHOD(Number, "a kernel that is not there is reported") {
  CHECK_THROWS_AS(run_one_thread(kImage, "thrice", memory.address), cu::Error);
}

TEST_CASE_METHOD(Number, "a kernel that is not there leaves no module behind") {
  loaded = unloaded = 0;
  CHECK_THROWS_AS(run_one_thread(kImage, "thrice", memory.address), cu::Error);
  CHECK(unloaded == loaded);
}

TEST_CASE_METHOD(Number, "the module's memory is given back") {
  run_one_thread(kImage, "first_of_large", memory.address);  // the driver's own buffers are made by the first launch
  const std::size_t before = free_bytes();
  run_one_thread(kImage, "first_of_large", memory.address);
  CHECK(free_bytes() + (32 << 20) > before);  // not to the byte: the driver may keep some for the next module
}

// The last one: the context does not survive it.
TEST_CASE_METHOD(cu::Context, "a fault of the thread is reported") {
  CHECK_THROWS_AS(run_one_thread(kImage, "increment", CUdeviceptr{0}), cu::Error);
}
