// Plugins that break one rule of the contract each. A test that only compares the numbers of one call accepts them all.
#pragma once
#include "05-extension/02-plugin/host.hpp"

#include <cstdint>
#include <stdexcept>

namespace faults {

using Address = CUdeviceptr;

inline int in_the_default_stream(op_execution* execution, Address x, Address b, Address y, CUstream) {
  return op_enqueue(execution, x, b, y, nullptr);
}

inline int waits(op_execution* execution, Address x, Address b, Address y, CUstream stream) {
  CU_RETURN(static_cast<CUresult>(op_enqueue(execution, x, b, y, stream)));
  return cuStreamSynchronize(stream);
}

inline Address workspace;
inline int allocates_when_first_called(op_execution* execution, Address x, Address b, Address y, CUstream stream) {
  if (workspace == 0) CU_RETURN(cuMemAlloc(&workspace, 1024));
  return op_enqueue(execution, x, b, y, stream);
}
inline void frees_the_workspace(op* original) {
  if (workspace != 0) CU_REPORT(cuMemFree(workspace));
  workspace = 0;
  op_destroy(original);
}

inline int throws(op_execution* execution, Address x, Address b, Address y, CUstream stream) {
  const int code = op_enqueue(execution, x, b, y, stream);
  if (code != CUDA_SUCCESS) throw std::runtime_error(op_message(code));
  return code;
}

inline int rejects_every_null(op_execution* execution, Address x, Address b, Address y, CUstream stream) {
  return x == 0 || b == 0 || y == 0 ? CUDA_ERROR_INVALID_VALUE : op_enqueue(execution, x, b, y, stream);
}

inline int one_row_more(op_execution* execution, std::int64_t rows, std::int64_t columns) {
  return op_prepare(execution, rows + (rows > 0), columns);
}

// The shape is in a global variable.
inline std::int64_t last_rows, last_columns;
inline int prepares_globally(op_execution* execution, std::int64_t rows, std::int64_t columns) {
  CU_RETURN(static_cast<CUresult>(op_prepare(execution, rows, columns)));
  last_rows = rows;
  last_columns = columns;
  return CUDA_SUCCESS;
}
inline int uses_global_shape(op_execution* execution, Address x, Address b, Address y, CUstream stream) {
  CU_RETURN(static_cast<CUresult>(op_prepare(execution, last_rows, last_columns)));
  return op_enqueue(execution, x, b, y, stream);
}

inline int restores_the_default(op** made, const void*, std::size_t) { return op_create(made, 1); }

// The kernels belong to the original. (A plugin that used them after they are unloaded would have undefined behavior.)
inline bool unloaded;
inline int creates_the_owner(op** made, float scale) {
  unloaded = false;
  return op_create(made, scale);
}
inline void destroys_the_owner(op* original) {
  unloaded = true;
  op_destroy(original);
}
inline int needs_the_owner(op_execution* execution, Address x, Address b, Address y, CUstream stream) {
  return unloaded ? CUDA_ERROR_INVALID_HANDLE : op_enqueue(execution, x, b, y, stream);
}

inline Plugin with(const char* name, decltype(&op_enqueue) enqueue) {
  Plugin plugin;
  plugin.name = name;
  plugin.enqueue = enqueue;
  return plugin;
}

inline std::vector<Plugin> all() {
  std::vector<Plugin> made = {with("launches in the default stream", in_the_default_stream),
                              with("waits for its kernel", waits),
                              with("allocates in its first call", allocates_when_first_called),
                              with("throws an exception", throws),
                              with("rejects every null address", rejects_every_null),
                              with("keeps the shape in a global", uses_global_shape),
                              with("writes a row too many", op_enqueue),
                              with("forgets its attribute", op_enqueue),
                              with("frees its kernels too early", needs_the_owner)};
  made[2].destroy = frees_the_workspace;
  made[5].prepare = prepares_globally;
  made[6].prepare = one_row_more;
  made[7].restore = restores_the_default;
  made[8].create = creates_the_owner;
  made[8].destroy = destroys_the_owner;
  return made;
}

}  // namespace faults
