// The driver's log (CUDA Driver API manual, "Error Log Management Functions").
#include "common/simulator/state/reports/logs.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/errors/registry.hpp"

#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>

namespace cudasim {

#if CUDA_VERSION >= 12090

CUresult driver::call_cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* handle) {
  require(function != nullptr);
  const u64 made = fresh_handle();
  Listeners& known = listeners();
  const std::scoped_lock lock(known.mutex);
  known.all[made] = {function, data};
  if (handle != nullptr) *handle = reinterpret_cast<CUlogsCallbackHandle>(made);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  Listeners& known = listeners();
  const std::scoped_lock lock(known.mutex);
  require(known.all.erase(reinterpret_cast<u64>(handle)) != 0);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsCurrent(CUlogIterator* iterator, unsigned int) {
  require(iterator != nullptr);  // any flags are taken (driver 580)
  LogLines& all = log_lines();
  const std::scoped_lock lock(all.mutex);
  *iterator = all.next();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned int) {
  require(path != nullptr);  // any flags are taken (driver 580)
  std::ofstream file(path);
  require(file.good());
  for (const std::string& line : lines_from(iterator)) file << line;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  require(buffer != nullptr && size != nullptr && *size != 0 && flags == 0);
  const std::size_t room = *size - 1;
  std::deque<std::string> lines = lines_from(iterator);
  std::size_t bytes = 0;
  for (const std::string& line : lines) bytes += line.size();
  if (bytes > room) {  // the latest ones that fit
    for (bytes += std::strlen(kMissing); bytes > room && !lines.empty(); lines.pop_front())
      bytes -= lines.front().size();
    if (lines.empty()) {
      *size = 0;
      return CUDA_ERROR_INVALID_VALUE;
    }
    lines.push_front(kMissing);
  }
  *size = 0;
  for (const std::string& line : lines) {
    std::memcpy(buffer + *size, line.data(), line.size());
    *size += line.size();
  }
  buffer[*size] = '\0';
  return CUDA_SUCCESS;
}
#endif

}  // namespace cudasim
