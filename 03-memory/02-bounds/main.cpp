// Makes the usual mistakes with device memory and prints what each call returns.
#include "common/cu.hpp"

#include <vector>

void row(const char* call, CUresult result) { std::printf("%-42s| %s\n", call, cu::name(result)); }

int main() try {
  cu::Primary context;
  std::size_t total;
  CU_CHECK(cuDeviceTotalMem(&total, context.device));
  std::vector<char> host(2000);

  std::printf("%-42s| result\n", "call");
  CUdeviceptr memory;
  row("allocate 0 bytes", CU_EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0)));
  row("allocate twice the device's memory", CU_EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, 2 * total)));
  row("allocate 1000 bytes", CU_EXPECT(CUDA_SUCCESS, cuMemAlloc(&memory, 1000)));

  const auto kInvalid = CUDA_ERROR_INVALID_VALUE;
  row("copy 1000 bytes to it", CU_EXPECT(CUDA_SUCCESS, cuMemcpyHtoD(memory, host.data(), 1000)));
  row("copy 1001 bytes to it", CU_EXPECT(kInvalid, cuMemcpyHtoD(memory, host.data(), 1001)));
  row("copy 1000 bytes to its second byte", CU_EXPECT(kInvalid, cuMemcpyHtoD(memory + 1, host.data(), 1000)));
  row("copy its last byte back", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoH(host.data(), memory + 999, 1)));
  row("copy the byte after its end back", CU_EXPECT(kInvalid, cuMemcpyDtoH(host.data(), memory + 1000, 1)));
  row("copy 0 bytes to address 0", CU_EXPECT(CUDA_SUCCESS, cuMemcpyHtoD(0, host.data(), 0)));

  row("free an address inside it", CU_EXPECT(kInvalid, cuMemFree(memory + 256)));
  row("free it", CU_EXPECT(CUDA_SUCCESS, cuMemFree(memory)));
  row("free it again", CU_EXPECT(kInvalid, cuMemFree(memory)));
  row("free address 0", CU_EXPECT(CUDA_SUCCESS, cuMemFree(0)));
  row("copy from the freed address", CU_EXPECT(kInvalid, cuMemcpyDtoH(host.data(), memory, 1000)));

  const cu::Memory other(1000);
  CUdeviceptr base;
  std::size_t size;
  row("look up an address", CU_EXPECT(CUDA_SUCCESS, cuMemGetAddressRange(&base, &size, other.address + 700)));
  std::printf("  it is byte %d of an allocation of %zu\n", static_cast<int>(other.address + 700 - base), size);
  const bool found = base == other.address && size == 1000;
  const auto host_address = reinterpret_cast<CUdeviceptr>(host.data());
  row("look up a host address", CU_EXPECT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, host_address)));
  return found ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
