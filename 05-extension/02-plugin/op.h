// y = scale * x² + b on the GPU, with the contract of an inference engine's plugin, as a C interface. x, y, g and dx
// are matrices of rows * columns floats in device memory, stored row by row. b and db have one float for each row.
//
// Functions that return int return 0 or an error code, which op_message() describes. None throws an exception.
#pragma once
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#define OP_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct op op;                      // the attributes and the kernels; any number of threads may use it
typedef struct op_execution op_execution;  // the state of one execution; one thread at a time may use it

// When the host builds or loads a model. The kernels are loaded for every context.
OP_API int op_create(op** made, float scale);
OP_API int op_restore(op** made, const void* stored, size_t size);
OP_API int op_store(const op* original, void* stored, size_t* size);  // with stored == NULL, only sets the size
OP_API void op_destroy(op* original);
OP_API int op_output_shape(const op* original, const int64_t x[2], const int64_t b[1], int64_t y[2]);

// When the host prepares a context for execution, which must be current. An execution does not need the original.
OP_API int op_attach(const op* original, op_execution** made);
OP_API int op_prepare(op_execution* execution, int64_t rows, int64_t columns);
OP_API void op_detach(op_execution* execution);

// While the model runs. These only add work to the stream: they do not allocate memory and do not wait.
OP_API int op_enqueue(op_execution* execution, CUdeviceptr x, CUdeviceptr b, CUdeviceptr y, CUstream stream);
OP_API int op_enqueue_backward(op_execution* execution, CUdeviceptr x, CUdeviceptr g, CUdeviceptr dx, CUdeviceptr db,
                               CUstream stream);

OP_API const char* op_message(int code);

#ifdef __cplusplus
}
#endif
