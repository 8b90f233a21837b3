// libop.so: the host side of the op. The kernels are compiled into it, so the library is a single file.
#include "05-extension/02-plugin/op.h"
#include "common/cu.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace {

// kernels.ptx as a string (see lesson.mk).
const char image[] =
#include "kernels.ptx.inc"
    ;

// The kernels, loaded for all contexts of the process. The last op or execution that uses them unloads them.
struct Kernels {
  CUlibrary library = nullptr;
  CUkernel forward = nullptr, backward = nullptr, clear = nullptr;

  Kernels() = default;
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
  ~Kernels() {
    if (library != nullptr) CU_REPORT(cuLibraryUnload(library));
  }
};

// What op_store() writes. The version is the first member, so that a later version can have other members.
struct Stored {
  std::uint32_t version;
  float scale;
};
constexpr std::uint32_t kVersion = 1;

}  // namespace

struct op {
  float scale;
  std::shared_ptr<const Kernels> kernels;
};

struct op_execution {
  float scale;
  std::shared_ptr<const Kernels> kernels;
  unsigned rows = 0, columns = 0, count = 0;
};

namespace {

CUresult load(Kernels& kernels) {
  CU_RETURN(cuLibraryLoadData(&kernels.library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_RETURN(cuLibraryGetKernel(&kernels.forward, kernels.library, "forward"));
  CU_RETURN(cuLibraryGetKernel(&kernels.backward, kernels.library, "backward"));
  CU_RETURN(cuLibraryGetKernel(&kernels.clear, kernels.library, "clear"));
  return CUDA_SUCCESS;
}

bool shape_is_possible(std::int64_t rows, std::int64_t columns) {
  return rows >= 0 && columns >= 0 && rows <= INT_MAX && columns <= INT_MAX &&
         (columns == 0 || rows <= INT_MAX / columns);
}

// A launch of a CUkernel takes place in the context of the stream. Which context is current makes no difference.
CUresult launch(CUkernel kernel, unsigned count, CUstream stream, void** arguments) {
  if (count == 0) return CUDA_SUCCESS;  // a grid without blocks would be an error
  const auto function = reinterpret_cast<CUfunction>(kernel);
  return cuLaunchKernel(function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr);
}

// Calls the lambda. No exception leaves it, whatever happens.
template <class Lambda>
int guarded(Lambda lambda) noexcept {
  try {
    return lambda();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace

int op_create(op** made, float scale) {
  if (made == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return guarded([&] {
    const auto kernels = std::make_shared<Kernels>();
    CU_RETURN(load(*kernels));
    *made = new op{scale, kernels};
    return CUDA_SUCCESS;
  });
}

int op_store(const op* original, void* stored, size_t* size) {
  if (!original || !size) return CUDA_ERROR_INVALID_VALUE;
  if (stored != nullptr && *size < sizeof(Stored)) return CUDA_ERROR_INVALID_VALUE;
  const Stored attributes = {kVersion, original->scale};
  if (stored != nullptr) std::memcpy(stored, &attributes, sizeof attributes);
  *size = sizeof attributes;
  return CUDA_SUCCESS;
}

int op_restore(op** made, const void* stored, size_t size) {
  Stored attributes;
  if (!made || !stored || size != sizeof attributes) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(&attributes, stored, sizeof attributes);  // the bytes may have any alignment
  if (attributes.version != kVersion) return CUDA_ERROR_INVALID_VALUE;
  return op_create(made, attributes.scale);
}

void op_destroy(op* original) { delete original; }

int op_output_shape(const op* original, const int64_t x[2], const int64_t b[1], int64_t y[2]) {
  if (!original || !x || !b || !y || !shape_is_possible(x[0], x[1]) || b[0] != x[0]) return CUDA_ERROR_INVALID_VALUE;
  std::copy(x, x + 2, y);
  return CUDA_SUCCESS;
}

int op_attach(const op* original, op_execution** made) {
  if (!original || !made) return CUDA_ERROR_INVALID_VALUE;
  return guarded([&] {
    // Loads the kernels into the current context now. Otherwise, the driver could do so in the first launch.
    for (CUkernel kernel : {original->kernels->forward, original->kernels->backward, original->kernels->clear}) {
      CUfunction loaded;
      CU_RETURN(cuKernelGetFunction(&loaded, kernel));
    }
    *made = new op_execution{original->scale, original->kernels};
    return CUDA_SUCCESS;
  });
}

int op_prepare(op_execution* execution, int64_t rows, int64_t columns) {
  if (!execution || !shape_is_possible(rows, columns)) return CUDA_ERROR_INVALID_VALUE;
  execution->rows = static_cast<unsigned>(rows);
  execution->columns = static_cast<unsigned>(columns);
  execution->count = execution->rows * execution->columns;
  return CUDA_SUCCESS;
}

void op_detach(op_execution* execution) { delete execution; }

int op_enqueue(op_execution* execution, CUdeviceptr x, CUdeviceptr b, CUdeviceptr y, CUstream stream) {
  if (!execution) return CUDA_ERROR_INVALID_VALUE;
  auto& [scale, kernels, rows, columns, count] = *execution;
  if (count > 0 && (!x || !b || !y)) return CUDA_ERROR_INVALID_VALUE;
  void* arguments[] = {&x, &b, &y, &scale, &columns, &count};
  return launch(kernels->forward, count, stream, arguments);
}

int op_enqueue_backward(op_execution* execution, CUdeviceptr x, CUdeviceptr g, CUdeviceptr dx, CUdeviceptr db,
                        CUstream stream) {
  if (!execution) return CUDA_ERROR_INVALID_VALUE;
  auto& [scale, kernels, rows, columns, count] = *execution;
  if ((count > 0 && (!x || !g || !dx)) || (rows > 0 && !db)) return CUDA_ERROR_INVALID_VALUE;
  void* sums[] = {&db, &rows};
  CU_RETURN(launch(kernels->clear, rows, stream, sums));
  void* arguments[] = {&x, &g, &dx, &db, &scale, &columns, &count};
  return launch(kernels->backward, count, stream, arguments);
}

const char* op_message(int code) { return cu::meaning(static_cast<CUresult>(code)); }
