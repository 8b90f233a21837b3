// Rejected with: "an impossible shape is rejected with a code"
// Converts the sizes without checking them, so -2 rows become four billion.
#include "05-extension/02-plugin/center.h"
#include "common/cu.hpp"

#include <climits>
#include <new>

struct center {
  CUkernel clear = nullptr, add_rows = nullptr, subtract_means = nullptr;
  unsigned rows = 0, columns = 0, count = 0;
};

// Complete.
int center_attach(center** made, CUlibrary kernels) {
  center loaded;
  CU_RETURN(cuLibraryGetKernel(&loaded.clear, kernels, "clear"));
  CU_RETURN(cuLibraryGetKernel(&loaded.add_rows, kernels, "add_rows"));
  CU_RETURN(cuLibraryGetKernel(&loaded.subtract_means, kernels, "subtract_means"));
  for (CUkernel kernel : {loaded.clear, loaded.add_rows, loaded.subtract_means}) {
    CUfunction function;  // loads the kernel into the current context now, and not in the first launch
    CU_RETURN(cuKernelGetFunction(&function, kernel));
  }
  *made = new (std::nothrow) center(loaded);
  return *made != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// Complete.
void center_detach(center* execution) { delete execution; }

int center_prepare(center* execution, int64_t rows, int64_t columns) {
  if (execution == nullptr) return CUDA_ERROR_INVALID_VALUE;
  execution->rows = static_cast<unsigned>(rows);
  execution->columns = static_cast<unsigned>(columns);
  execution->count = execution->rows * execution->columns;
  return CUDA_SUCCESS;
}

size_t center_workspace(const center* execution) { return execution ? execution->rows * sizeof(float) : 0; }

// A launch of a CUkernel takes place in the context of the stream.
static CUresult launch(CUkernel kernel, unsigned threads, CUstream stream, void** arguments) {
  const auto function = reinterpret_cast<CUfunction>(kernel);
  return cuLaunchKernel(function, (threads + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr);
}

int center_enqueue(center* execution, CUdeviceptr x, CUdeviceptr y, CUdeviceptr workspace, CUstream stream) {
  if (execution == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto& [clear, add_rows, subtract_means, rows, columns, count] = *execution;
  if (count == 0) return CUDA_SUCCESS;
  if (x == 0 || y == 0 || workspace == 0) return CUDA_ERROR_INVALID_VALUE;
  void* sums[] = {&workspace, &rows};
  CU_RETURN(launch(clear, rows, stream, sums));
  void* elements[] = {&x, &workspace, &columns, &count};
  CU_RETURN(launch(add_rows, count, stream, elements));
  void* results[] = {&x, &workspace, &y, &columns, &count};
  return launch(subtract_means, count, stream, results);
}
