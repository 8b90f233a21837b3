// Copies between two devices without and with peer access, and lets a kernel of one device read memory of the other.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

constexpr int kNumbers = 16 << 20;
constexpr std::size_t kBytes = kNumbers * sizeof(unsigned);

void row(const char* call, CUresult result) { std::printf("%-41s| %s\n", call, cu::name(result)); }

void fill(const cu::Memory& memory, unsigned number) {
  CU_THROW(cuMemsetD32(memory.address, number, kNumbers));
  CU_THROW(cuCtxSynchronize());
}

void print_name(const cu::Primary& context, int ordinal) {
  char name[100];
  CU_THROW(cuDeviceGetName(name, sizeof name, context.device));
  std::printf("device %d: %s\n", ordinal, name);
}

bool can_access(const cu::Primary& from, const cu::Primary& to) {
  int can;
  CU_THROW(cuDeviceCanAccessPeer(&can, from.device, to.device));
  return can != 0;
}

// Copies from one context to the other, and prints the bandwidth.
void copy(const cu::Primary& to, const cu::Memory& target, const cu::Primary& from, const cu::Memory& source) {
  const double seconds = cu::median_seconds([&] {
    CU_THROW(cuMemcpyPeer(target.address, to.handle, source.address, from.handle, kBytes));
    CU_THROW(cuCtxSynchronize());
  });
  std::printf("%-41s| %.1f GB/s\n", "cuMemcpyPeer, 64 MiB from 1 to 0", kBytes / seconds / 1e9);
}

// Sums `numbers` with a kernel of the current context.
unsigned sum(const cu::Memory& numbers) {
  const cu::Module module(cu::image("kernels.ptx"));
  cu::Memory result(sizeof(unsigned));
  CU_THROW(cuMemsetD32(result.address, 0, 1));
  CUdeviceptr address = numbers.address;
  int n = kNumbers;
  void* arguments[] = {&address, &n, &result.address};
  CU_THROW(cuLaunchKernel(module.function("sum"), 64, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned total = 0;
  CU_THROW(cuMemcpyDtoH(&total, result.address, sizeof total));
  return total;
}

int main() try {
  CU_THROW(cuInit(0));
  int devices;
  CU_THROW(cuDeviceGetCount(&devices));
  if (devices < 2) {
    std::printf("There is only one device. Skipped: copies between devices, peer access,\n");
    std::printf("and a kernel that reads memory of another device.\n");
    return 0;
  }
  const cu::Primary zero(0);
  const cu::Memory in_zero(kBytes);
  const cu::Primary one(1);
  const cu::Memory in_one(kBytes);
  fill(in_one, 2);
  const cu::Current on_zero(zero.handle);  // the current context from here on
  fill(in_zero, 1);

  print_name(zero, 0);
  print_name(one, 1);
  const bool zero_to_one = can_access(zero, one), one_to_zero = can_access(one, zero);
  std::printf("kernels on 0 can access memory of 1: %s; kernels on 1, memory of 0: %s\n\n", zero_to_one ? "yes" : "no",
              one_to_zero ? "yes" : "no");

  copy(zero, in_zero, one, in_one);
  if (!zero_to_one || !one_to_zero) {
    std::printf("The devices cannot access each other's memory directly. Peer access is skipped.\n");
    return 0;
  }
  row("cuCtxEnablePeerAccess, 0 to 1", CU_EXPECT(CUDA_SUCCESS, cuCtxEnablePeerAccess(one.handle, 0)));
  row("cuCtxEnablePeerAccess, 0 to 1 again",
      CU_EXPECT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(one.handle, 0)));
  {
    const cu::Current on_one(one.handle);
    row("cuCtxEnablePeerAccess, 1 to 0", CU_EXPECT(CUDA_SUCCESS, cuCtxEnablePeerAccess(zero.handle, 0)));
    row("cuCtxDisablePeerAccess, 1 to 0", CU_EXPECT(CUDA_SUCCESS, cuCtxDisablePeerAccess(zero.handle)));
  }
  copy(zero, in_zero, one, in_one);
  const unsigned total = sum(in_one);
  std::printf("%-41s| %u\n", "a kernel on 0 sums 16 Mi numbers of 1", total);
  row("cuCtxDisablePeerAccess, 0 to 1", CU_EXPECT(CUDA_SUCCESS, cuCtxDisablePeerAccess(one.handle)));
  row("cuCtxDisablePeerAccess, 0 to 1 again",
      CU_EXPECT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(one.handle)));
  return total == 2u * kNumbers ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
