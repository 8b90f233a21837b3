// Checks the learner's run_in_place() (exercise of 03-memory/07-mapped).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"
#include "tests/numbers.hpp"

#include <chrono>
#include <thread>
#include <vector>

void run_in_place(CUfunction kernel, float* numbers, int n);

namespace {

constexpr int kNumbers = 10000;
int of_device = 0, of_host = 0;  // allocations so far

bool page_locked(const void* address) {
  unsigned int type = 0;
  const auto asked = reinterpret_cast<CUdeviceptr>(address);
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked) == CUDA_SUCCESS;
}

struct Squares : cu::Context {
  cu::Module module{cu::image("kernels.ptx")};
  CUfunction square = module.function("square");
};

void fill(float* numbers) {
  for (int i = 0; i < kNumbers; ++i) numbers[i] = static_cast<float>(i % 1000);
}

// Describes the first number that is not a square, or returns "".
std::string squares(const float* numbers) {
  return judged("numbers", numbers, kNumbers,
                [](int i) { return static_cast<float>(i % 1000) * static_cast<float>(i % 1000); });
}

void CUDA_CB sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  ++of_device;
  return DRIVERS(cuMemAlloc)(address, bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  ++of_device;
  return DRIVERS(cuMemAllocAsync)(address, bytes, stream);
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned int flags) {
  ++of_device;
  return DRIVERS(cuMemAllocManaged)(address, bytes, flags);
}

CUresult cuMemAllocHost(void** address, std::size_t bytes) {
  ++of_host;
  return DRIVERS(cuMemAllocHost)(address, bytes);
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned int flags) {
  ++of_host;
  return DRIVERS(cuMemHostAlloc)(address, bytes, flags);
}

MAY_BE_REFUSED(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr address),
               (value, attribute, address))
MAY_BE_REFUSED(cuMemHostGetFlags, (unsigned int* flags, void* memory), (flags, memory))
MAY_BE_REFUSED(cuMemHostRegister, (void* memory, std::size_t bytes, unsigned int flags), (memory, bytes, flags))
MAY_BE_REFUSED(cuMemHostGetDevicePointer, (CUdeviceptr * address, void* memory, unsigned int flags),
               (address, memory, flags))
MAY_BE_REFUSED(cuLaunchKernel,
               (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,
                CUstream stream, void** arguments, void** extra),
               (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments,
                extra))
MAY_BE_REFUSED(cuCtxSynchronize, (), ())
MAY_BE_REFUSED(cuStreamSynchronize, (CUstream stream), (stream))

TEST_CASE_METHOD(Squares, "pinned numbers are squared") {
  cu::Pinned pinned(kNumbers * sizeof(float));
  fill(pinned.as<float>());
  run_in_place(square, pinned.as<float>(), kNumbers);
  CHECK(squares(pinned.as<float>()) == kAllRight);
}

TEST_CASE_METHOD(Squares, "pinned memory stays pinned, whether allocated or registered") {
  cu::Pinned pinned(kNumbers * sizeof(float));
  fill(pinned.as<float>());
  run_in_place(square, pinned.as<float>(), kNumbers);
  CHECK(page_locked(pinned.address));
  std::vector<float> registered(kNumbers);
  fill(registered.data());
  CU_CHECK(cuMemHostRegister(registered.data(), kNumbers * sizeof(float), 0));
  run_in_place(square, registered.data(), kNumbers);
  CHECK(squares(registered.data()) == kAllRight);
  CHECK(page_locked(registered.data()));
  CU_CHECK(cuMemHostUnregister(registered.data()));
}

TEST_CASE_METHOD(Squares, "the numbers of a vector are squared") {
  std::vector<float> numbers(kNumbers);
  fill(numbers.data());
  run_in_place(square, numbers.data(), kNumbers);
  CHECK(squares(numbers.data()) == kAllRight);
}

TEST_CASE_METHOD(Squares, "a vector is pageable again afterwards") {
  std::vector<float> numbers(kNumbers);
  fill(numbers.data());
  run_in_place(square, numbers.data(), kNumbers);
  CHECK_FALSE(page_locked(numbers.data()));
}

TEST_CASE_METHOD(Squares, "the results are complete when the function returns, even if the device was busy") {
  cu::Pinned pinned(kNumbers * sizeof(float));
  fill(pinned.as<float>());
  CU_CHECK(cuLaunchHostFunc(nullptr, sleep_a_while, nullptr));
  run_in_place(square, pinned.as<float>(), kNumbers);
  const std::string found = squares(pinned.as<float>());
  CU_CHECK(cuCtxSynchronize());
  CHECK(found == kAllRight);
}

TEST_CASE_METHOD(Squares, "no device memory is allocated") {
  std::vector<float> numbers(kNumbers);
  fill(numbers.data());
  const int before = of_device;
  run_in_place(square, numbers.data(), kNumbers);
  CHECK(of_device == before);
}

TEST_CASE_METHOD(Squares, "no pinned memory is allocated to copy the numbers to") {
  std::vector<float> numbers(kNumbers);
  fill(numbers.data());
  const int before = of_host;
  run_in_place(square, numbers.data(), kNumbers);
  CHECK(of_host == before);
}

TEST_CASE_METHOD(Squares, "a driver error is thrown, and the vector is pageable again") {
  std::vector<float> numbers(kNumbers);
  CHECK_THROWS_AS(run_in_place(nullptr, numbers.data(), kNumbers), cu::Error);  // a null kernel
  CHECK_FALSE(page_locked(numbers.data()));
}

TEST_CASE_METHOD(Squares, "each call is checked, and the vector is pageable again if one fails") {
  std::vector<float> numbers(kNumbers);
  CHECK(ignored_failure({"cuPointerGetAttribute", "cuMemHostGetFlags", "cuMemHostRegister", "cuMemHostGetDevicePointer",
                         "cuLaunchKernel", "cuCtxSynchronize", "cuStreamSynchronize"},
                        [&] { run_in_place(square, numbers.data(), kNumbers); }) == "");
  CHECK_FALSE(page_locked(numbers.data()));
}
