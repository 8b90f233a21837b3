// Takes the place of some functions of the CUDA runtime and of PyTorch, so that the host code of an op can be tested
// without a GPU. It pretends that all tensors are on device 1 while device 0 is current, and it records launches
// instead of launching. A test loads it with LD_PRELOAD into a process of its own.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Launch {
  unsigned grid, block;
  std::uintptr_t stream;
  int device;
} last;
int launches, current, pending_error;
constexpr int kInvalidConfiguration = 9;  // cudaErrorInvalidConfiguration
constexpr std::uintptr_t kStreams = 0x1000;

struct Extent {  // dim3
  unsigned x, y, z;
};

}  // namespace

extern "C" {

int standin_error;  // If a test sets it, every launch fails with this error.

// A launch by <<< >>> calls this first. If it does not return 0, the kernel is not launched.
unsigned __cudaPushCallConfiguration(Extent grid, Extent block, std::size_t, void* stream) {
  ++launches;
  if (launches > 1 && reinterpret_cast<std::uintptr_t>(stream) != last.stream) stream = nullptr;  // they share one
  last = {grid.x, block.x, reinterpret_cast<std::uintptr_t>(stream), current};
  if (grid.x == 0 || block.x == 0 || block.x > 1024) pending_error = kInvalidConfiguration;
  if (standin_error) pending_error = standin_error;
  return 1;
}

int cudaGetLastError() {
  const int error = pending_error;
  pending_error = 0;
  return error;
}

int cudaPeekAtLastError() { return pending_error; }

int cudaSetDevice(int device) {
  current = device;
  return 0;
}

int aoti_torch_get_device_type(void*, std::int32_t* type) {
  *type = 1;  // CUDA
  return 0;
}

int aoti_torch_get_device_index(void*, std::int32_t* device) {
  *device = 1;
  return 0;
}

int aoti_torch_get_current_cuda_stream(std::int32_t device, void** stream) {
  *stream = reinterpret_cast<void*>(kStreams + device);
  return 0;
}

int aoti_torch_create_device_guard(std::int32_t device, void** guard) {
  *guard = new int(current);
  current = device;
  return 0;
}

int aoti_torch_device_guard_set_index(void*, std::int32_t device) {
  current = device;
  return 0;
}

int aoti_torch_delete_device_guard(void* guard) {
  current = *static_cast<int*>(guard);
  delete static_cast<int*>(guard);
  return 0;
}

int torch_c10_cuda_check_msg(std::int32_t error, const char*, const char*, std::uint32_t, bool, char** message) {
  *message = nullptr;
  if (error != 0) {
    *message = static_cast<char*>(std::malloc(32));
    std::snprintf(*message, 32, "CUDA error %d", error);
  }
  return 0;
}

void torch_c10_cuda_free_error_msg(char* message) { std::free(message); }

// What has been recorded since the last call: launches, and of the last one its grid, block, stream (as a device, or -1
// for another one, or if not all launches had the same), the device that was current at the launch, the one that is
// current now, and the error that the next call of the runtime would return.
void standin_recorded(int* values) {
  values[0] = launches;
  values[1] = static_cast<int>(last.grid);
  values[2] = static_cast<int>(last.block);
  values[3] = last.stream >= kStreams && last.stream < kStreams + 8 ? static_cast<int>(last.stream - kStreams) : -1;
  values[4] = last.device;
  values[5] = current;
  values[6] = pending_error;
  launches = current = pending_error = 0;
  last = {};
}
}
