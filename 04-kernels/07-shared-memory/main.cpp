// Reverses rows of integers in shared memory: of a fixed length, of any length, and of the largest length that fits.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <vector>

constexpr int kThreads = 256;

int attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// A row 0 1 2 … on the device, and room for the result.
struct Rows {
  int n;
  cu::Memory in{n * sizeof(int)}, out{n * sizeof(int)};

  explicit Rows(int count) : n(count) {
    std::vector<int> host(n);
    for (int i = 0; i < n; ++i) host[i] = i;
    CU_CHECK(cuMemcpyHtoD(in.address, host.data(), n * sizeof(int)));
    CU_CHECK(cuMemsetD32(out.address, 0, n));
  }

  bool reversed() const {
    std::vector<int> host(n);
    CU_CHECK(cuMemcpyDtoH(host.data(), out.address, n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
      if (host[i] != n - 1 - i) return false;
    }
    return true;
  }
};

bool reverse_fixed(const cu::Module& module) {
  const CUfunction kernel = module.function("reverse_static");
  const Rows rows(kThreads);
  CUdeviceptr in = rows.in.address, out = rows.out.address;
  void* arguments[] = {&in, &out};
  CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
  const bool right = rows.reversed();
  std::printf("static  | %6d | not needed               | %s\n", bytes, right ? "reversed" : "not reversed");
  return right;
}

// Launches with `bytes` of dynamic shared memory, after raising the kernel's limit if `raised`. Prints a row.
CUresult reverse(CUfunction kernel, int bytes, bool raised) {
  std::printf("dynamic | %6d | ", bytes);
  if (raised) {
    const CUresult result = cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
    std::printf("%-24s | ", cu::name(result));
    if (result != CUDA_SUCCESS) {
      std::printf("not launched\n");
      return result;
    }
  } else {
    std::printf("%-24s | ", "not raised");
  }
  const Rows rows(bytes / sizeof(int));
  CUdeviceptr in = rows.in.address, out = rows.out.address;
  int n = rows.n;
  void* arguments[] = {&in, &out, &n};
  const CUresult result = cuLaunchKernel(kernel, 1, 1, 1, kThreads, 1, 1, bytes, nullptr, arguments, nullptr);
  if (result == CUDA_SUCCESS) {
    const bool right = rows.reversed();
    std::printf("%s\n", right ? "reversed" : "not reversed");
    return right ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
  }
  std::printf("%s\n", cu::name(result));
  return result;
}

int main() try {
  cu::Primary context;
  const int default_limit = attribute(context.device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  const int limit = attribute(context.device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  std::printf("shared memory: %d bytes per block by default, at most %d; %d per multiprocessor\n\n", default_limit,
              limit, attribute(context.device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));

  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction dynamic = module.function("reverse_dynamic");
  std::printf("array   |  bytes | raising the limit        | launch\n");
  bool as_expected = reverse_fixed(module);
  as_expected &= reverse(dynamic, 4 * kThreads, false) == CUDA_SUCCESS;
  as_expected &= reverse(dynamic, default_limit, false) == CUDA_SUCCESS;
  as_expected &= reverse(dynamic, default_limit + 4, false) == CUDA_ERROR_INVALID_VALUE;
  as_expected &= reverse(dynamic, limit, true) == CUDA_SUCCESS;
  as_expected &= reverse(dynamic, limit + 4, true) == CUDA_ERROR_INVALID_VALUE;
  return as_expected ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
