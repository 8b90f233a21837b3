// Pack a kernel's arguments into one buffer.
#include "common/cu.hpp"

#include <cstring>
#include <vector>

// Appends a copy of the value's bytes to the buffer, at the next offset that is a multiple of `alignment` (a power of
// two), and returns that offset. A gap before it is filled with zeros.
std::size_t append(std::vector<char>& buffer, const void* value, std::size_t bytes, std::size_t alignment) {
  const std::size_t offset = (buffer.size() + alignment - 1) / alignment * alignment;
  buffer.resize(offset + bytes);
  std::memcpy(buffer.data() + offset, value, bytes);
  return offset;
}

// Launches one thread of the kernel with the arguments in the buffer, in the default stream. Does not wait. Throws
// cu::Error if the launch fails (CU_THROW).
void launch_packed(CUfunction kernel, std::vector<char>& buffer) {
  std::size_t bytes = buffer.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CU_THROW(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}
