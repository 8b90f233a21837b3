// A plugin that keeps copies of host arrays ("mirrors") in device memory. It works in the primary context, as a guest
// of an application that uses the same context.
#include "common/cu.hpp"

#include <memory>
#include <vector>

// A reference to the primary context of a device, released at the end of the object's lifetime.
struct Reference {
  CUdevice device;
  CUcontext context = nullptr;

  explicit Reference(CUdevice of) : device(of) { CU_THROW(cuDevicePrimaryCtxRetain(&context, device)); }
  ~Reference() { CU_REPORT(cuDevicePrimaryCtxRelease(device)); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
};

// A mirror owns its memory and a reference to the context that the memory belongs to.
struct Mirror {
  Reference primary;
  CUdeviceptr memory = 0;
  std::size_t count = 0;

  explicit Mirror(CUdevice device) : primary(device) {}
};

// Copies `numbers` to the device. Throws cu::Error if a driver call fails.
Mirror* mirror_create(CUdevice device, const std::vector<unsigned>& numbers) {
  auto mirror = std::make_unique<Mirror>(device);
  mirror->count = numbers.size();
  const cu::Current current(mirror->primary.context);
  CU_THROW(cuMemAlloc(&mirror->memory, numbers.size() * sizeof(unsigned)));
  const CUresult copied = cuMemcpyHtoD(mirror->memory, numbers.data(), numbers.size() * sizeof(unsigned));
  if (copied != CUDA_SUCCESS) CU_REPORT(cuMemFree(mirror->memory));
  CU_THROW(copied);
  return mirror.release();
}

// Returns the numbers of a mirror. Throws cu::Error if a driver call fails.
std::vector<unsigned> mirror_read(const Mirror* mirror) {
  const cu::Current current(mirror->primary.context);
  std::vector<unsigned> numbers(mirror->count);
  CU_THROW(cuMemcpyDtoH(numbers.data(), mirror->memory, numbers.size() * sizeof(unsigned)));
  return numbers;
}

// Frees the memory of a mirror. Throws cu::Error if a driver call fails.
void mirror_destroy(Mirror* mirror) {
  const std::unique_ptr<Mirror> owner(mirror);  // releases the reference, after the memory has been freed
  const cu::Current current(mirror->primary.context);
  CU_THROW(cuMemFree(mirror->memory));
}
