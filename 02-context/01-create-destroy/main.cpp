// Creates a context and destroys it, twice, and shows what each call costs.
#include "common/cu.hpp"

#include <chrono>

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

const char* current() {
  CUcontext context;
  CU_CHECK(cuCtxGetCurrent(&context));
  return context ? "ours" : "none";
}

// Everybody's memory on the device of the current context: this program's, other programs', the driver's own.
double mib_in_use() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return (total - free) / 1048576.0;
}

int main() {
  const auto first = Clock::now();
  CU_CHECK(cuInit(0));
  const double init = ms_since(first);

  CUdevice device;
  char name[100];
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDeviceGetName(name, sizeof name, device));
  std::printf("%s\n\n", name);
  std::printf("call         | current | it took    | device memory in use\n");
  std::printf("cuInit       | %-7s | %7.1f ms | (needs a context)\n", current(), init);

  for (int round = 0; round < 2; ++round) {
    auto start = Clock::now();
    CUcontext context;
    CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
    double took = ms_since(start);
    std::printf("cuCtxCreate  | %-7s | %7.1f ms | %.0f MiB\n", current(), took, mib_in_use());

    start = Clock::now();
    CU_CHECK(cuCtxDestroy(context));
    took = ms_since(start);
    std::printf("cuCtxDestroy | %-7s | %7.1f ms | (needs a context)\n", current(), took);
  }

  CUcontext left;
  CU_CHECK(cuCtxGetCurrent(&left));
  return left == nullptr ? 0 : 1;
}
