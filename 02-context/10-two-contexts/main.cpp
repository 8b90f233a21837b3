// Makes two contexts on one device, uses in one what belongs to the other, and lets one of them crash.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>

void row(const char* call, CUresult answer) { std::printf("  %-37s| %s\n", call, cu::name(answer)); }

// A second process, with a context of its own on the same device. It waits until `line` is closed, and ends with status
// 0 if its context still works then. It starts before cuInit: what fork copies of a driver in use is of no use.
struct Neighbour {
  pid_t process;
  int line;
};

Neighbour start_neighbour() {
  int ends[2];
  char ready = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::exit(1);
  const pid_t process = fork();
  if (process != 0) {
    close(ends[1]);
    if (read(ends[0], &ready, 1) != 1) std::exit(1);
    return {process, ends[0]};
  }
  close(ends[0]);
  cu::Context context;
  cu::Memory memory(4);
  if (write(ends[1], &ready, 1) != 1) _exit(1);
  if (read(ends[1], &ready, 1) != 0) _exit(1);  // nothing comes; it returns when the other end is closed
  CU_CHECK(cuMemsetD8(memory.address, 1, 4));
  CU_CHECK(cuCtxSynchronize());
  _exit(0);
}

// One row: what a context costs.
CUcontext create(const char* name, CUdevice device) {
  const auto start = std::chrono::steady_clock::now();
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  std::printf("  %-37s| %5.1f ms, and then %zu MiB are in use\n", name, took.count(), (total - free) >> 20);
  return context;
}

int main() {
  const Neighbour neighbour = start_neighbour();
  CUdevice device;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));

  std::printf("two contexts\n");
  const CUcontext a = create("cuCtxCreate A", device);
  CUmodule module;
  CUfunction store;
  CUdeviceptr in_a, in_b;
  CUstream stream;
  CUevent event;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  CU_CHECK(cuModuleGetFunction(&store, module, "store"));
  CU_CHECK(cuMemAlloc(&in_a, 4));
  CU_CHECK(cuStreamCreate(&stream, 0));
  CU_CHECK(cuEventCreate(&event, 0));
  unsigned number = 7;
  void* arguments[] = {&in_a, &number};
  const CUcontext b = create("cuCtxCreate B", device);
  CU_CHECK(cuMemAlloc(&in_b, 4));

  std::printf("B is current; what is used belongs to A\n");
  row("launch a kernel",
      CU_EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
  row("launch it into A's stream",
      CU_EXPECT(CUDA_SUCCESS, cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
  row("record an event", CU_EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, nullptr)));
  row("record it in A's stream", CU_EXPECT(CUDA_SUCCESS, cuEventRecord(event, stream)));
  row("wait for the stream", CU_EXPECT(CUDA_SUCCESS, cuStreamSynchronize(stream)));
  row("copy memory to memory of B", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoD(in_b, in_a, 4)));
  number = 0;
  row("copy memory to the host", CU_EXPECT(CUDA_SUCCESS, cuMemcpyDtoH(&number, in_b, 4)));
  if (number != 7) return 1;

  std::printf("a kernel in A writes through a null pointer\n");
  in_a = 0;
  CU_CHECK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  row("A: wait for the stream", CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream)));
  row("B: allocate", CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&in_b, 4)));
  row("cuCtxDestroy A", CU_EXPECT(CUDA_SUCCESS, cuCtxDestroy(a)));
  row("B: allocate", CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&in_b, 4)));
  row("cuCtxDestroy B", CU_EXPECT(CUDA_SUCCESS, cuCtxDestroy(b)));
  int status = -1;
  close(neighbour.line);
  waitpid(neighbour.process, &status, 0);
  std::printf("  %-37s| %s\n", "the neighbour, another process", status == 0 ? "works as before" : "is hurt, too");
  return status == 0 ? 0 : 1;
}
