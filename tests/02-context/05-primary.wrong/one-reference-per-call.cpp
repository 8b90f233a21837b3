// Rejected with: "a mirror keeps the context active until it is destroyed"
// Holds a reference only during each call. The count is right, but between two calls the mirror depends on the
// application's reference.
#include "common/cu.hpp"

#include <memory>
#include <vector>

struct Mirror {
  CUdevice device;
  CUdeviceptr memory = 0;
  std::size_t count = 0;
};

// The primary context of a device, retained and current until the end of the scope.
struct Pushed {
  CUdevice device;
  explicit Pushed(CUdevice of) : device(of) {
    CUcontext context;
    CU_THROW(cuDevicePrimaryCtxRetain(&context, device));
    const CUresult pushed = cuCtxPushCurrent(context);
    if (pushed != CUDA_SUCCESS) CU_REPORT(cuDevicePrimaryCtxRelease(device));
    CU_THROW(pushed);
  }
  ~Pushed() {
    CUcontext popped;
    CU_REPORT(cuCtxPopCurrent(&popped));
    CU_REPORT(cuDevicePrimaryCtxRelease(device));
  }
};

// Copies `numbers` to the device. Throws cu::Error if a driver call fails.
Mirror* mirror_create(CUdevice device, const std::vector<unsigned>& numbers) {
  auto mirror = std::make_unique<Mirror>();
  mirror->device = device;
  mirror->count = numbers.size();
  const Pushed pushed(device);
  CU_THROW(cuMemAlloc(&mirror->memory, numbers.size() * sizeof(unsigned)));
  const CUresult copied = cuMemcpyHtoD(mirror->memory, numbers.data(), numbers.size() * sizeof(unsigned));
  if (copied != CUDA_SUCCESS) CU_REPORT(cuMemFree(mirror->memory));
  CU_THROW(copied);
  return mirror.release();
}

// Returns the numbers of a mirror. Throws cu::Error if a driver call fails.
std::vector<unsigned> mirror_read(const Mirror* mirror) {
  const Pushed pushed(mirror->device);
  std::vector<unsigned> numbers(mirror->count);
  CU_THROW(cuMemcpyDtoH(numbers.data(), mirror->memory, numbers.size() * sizeof(unsigned)));
  return numbers;
}

// Frees the memory of a mirror. Throws cu::Error if a driver call fails.
void mirror_destroy(Mirror* mirror) {
  const std::unique_ptr<Mirror> owner(mirror);
  const Pushed pushed(mirror->device);
  CU_THROW(cuMemFree(mirror->memory));
}
