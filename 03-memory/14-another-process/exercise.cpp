// Publish weights for another process, and attach to weights that another process has published.
#include "common/cu.hpp"
#include "common/processes.hpp"

#include <memory>

// Weights on the device, which this process can read and write.
struct Weights {
  CUdeviceptr address;
  std::size_t bytes;
};

// Allocates at least `bytes` bytes on the device, so that other processes can attach to them: `bytes` is rounded up to
// a multiple of the minimum granularity. Sends a single message through the socket: the rounded size, as a std::size_t,
// and with it a file descriptor.
//
// The weights exist as long as a copy of the returned pointer does, whatever becomes of the other process. Nothing else
// stays allocated, mapped or open, even if an exception is thrown: cu::Error if a driver call fails (CU_THROW), or an
// exception of cu::send().
std::shared_ptr<const Weights> publish(std::size_t bytes, CUdevice device, int socket) {
  // Your code here.
  (void)bytes, (void)device, (void)socket;
  return nullptr;
}

// Receives the message of a publish() in another process, and maps the same memory. The rules are those of publish();
// the exceptions are cu::Error and those of cu::receive_with().
std::shared_ptr<const Weights> attach(CUdevice device, int socket) {
  // Your code here.
  (void)device, (void)socket;
  return nullptr;
}
