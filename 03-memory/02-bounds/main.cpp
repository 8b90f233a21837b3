// Makes the usual mistakes with device memory, one after the other, and shows what the driver says to each.
#include "common/cu.hpp"

#include <vector>

// Prints what was tried and what the driver answered; returns 1 if that is not what was expected.
int answered(const char* tried, CUresult expected, CUresult result) {
  std::printf("%-46s| %s\n", tried, cu::name(result));
  return result != expected;
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));

  constexpr CUresult kFine = CUDA_SUCCESS, kRefused = CUDA_ERROR_INVALID_VALUE;
  std::size_t total;
  CU_CHECK(cuDeviceTotalMem(&total, device));
  std::vector<char> host(2000);
  CUdeviceptr memory, other;
  int surprises = 0;

  std::printf("%-46s| the driver's answer\n", "what is tried");
  surprises += answered("take 0 bytes", kRefused, cuMemAlloc(&memory, 0));
  surprises += answered("take more than the device has", CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, 2 * total));
  surprises += answered("take 1000 bytes", kFine, cuMemAlloc(&memory, 1000));

  surprises += answered("copy 1000 bytes there", kFine, cuMemcpyHtoD(memory, host.data(), 1000));
  surprises += answered("copy 1001 bytes", kRefused, cuMemcpyHtoD(memory, host.data(), 1001));
  surprises += answered("copy 1000 bytes, one byte further in", kRefused, cuMemcpyHtoD(memory + 1, host.data(), 1000));
  surprises += answered("copy the last byte back", kFine, cuMemcpyDtoH(host.data(), memory + 999, 1));
  surprises += answered("copy the byte behind it", kRefused, cuMemcpyDtoH(host.data(), memory + 1000, 1));
  surprises += answered("copy 0 bytes to nowhere", kFine, cuMemcpyHtoD(0, host.data(), 0));

  surprises += answered("free an address inside", kRefused, cuMemFree(memory + 256));
  surprises += answered("free it", kFine, cuMemFree(memory));
  surprises += answered("free it again", kRefused, cuMemFree(memory));
  surprises += answered("free nothing, address 0", kFine, cuMemFree(0));
  surprises += answered("copy from where it was", kRefused, cuMemcpyDtoH(host.data(), memory, 1000));

  CUdeviceptr begin;
  std::size_t bytes;
  CU_CHECK(cuMemAlloc(&other, 1000));
  surprises += answered("ask what lies at an address", kFine, cuMemGetAddressRange(&begin, &bytes, other + 700));
  std::printf("  byte %d of an allocation of %zu\n", static_cast<int>(other + 700 - begin), bytes);
  surprises += answered("ask for the range of a host address", CUDA_ERROR_NOT_FOUND,
                        cuMemGetAddressRange(&begin, &bytes, reinterpret_cast<CUdeviceptr>(host.data())));

  CU_CHECK(cuMemFree(other));
  CU_CHECK(cuCtxDestroy(context));
  std::printf("\n%s\n",
              surprises == 0 ? "Nothing was read or written outside an allocation." : "That was not expected.");
  return surprises == 0 ? 0 : 1;
}
