// Rejected with: "the gap is filled with zeros"
// The gap has the right size but is not cleared.
#include "common/cu.hpp"

#include <vector>

std::size_t append(std::vector<char>& buffer, const void* value, std::size_t bytes, std::size_t alignment) {
  while (buffer.size() % alignment != 0) buffer.push_back(buffer.back());
  const char* first = static_cast<const char*>(value);
  buffer.insert(buffer.end(), first, first + bytes);
  return buffer.size() - bytes;
}

void launch_packed(CUfunction kernel, std::vector<char>& buffer) {
  std::size_t bytes = buffer.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CU_THROW(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}
