// Creates two contexts on one device, uses resources of one while the other is current, and lets a kernel fault.
#include "controls.hpp"

#include "common/cu.hpp"
#include "common/image.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>

// A second process with its own context on the same device. It waits until `socket` is closed, and exits with status 0
// if its context still works then.
struct Neighbor {
  pid_t process;
  int socket;
};

// Starts the second process. This must happen before cuInit: a child process cannot use a driver that its parent has
// initialized.
Neighbor start_neighbor() {
  int ends[2];
  char ready = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair failed");
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process != 0) {
    close(ends[1]);
    if (read(ends[0], &ready, 1) != 1) throw std::runtime_error("the second process did not start");
    return {process, ends[0]};
  }
  close(ends[0]);
  cu::Context context;
  cu::Memory memory(4);
  if (write(ends[1], &ready, 1) != 1) _exit(1);
  if (read(ends[1], &ready, 1) != 0) _exit(1);  // returns 0 when the parent closes its end
  CU_CHECK(cuMemsetD8(memory.address, 1, 4));
  CU_CHECK(cuCtxSynchronize());
  _exit(0);
}

void row(const char* call, CUresult result) { std::printf("  %-37s| %s\n", call, cu::name(result)); }

// Creates a context, and prints how long that takes and how much device memory is in use afterwards.
CUcontext create(const char* name, CUdevice device) {
  const auto start = std::chrono::steady_clock::now();
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  std::printf("  %-37s| %5.1f ms, %zu MiB in use\n", name, took.count(), (total - free) >> 20);
  return context;
}

// A kernel fault leaves the contexts unusable, so this program has no owners for what is in them. Destroying the
// contexts releases everything.
int main(int count, char** options) try {
  if (count > 1 && options[1] == std::string("--controls")) return controls::run();
  const Neighbor neighbor = start_neighbor();
  CU_CHECK(cuInit(0));
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));

  std::printf("two contexts\n");
  const CUcontext a = create("cuCtxCreate A", device);
  CUmodule module;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  CUfunction store;
  CU_CHECK(cuModuleGetFunction(&store, module, "store"));
  CUstream stream;
  CU_CHECK(cuStreamCreate(&stream, 0));
  CUdeviceptr in_a, in_b;
  CU_CHECK(cuMemAlloc(&in_a, 4));
  const CUcontext b = create("cuCtxCreate B", device);
  CU_CHECK(cuMemAlloc(&in_b, 4));

  std::printf("B is current, and the program uses resources of A\n");
  CUdeviceptr target = in_a;
  unsigned number = 7;
  void* arguments[] = {&target, &number};
  row("launch A's kernel, no stream",
      CU_EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
  row("launch A's kernel in A's stream",
      CU_EXPECT(CUDA_SUCCESS, cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
  row("wait for A's stream", CU_EXPECT(CUDA_SUCCESS, cuStreamSynchronize(stream)));
  row("copy from A's memory to B's memory", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoD(in_b, in_a, 4)));
  number = 0;
  row("copy from B's memory to the host", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoH(&number, in_b, 4)));
  if (number != 7) return 1;

  std::printf("a kernel of A writes to address 0\n");
  target = 0;
  CU_CHECK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  row("A: wait for the stream", CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream)));
  CUdeviceptr more;
  row("B: allocate", CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&more, 4)));
  row("destroy A", CU_EXPECT(CUDA_SUCCESS, cuCtxDestroy(a)));
  row("B: allocate", CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&more, 4)));
  row("destroy B", CU_EXPECT(CUDA_SUCCESS, cuCtxDestroy(b)));

  close(neighbor.socket);
  int status = -1;
  waitpid(neighbor.process, &status, 0);
  std::printf("  %-37s| %s\n", "the second process", status == 0 ? "works as before" : "has failed, too");
  return status == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
