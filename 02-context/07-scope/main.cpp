// Lets C++ scopes push, pop, free and destroy, and compares what a failure in the middle leaves behind.
#include "common/cu.hpp"

#include <string>
#include <vector>

constexpr std::size_t kBytes = 64 << 20;
constexpr std::size_t kTooMuch = std::size_t{1} << 50;  // no device has a million gigabytes

// As in lesson 02-03: the driver has no call that lists the stack.
std::vector<CUcontext> stack() {
  std::vector<CUcontext> from_top;
  CUcontext top = nullptr;
  while (cuCtxPopCurrent(&top) == CUDA_SUCCESS) from_top.push_back(top);
  for (auto below = from_top.rbegin(); below != from_top.rend(); ++below) CU_CHECK(cuCtxPushCurrent(*below));
  return from_top;
}

void show(const char* line, CUcontext a) {
  std::string drawn;
  for (CUcontext context : stack()) drawn += context == a ? " A" : " B";
  std::printf("%-31s|%s\n", line, drawn.empty() ? " (empty)" : drawn.c_str());
}

// Two allocations in a context of its own, by hand, every call checked. The second one fails. `where` becomes the
// address of the first.
CUresult by_hand(CUdevice device, CUdeviceptr* where) {
  CUcontext context;
  CUdeviceptr second;
  CU_RETURN(cuCtxCreate(&context, nullptr, 0, device));
  CU_RETURN(cuMemAlloc(where, kBytes));
  CU_RETURN(cuMemAlloc(&second, kTooMuch));  // it returns here, and nothing below is reached
  CU_RETURN(cuMemFree(second));
  CU_RETURN(cuMemFree(*where));
  CU_RETURN(cuCtxDestroy(context));
  return CUDA_SUCCESS;
}

// The same with owners.
CUresult by_scope(CUdevice, CUdeviceptr* where) try {
  cu::Context context;
  cu::Memory first(kBytes);
  *where = first.address;
  cu::Memory second(kTooMuch);
  return CUDA_SUCCESS;
} catch (const cu::Error& error) {
  return error.code();
}

// Prints what `work` has left behind, and clears it away. True if it left anything.
bool leaves_something(const char* how, CUresult (*work)(CUdevice, CUdeviceptr*), CUdevice device) {
  CUdeviceptr where = 0;
  CUcontext owner;
  const std::size_t below = stack().size();
  CU_EXPECT(CUDA_ERROR_OUT_OF_MEMORY, work(device, &where));
  const std::size_t contexts = stack().size() - below;
  const bool memory = cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, where) == CUDA_SUCCESS;
  std::printf("%-31s| %-15zu| %s\n", how, contexts, memory ? "64 MiB" : "none");
  while (stack().size() > below) CU_CHECK(cuCtxDestroy(stack().front()));
  return contexts != 0 || memory;
}

int main() try {
  std::printf("scope                          | the stack, current context first\n");
  {
    cu::Context a;
    show("{ cu::Context a;", a.handle);
    {
      cu::Context b;
      show("  { cu::Context b;", a.handle);
      {
        cu::Current again(a.handle);
        show("    { cu::Current again(a);", a.handle);
      }
      show("    }", a.handle);
    }
    show("  }", a.handle);
  }
  show("}", nullptr);

  cu::Context watching;
  std::printf("\na failure in the middle        | contexts left  | memory left\n");
  const bool hand = leaves_something("by hand, every call checked", by_hand, watching.device);
  const bool scope = leaves_something("by scope", by_scope, watching.device);
  return hand && !scope ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
