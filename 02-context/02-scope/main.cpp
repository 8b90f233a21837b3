// Ties contexts and memory to C++ scopes, and compares what two functions leave behind when they fail halfway.
#include "common/cu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

constexpr std::size_t kBytes = 64 << 20;
constexpr std::size_t kTooMuch = std::size_t{1} << 50;  // no device has a million gigabytes

// Returns the context stack of this thread, top first (lesson 02-03).
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

// Allocates twice in a new context. The second allocation fails. Every call is checked, and the function releases
// everything at its end. Stores the first address in `where`.
CUresult by_hand(CUdevice device, CUdeviceptr* where) {
  CUcontext context;
  CU_RETURN(cuCtxCreate(&context, nullptr, 0, device));
  CU_RETURN(cuMemAlloc(where, kBytes));
  CUdeviceptr second;
  CU_RETURN(cuMemAlloc(&second, kTooMuch));  // the function returns here
  CU_RETURN(cuMemFree(second));
  CU_RETURN(cuMemFree(*where));
  CU_RETURN(cuCtxDestroy(context));
  return CUDA_SUCCESS;
}

// Does the same with owners.
CUresult with_owners(CUdevice, CUdeviceptr* where) try {
  cu::Context context;
  cu::Memory first(kBytes);
  *where = first.address;
  cu::Memory second(kTooMuch);
  return CUDA_SUCCESS;
} catch (const cu::Error& error) {
  return error.code();
}

// Prints what `work` has leaked, and releases it. Returns whether there was a leak.
bool leaks(const char* how, CUresult (*work)(CUdevice, CUdeviceptr*), CUdevice device) {
  const std::size_t below = stack().size();
  CUdeviceptr where = 0;
  CU_EXPECT(CUDA_ERROR_OUT_OF_MEMORY, work(device, &where));
  const std::size_t contexts = stack().size() - below;
  CUcontext owner;
  const bool memory = cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, where) == CUDA_SUCCESS;
  std::printf("%-31s| %-15zu| %s\n", how, contexts, memory ? "64 MiB" : "none");
  while (stack().size() > below) CU_CHECK(cuCtxDestroy(stack().front()));
  return contexts != 0 || memory;
}

struct Witness {
  bool* destroyed;
  explicit Witness(bool* to) : destroyed(to) {}
  ~Witness() { *destroyed = true; }
};

// Prints whether the destructor of a local variable runs when `leave` ends its block. Runs in a process of its own,
// because `leave` may end the process. Returns whether the destructor has run.
bool destructor_runs(const char* way, const std::function<void()>& leave) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    static bool destroyed = false;
    std::atexit([] { _exit(destroyed ? 0 : 1); });  // the last thing that std::exit does
    try {
      const Witness witness(&destroyed);
      leave();
    } catch (const std::exception&) {
    }
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool runs = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::printf("%-31s| %s\n", way, runs ? "runs" : "does not run");
  return runs;
}

int main() try {
  std::printf("a call fails, checked with     | the destructor of a local variable\n");
  const bool thrown = destructor_runs("CU_THROW", [] { CU_THROW(cuInit(7)); });
  const bool ended = destructor_runs("CU_CHECK", [] { CU_CHECK(cuInit(7)); });

  std::printf("\nscope                          | the stack, current context first\n");
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

  cu::Context callers;
  std::printf("\nthe second allocation fails    | contexts left  | memory left\n");
  const bool hand = leaks("by hand, every call checked", by_hand, callers.device);
  const bool owners = leaks("with owners", with_owners, callers.device);
  return thrown && !ended && hand && !owners ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
