// Write a plugin for an op that needs a workspace: y[r][c] = x[r][c] - m[r], where m[r] is the mean of row r. The
// contract is in center.h and op.h, and the kernels are at the end of kernels.cu: clear, add_rows and subtract_means.
#include "05-extension/02-plugin/center.h"
#include "common/cu.hpp"

#include <new>

struct center {
  CUkernel clear = nullptr, add_rows = nullptr, subtract_means = nullptr;
  // Your members here.
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
  // Your code here.
  (void)execution, (void)rows, (void)columns;
  return CUDA_ERROR_NOT_SUPPORTED;
}

size_t center_workspace(const center* execution) {
  // Your code here.
  (void)execution;
  return 0;
}

int center_enqueue(center* execution, CUdeviceptr x, CUdeviceptr y, CUdeviceptr workspace, CUstream stream) {
  // Your code here: three launches.
  (void)execution, (void)x, (void)y, (void)workspace, (void)stream;
  return CUDA_ERROR_NOT_SUPPORTED;
}
