// A plugin that keeps copies of host arrays ("mirrors") in device memory. It works in the primary context, as a guest
// of an application that uses the same context.
//
// The plugin returns the right numbers. An application that uses it reports:
//
//   "We retain the primary context, work with a few mirrors, destroy all of them, and release our reference. The
//   context should be inactive then, but cuDevicePrimaryCtxGetState says that it is active, and the device's memory
//   stays in use. The longer we run, the more calls of cuDevicePrimaryCtxRelease it takes to end the context. The
//   same happens when a mirror cannot be created."
//
// Find the cause and repair it. A mirror must remain usable until it is destroyed, even if the application has already
// released its own reference. Keep the interface and the errors.
#include "common/cu.hpp"

#include <memory>
#include <vector>

struct Mirror {
  CUdevice device;
  CUdeviceptr memory = 0;
  std::size_t count = 0;
};

// Returns the primary context of a device.
CUcontext primary_of(CUdevice device) {
  CUcontext context;
  CU_THROW(cuDevicePrimaryCtxRetain(&context, device));
  return context;
}

// Pushes a context, and pops it at the end of the scope, even if an exception is thrown.
struct Pushed {
  explicit Pushed(CUcontext context) { CU_THROW(cuCtxPushCurrent(context)); }
  ~Pushed() {
    CUcontext popped;
    CU_REPORT(cuCtxPopCurrent(&popped));
  }
  Pushed(const Pushed&) = delete;
  Pushed& operator=(const Pushed&) = delete;
};

// Copies `numbers` to the device. Throws cu::Error if a driver call fails.
Mirror* mirror_create(CUdevice device, const std::vector<unsigned>& numbers) {
  auto mirror = std::make_unique<Mirror>();
  mirror->device = device;
  mirror->count = numbers.size();
  const Pushed pushed(primary_of(device));
  CU_THROW(cuMemAlloc(&mirror->memory, numbers.size() * sizeof(unsigned)));
  const CUresult copied = cuMemcpyHtoD(mirror->memory, numbers.data(), numbers.size() * sizeof(unsigned));
  if (copied != CUDA_SUCCESS) CU_REPORT(cuMemFree(mirror->memory));
  CU_THROW(copied);
  return mirror.release();
}

// Returns the numbers of a mirror. Throws cu::Error if a driver call fails.
std::vector<unsigned> mirror_read(const Mirror* mirror) {
  const Pushed pushed(primary_of(mirror->device));
  std::vector<unsigned> numbers(mirror->count);
  CU_THROW(cuMemcpyDtoH(numbers.data(), mirror->memory, numbers.size() * sizeof(unsigned)));
  return numbers;
}

// Frees the memory of a mirror. Throws cu::Error if a driver call fails.
void mirror_destroy(Mirror* mirror) {
  const std::unique_ptr<Mirror> owner(mirror);
  {
    const Pushed pushed(primary_of(mirror->device));
    CU_THROW(cuMemFree(mirror->memory));
  }
  CU_THROW(cuDevicePrimaryCtxRelease(mirror->device));
}
