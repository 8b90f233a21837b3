// Fills a context with memory, a module and pinned memory, destroys it, and asks for each of them afterwards.
#include "common/cu.hpp"

constexpr std::size_t kBytes = 256 << 20;

// A module without a kernel: one variable. The lessons from chapter 04 on compile theirs from CUDA C++.
const char* const kVariable = R"(
  .version 7.0
  .target sm_75
  .address_size 64
  .visible .global .u32 answer = 42;
)";

void row(const char* call, CUresult answer) { std::printf("  %-31s| %s\n", call, cu::name(answer)); }

std::size_t free_on_device() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

int main() {
  CUdevice device;
  CUcontext a, b, owner;
  CUmodule module;
  CUdeviceptr memory, variable;
  void* pinned;
  unsigned number = 0, flags;
  constexpr CUresult nobodys = CUDA_ERROR_INVALID_VALUE;  // at this address, nobody owns anything

  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuCtxCreate(&b, nullptr, 0, device));
  const std::size_t before = free_on_device();

  CU_CHECK(cuCtxCreate(&a, nullptr, 0, device));
  CU_CHECK(cuMemAlloc(&memory, kBytes));
  CU_CHECK(cuModuleLoadData(&module, kVariable));
  CU_CHECK(cuModuleGetGlobal(&variable, nullptr, module, "answer"));
  CU_CHECK(cuMemHostAlloc(&pinned, 4096, 0));

  std::printf("while context A lives\n");
  CU_CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  std::printf("  %-31s| %s\n", "the memory's owner", owner == a ? "A" : "not A");
  row("read the memory", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoH(&number, memory, 4)));
  row("read the module's variable", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoH(&number, variable, 4)));
  row("ask about the pinned memory", CU_EXPECT(CUDA_SUCCESS, cuMemHostGetFlags(&flags, pinned)));
  std::printf("  %-31s| %s\n", "device memory in use",
              before - free_on_device() >= kBytes ? "256 MiB more" : "no more");

  std::printf("cuCtxDestroy(A), and nothing else is released; B is current\n");
  CU_CHECK(cuCtxDestroy(a));
  row("read the memory", CU_EXPECT(nobodys, cuMemcpyDtoH(&number, memory, 4)));
  row("read the module's variable", CU_EXPECT(nobodys, cuMemcpyDtoH(&number, variable, 4)));
  row("ask about the pinned memory", CU_EXPECT(nobodys, cuMemHostGetFlags(&flags, pinned)));
  row("free the memory", CU_EXPECT(nobodys, cuMemFree(memory)));
  row("free the pinned memory", CU_EXPECT(nobodys, cuMemFreeHost(pinned)));
  row("who is the memory's owner?",
      CU_EXPECT(nobodys, cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory)));
  const bool returned = free_on_device() + kBytes > before;
  std::printf("  %-31s| %s\n", "device memory in use", returned ? "as before A" : "still more");

  CU_CHECK(cuCtxDestroy(b));
  return number == 42 ? 0 : 1;  // the memory in use is everybody's, and no reason to fail
}
