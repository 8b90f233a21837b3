// Takes eight numbers to the device and back, and shows what the host holds after every call.
#include "common/cu.hpp"

#include <vector>

void show(const char* after, const std::vector<int>& sent, const std::vector<int>& received) {
  std::printf("%-24s|", after);
  for (int number : sent) std::printf(" %2d", number);
  std::printf(" |");
  for (int number : received) std::printf(" %2d", number);
  std::printf("\n");
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));

  const std::vector<int> squares = {0, 1, 4, 9, 16, 25, 36, 49};
  const std::size_t bytes = squares.size() * sizeof(int);
  std::vector<int> sent = squares, received(squares.size());

  std::printf("%-24s| %-23s | %s\n", "after", "sent, on the host", "received, on the host");
  show("the start", sent, received);

  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, bytes));
  show("cuMemAlloc", sent, received);

  CU_CHECK(cuMemcpyHtoD(memory, sent.data(), bytes));
  show("cuMemcpyHtoD", sent, received);

  sent.assign(sent.size(), 0);
  show("clearing sent", sent, received);

  CU_CHECK(cuMemcpyDtoH(received.data(), memory, bytes));
  show("cuMemcpyDtoH", sent, received);

  CU_CHECK(cuMemFree(memory));
  show("cuMemFree", sent, received);

  CU_CHECK(cuCtxDestroy(context));
  std::printf("\n%s\n", received == squares ? "What came back is what was sent." : "What came back was never sent.");
  return received == squares ? 0 : 1;
}
