// Copies eight numbers to the device and back, and prints both host arrays after every call.
#include "common/cu.hpp"

#include <vector>

void print_arrays(const char* after, const std::vector<int>& sent, const std::vector<int>& received) {
  std::printf("%-18s|", after);
  for (int number : sent) std::printf(" %2d", number);
  std::printf(" |");
  for (int number : received) std::printf(" %2d", number);
  std::printf("\n");
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
  return received == squares ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
