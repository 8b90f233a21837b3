// Fills device memory with patterns of 8, 16 and 32 bits, and prints each as bytes, as an integer and as a float.
#include "common/cu.hpp"

#include <cstdint>
#include <cstring>
#include <string>

constexpr std::size_t kWords = 4;  // of 32 bits

// The two hexadecimal digits of every byte, in the order in which memory holds them.
std::string bytes_of(std::uint32_t word) {
  unsigned char bytes[sizeof word];
  std::memcpy(bytes, &word, sizeof word);
  char digits[16];
  std::snprintf(digits, sizeof digits, "%02x %02x %02x %02x", bytes[0], bytes[1], bytes[2], bytes[3]);
  return digits;
}

// Copies the words back and prints the first one. Returns whether all of them are what the call should have written.
bool show(const char* call, CUdeviceptr memory, std::uint32_t expected) {
  std::uint32_t words[kWords];
  CU_CHECK(cuMemcpyDtoH(words, memory, sizeof words));
  float number;
  std::memcpy(&number, words, sizeof number);  // the same 32 bits, read as a float
  std::printf("%-35s| %s | %11d | %g\n", call, bytes_of(words[0]).c_str(), static_cast<std::int32_t>(words[0]), number);
  bool as_expected = true;
  for (std::uint32_t word : words) as_expected &= word == expected;
  return as_expected;
}

int main() try {
  cu::Primary context;
  const cu::Memory owner(kWords * sizeof(float));
  const CUdeviceptr memory = owner.address;

  std::printf("%-35s| bytes       | as an int   | as a float\n", "call");
  CU_CHECK(cuMemsetD8(memory, 0, 16));
  bool as_expected = show("cuMemsetD8(memory, 0, 16)", memory, 0);
  CU_CHECK(cuMemsetD8(memory, 1, 16));
  as_expected &= show("cuMemsetD8(memory, 1, 16)", memory, 0x01010101);
  CU_CHECK(cuMemsetD8(memory, 0xff, 16));
  as_expected &= show("cuMemsetD8(memory, 0xff, 16)", memory, 0xffffffff);
  CU_CHECK(cuMemsetD16(memory, 0x3f80, 8));
  as_expected &= show("cuMemsetD16(memory, 0x3f80, 8)", memory, 0x3f803f80);
  CU_CHECK(cuMemsetD32(memory, 1, 4));
  as_expected &= show("cuMemsetD32(memory, 1, 4)", memory, 1);
  CU_CHECK(cuMemsetD32(memory, 0x3f800000, 4));
  as_expected &= show("cuMemsetD32(memory, 0x3f800000, 4)", memory, 0x3f800000);

  const float tenth = 0.1f;
  std::uint32_t bits;
  std::memcpy(&bits, &tenth, sizeof bits);
  CU_CHECK(cuMemsetD32(memory, bits, 4));
  as_expected &= show("cuMemsetD32(memory, bits of 0.1, 4)", memory, bits);

  const CUresult unaligned = CU_EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 2, 0, 1));
  std::printf("\ncuMemsetD32(memory + 2, 0, 1) -> %s\n", cu::name(unaligned));
  return as_expected ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
