// libop.so: the host side of the op. The kernels are compiled into it, so the library is a single file.
#include "05-extension/02-plugin/op.h"
#include "common/cu.hpp"

#include <climits>
#include <memory>
#include <new>

struct op {
  cu::Module module;
  CUfunction forward = nullptr, backward = nullptr;
};

namespace {

// kernels.ptx as a string (see lesson.mk).
const char image[] =
#include "kernels.ptx.inc"
    ;

CUresult upload(cu::Memory& memory, const float* numbers, std::size_t count) {
  CU_RETURN(cuMemAlloc(&memory.address, count * sizeof(float)));
  CU_RETURN(cuMemcpyHtoD(memory.address, numbers, count * sizeof(float)));
  return CUDA_SUCCESS;
}

CUresult launch(CUfunction kernel, unsigned count, void** arguments) {
  CU_RETURN(cuLaunchKernel(kernel, (count + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_RETURN(cuCtxSynchronize());
  return CUDA_SUCCESS;
}

bool shape_is_possible(int rows, int columns) { return rows > 0 && columns > 0 && rows <= INT_MAX / columns; }

}  // namespace

int op_open(op** made) {
  if (made == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::unique_ptr<op> opened(new (std::nothrow) op);
  if (opened == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  CU_RETURN(cuModuleLoadData(&opened->module.handle, image));
  CU_RETURN(cuModuleGetFunction(&opened->forward, opened->module.handle, "forward"));
  CU_RETURN(cuModuleGetFunction(&opened->backward, opened->module.handle, "backward"));
  *made = opened.release();
  return CUDA_SUCCESS;
}

void op_close(op* opened) { delete opened; }

int op_forward(const op* opened, const float* x, const float* b, float* y, int rows, int columns) {
  if (!opened || !x || !b || !y || !shape_is_possible(rows, columns)) return CUDA_ERROR_INVALID_VALUE;
  unsigned width = columns, count = rows * columns;
  cu::Memory device_x, device_b, device_y;
  CU_RETURN(upload(device_x, x, count));
  CU_RETURN(upload(device_b, b, rows));
  CU_RETURN(cuMemAlloc(&device_y.address, count * sizeof(float)));

  void* arguments[] = {&device_x.address, &device_b.address, &device_y.address, &width, &count};
  CU_RETURN(launch(opened->forward, count, arguments));
  CU_RETURN(cuMemcpyDtoH(y, device_y.address, count * sizeof(float)));
  return CUDA_SUCCESS;
}

int op_backward(const op* opened, const float* x, const float* g, float* dx, float* db, int rows, int columns) {
  if (!opened || !x || !g || !dx || !db || !shape_is_possible(rows, columns)) return CUDA_ERROR_INVALID_VALUE;
  unsigned width = columns, count = rows * columns;
  cu::Memory device_x, device_g, device_dx, device_db;
  CU_RETURN(upload(device_x, x, count));
  CU_RETURN(upload(device_g, g, count));
  CU_RETURN(cuMemAlloc(&device_dx.address, count * sizeof(float)));
  CU_RETURN(cuMemAlloc(&device_db.address, rows * sizeof(float)));
  CU_RETURN(cuMemsetD32(device_db.address, 0, rows));  // the kernel adds to it

  void* arguments[] = {&device_x.address, &device_g.address, &device_dx.address, &device_db.address, &width, &count};
  CU_RETURN(launch(opened->backward, count, arguments));
  CU_RETURN(cuMemcpyDtoH(dx, device_dx.address, count * sizeof(float)));
  CU_RETURN(cuMemcpyDtoH(db, device_db.address, rows * sizeof(float)));
  return CUDA_SUCCESS;
}

const char* op_message(int code) { return cu::meaning(static_cast<CUresult>(code)); }
