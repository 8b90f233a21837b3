// Creates and destroys a context twice, and shows how long each call takes and how much device memory is in use.
#include "common/cu.hpp"

#include <chrono>
#include <string>

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The memory in use on the device of the current context, by all processes, or the error if the query fails.
std::string memory_in_use() {
  std::size_t free, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result != CUDA_SUCCESS) return cu::name(result);
  return std::to_string((total - free) >> 20) + " MiB";
}

bool has_context() {
  CUcontext current;
  CU_CHECK(cuCtxGetCurrent(&current));
  return current != nullptr;
}

void row(const char* call, double took) {
  std::printf("%-13s| %-15s | %7.1f ms | %s\n", call, has_context() ? "the new context" : "none", took,
              memory_in_use().c_str());
}

int main() {
  auto start = Clock::now();
  CU_CHECK(cuInit(0));
  const double init = ms_since(start);

  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, device));
  std::printf("%s\n\n", name);
  std::printf("call         | current context | time       | cuMemGetInfo: memory in use\n");
  row("cuInit", init);

  for (int round = 0; round < 2; ++round) {
    start = Clock::now();
    CUcontext context;
    CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
    row("cuCtxCreate", ms_since(start));

    start = Clock::now();
    CU_CHECK(cuCtxDestroy(context));
    row("cuCtxDestroy", ms_since(start));
  }
  return has_context() ? 1 : 0;
}
