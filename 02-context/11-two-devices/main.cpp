// Copies between two devices without and with peer access, and lets a kernel of one read the memory of the other.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

constexpr int kNumbers = 16 << 20;
constexpr std::size_t kBytes = kNumbers * sizeof(unsigned);

void row(const char* call, CUresult answer) { std::printf("%-41s| %s\n", call, cu::name(answer)); }

// A context on a device, not current, and what it needs here.
struct Side {
  CUdevice device;
  CUcontext context;
  CUdeviceptr memory;
};

Side open(int ordinal) {
  Side side;
  char name[100];
  CU_CHECK(cuDeviceGet(&side.device, ordinal));
  CU_CHECK(cuDeviceGetName(name, sizeof name, side.device));
  CU_CHECK(cuCtxCreate(&side.context, nullptr, 0, side.device));
  CU_CHECK(cuMemAlloc(&side.memory, kBytes));
  CU_CHECK(cuMemsetD32(side.memory, ordinal + 1, kNumbers));
  CU_CHECK(cuCtxSynchronize());
  CU_CHECK(cuCtxPopCurrent(&side.context));
  std::printf("device %d: %s\n", ordinal, name);
  return side;
}

// Copies from one device to the other, and tells how fast. No peer access is needed.
void copy(const Side& to, const Side& from) {
  const double seconds = cu::median_seconds([&] {
    CU_CHECK(cuMemcpyPeer(to.memory, to.context, from.memory, from.context, kBytes));
    CU_CHECK(cuCtxSynchronize());
  });
  std::printf("%-41s| %.1f GB/s\n", "cuMemcpyPeer, 64 MiB from 1 to 0", kBytes / seconds / 1e9);
}

// A kernel of the current context adds up `numbers`, which may lie on another device.
unsigned add_up(CUdeviceptr numbers) {
  cu::Module module(cu::image("kernels.ptx"));
  cu::Memory sum(sizeof(unsigned));
  unsigned result = 0;
  int n = kNumbers;
  void* arguments[] = {&numbers, &n, &sum.address};
  CU_CHECK(cuMemsetD32(sum.address, 0, 1));
  CU_CHECK(cuLaunchKernel(module.function("add_up"), 64, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(&result, sum.address, sizeof result));
  return result;
}

int main() {
  int devices, zero_to_one, one_to_zero;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&devices));
  if (devices < 2) {
    std::printf("There is one device here. Skipped: copies between two, peer access,\n");
    std::printf("and a kernel that reads the memory of another device.\n");
    return 0;
  }
  const Side zero = open(0), one = open(1);
  CU_CHECK(cuDeviceCanAccessPeer(&zero_to_one, zero.device, one.device));
  CU_CHECK(cuDeviceCanAccessPeer(&one_to_zero, one.device, zero.device));
  std::printf("kernels of 0 may read memory of 1: %s; of 1, memory of 0: %s\n\n", zero_to_one ? "yes" : "no",
              one_to_zero ? "yes" : "no");

  CU_CHECK(cuCtxPushCurrent(zero.context));
  copy(zero, one);
  if (!zero_to_one) {
    row("cuCtxEnablePeerAccess, from 0 to 1",
        CU_EXPECT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(one.context, 0)));
    std::printf("These two have no way to each other but through the host. The rest is skipped.\n");
    CU_CHECK(cuCtxDestroy(one.context));
    CU_CHECK(cuCtxDestroy(zero.context));
    return 0;
  }
  row("cuCtxEnablePeerAccess, from 0 to 1", CU_EXPECT(CUDA_SUCCESS, cuCtxEnablePeerAccess(one.context, 0)));
  row("cuCtxEnablePeerAccess, once more",
      CU_EXPECT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(one.context, 0)));
  copy(zero, one);
  const unsigned sum = add_up(one.memory);
  std::printf("%-41s| %u\n", "a kernel of 0 adds up 16 Mi twos of 1", sum);
  row("cuCtxDisablePeerAccess, from 0 to 1", CU_EXPECT(CUDA_SUCCESS, cuCtxDisablePeerAccess(one.context)));
  row("cuCtxDisablePeerAccess, once more",
      CU_EXPECT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(one.context)));

  CU_CHECK(cuCtxDestroy(one.context));
  CU_CHECK(cuCtxDestroy(zero.context));
  return sum == 2u * kNumbers ? 0 : 1;
}
