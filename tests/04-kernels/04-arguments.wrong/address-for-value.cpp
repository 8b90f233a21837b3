// Rejected with: "the first value is stored at offset 0"
// kernelParams contains addresses, but the buffer contains the values. This copies the address.
#include "common/cu.hpp"

#include <cstring>
#include <vector>

std::size_t append(std::vector<char>& buffer, const void* value, std::size_t bytes, std::size_t alignment) {
  const std::size_t offset = (buffer.size() + alignment - 1) / alignment * alignment;
  buffer.resize(offset + bytes);
  std::memcpy(buffer.data() + offset, &value, bytes < sizeof value ? bytes : sizeof value);
  return offset;
}

void launch_packed(CUfunction kernel, std::vector<char>& buffer) {
  std::size_t bytes = buffer.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CU_THROW(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}
