// Uses the op through op.h, with host arrays. The context is the program's responsibility.
#include "05-extension/02-plugin/op.h"
#include "common/cu.hpp"

#include <vector>

using Floats = std::vector<float>;

// Prints a row of the table. Returns whether the call returned the expected code.
bool row(const char* call, int code, int expected) {
  std::printf("%-27s | %3d  | %s\n", call, code, op_message(code));
  return code == expected;
}

void show(const char* name, const Floats& numbers) {
  std::printf("%-2s =", name);
  for (float number : numbers) std::printf(" %2.0f", number);
  std::printf("\n");
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));

  op* square = nullptr;
  std::printf("%-27s | code | meaning\n", "call");
  bool right = row("op_open, no current context", op_open(&square), CUDA_ERROR_INVALID_CONTEXT);
  CU_CHECK(cuCtxSetCurrent(context));
  right &= row("op_open", op_open(&square), CUDA_SUCCESS);

  const Floats x = {1, 2, 3, 4, 5, 6}, b = {10, 20}, g = {1, 1, 1, 1, 2, 3};  // two rows of three
  Floats y(6), dx(6), db(2);
  right &= row("op_forward", op_forward(square, x.data(), b.data(), y.data(), 2, 3), CUDA_SUCCESS);
  right &= row("op_backward", op_backward(square, x.data(), g.data(), dx.data(), db.data(), 2, 3), CUDA_SUCCESS);
  right &=
      row("op_forward, -2 rows", op_forward(square, x.data(), b.data(), y.data(), -2, 3), CUDA_ERROR_INVALID_VALUE);

  std::printf("\n");
  show("x", x);
  show("b", b);
  show("y", y);
  show("g", g);
  show("dx", dx);
  show("db", db);
  right &= y == Floats{11, 14, 19, 36, 45, 56} && dx == Floats{2, 4, 6, 8, 20, 36} && db == Floats{3, 6};

  op_close(square);
  CU_CHECK(cuCtxSetCurrent(nullptr));
  CU_CHECK(cuDevicePrimaryCtxRelease(device));
  return right ? 0 : 1;
}
