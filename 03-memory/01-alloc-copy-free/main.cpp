// Copies eight numbers to the device and back, and prints both host arrays after every call. Then it fills device
// memory with patterns, and prints them as bytes, as an integer and as a float.
#include "common/cu.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

void print_arrays(const char* after, const std::vector<int>& sent, const std::vector<int>& received) {
  std::printf("%-18s|", after);
  for (int number : sent) std::printf(" %2d", number);
  std::printf(" |");
  for (int number : received) std::printf(" %2d", number);
  std::printf("\n");
}

// Copies the first word back and prints it. Returns whether it is the expected one.
bool show_word(const char* call, CUdeviceptr memory, std::uint32_t expected) {
  unsigned char bytes[4];
  std::int32_t integer;
  float number;
  CU_CHECK(cuMemcpyDtoH(bytes, memory, sizeof bytes));
  std::memcpy(&integer, bytes, sizeof integer);
  std::memcpy(&number, bytes, sizeof number);  // the same 32 bits, read as a float
  std::printf("%-35s| %02x %02x %02x %02x | %10d | %g\n", call, bytes[0], bytes[1], bytes[2], bytes[3], integer,
              number);
  return static_cast<std::uint32_t>(integer) == expected;
}

bool fill_with_patterns() {
  const cu::Memory owner(4 * sizeof(float));
  const CUdeviceptr memory = owner.address;
  std::printf("\n%-35s| bytes       | as an int  | as a float\n", "call");
  CU_CHECK(cuMemsetD8(memory, 0, 16));
  bool as_expected = show_word("cuMemsetD8(memory, 0, 16)", memory, 0);
  CU_CHECK(cuMemsetD8(memory, 0xff, 16));
  as_expected &= show_word("cuMemsetD8(memory, 0xff, 16)", memory, 0xffffffff);
  CU_CHECK(cuMemsetD32(memory, 1, 4));
  as_expected &= show_word("cuMemsetD32(memory, 1, 4)", memory, 1);
  const float tenth = 0.1f;
  std::uint32_t bits;
  std::memcpy(&bits, &tenth, sizeof bits);
  CU_CHECK(cuMemsetD32(memory, bits, 4));
  as_expected &= show_word("cuMemsetD32(memory, bits of 0.1, 4)", memory, bits);
  return as_expected;
}

int main() try {
  cu::Primary context;
  const std::vector<int> squares = {0, 1, 4, 9, 16, 25, 36, 49};
  const std::size_t bytes = squares.size() * sizeof(int);
  std::vector<int> sent = squares, received(squares.size());

  std::printf("%-18s| %-23s | %s\n", "after", "sent", "received");
  print_arrays("(start)", sent, received);

  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, bytes));
  print_arrays("cuMemAlloc", sent, received);

  CU_CHECK(cuMemcpyHtoD(memory, sent.data(), bytes));
  print_arrays("cuMemcpyHtoD", sent, received);

  sent.assign(sent.size(), 0);
  print_arrays("sent.assign(8, 0)", sent, received);

  CU_CHECK(cuMemcpyDtoH(received.data(), memory, bytes));
  print_arrays("cuMemcpyDtoH", sent, received);

  CU_CHECK(cuMemFree(memory));
  print_arrays("cuMemFree", sent, received);

  std::printf("\n%s\n",
              received == squares ? "The host received all squares." : "The host did not receive all squares.");
  return fill_with_patterns() && received == squares ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
