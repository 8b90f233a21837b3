// Fills device memory with patterns of 8, 16 and 32 bits, and reads each as bytes, as an integer and as a float.
#include "common/cu.hpp"

#include <cstdint>
#include <cstring>
#include <string>

constexpr std::size_t kWords = 4;  // of 32 bits

// Copies the words back, checks that all are the same, and prints the first one in every reading. Returns 1 if a word
// is not what the fill should have made it.
int show(const char* call, CUdeviceptr memory, std::uint32_t expected) {
  std::uint32_t words[kWords];
  CU_CHECK(cuMemcpyDtoH(words, memory, sizeof words));
  std::string bytes;
  for (std::size_t i = 0; i < sizeof words[0]; ++i) {
    char two_digits[4];
    std::snprintf(two_digits, sizeof two_digits, "%02x ", reinterpret_cast<unsigned char*>(words)[i]);
    bytes += two_digits;
  }
  float number;
  std::memcpy(&number, words, sizeof number);  // the same 32 bits, read as a float
  std::printf("%-35s| %s| %11d | %g\n", call, bytes.c_str(), static_cast<std::int32_t>(words[0]), number);
  for (std::uint32_t word : words) {
    if (word != expected) return 1;
  }
  return 0;
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, kWords * sizeof(float)));
  int wrong = 0;

  std::printf("%-35s| bytes       | as an int   | as a float\n", "call");
  CU_CHECK(cuMemsetD8(memory, 0, 16));
  wrong += show("cuMemsetD8(memory, 0, 16)", memory, 0);
  CU_CHECK(cuMemsetD8(memory, 1, 16));
  wrong += show("cuMemsetD8(memory, 1, 16)", memory, 0x01010101);
  CU_CHECK(cuMemsetD8(memory, 0xff, 16));
  wrong += show("cuMemsetD8(memory, 0xff, 16)", memory, 0xffffffff);
  CU_CHECK(cuMemsetD16(memory, 0x3f80, 8));
  wrong += show("cuMemsetD16(memory, 0x3f80, 8)", memory, 0x3f803f80);
  CU_CHECK(cuMemsetD32(memory, 1, 4));
  wrong += show("cuMemsetD32(memory, 1, 4)", memory, 1);
  CU_CHECK(cuMemsetD32(memory, 0x3f800000, 4));
  wrong += show("cuMemsetD32(memory, 0x3f800000, 4)", memory, 0x3f800000);

  const float tenth = 0.1f;
  std::uint32_t bits;
  std::memcpy(&bits, &tenth, sizeof bits);
  CU_CHECK(cuMemsetD32(memory, bits, 4));
  wrong += show("cuMemsetD32(memory, bits of 0.1, 4)", memory, bits);

  const CUresult between = cuMemsetD32(memory + 2, 0, 1);
  std::printf("\ncuMemsetD32(memory + 2, 0, 1) -> %s\n", cu::name(between));

  CU_CHECK(cuMemFree(memory));
  CU_CHECK(cuCtxDestroy(context));
  return wrong == 0 && between == CUDA_ERROR_INVALID_VALUE ? 0 : 1;
}
