// y = x² + b on the GPU, as a C interface. x, y, g and dx are rows * columns floats in host memory, stored row by row.
// b and db have one float for each row.
//
// Functions that return int return 0 or an error code, which op_message() describes. None throws an exception. The op
// works in the context that is current when it is opened, and expects the same context to be current in later calls.
#pragma once
#define OP_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct op op;

OP_API int op_open(op** made);
OP_API void op_close(op* opened);
OP_API int op_forward(const op* opened, const float* x, const float* b, float* y, int rows, int columns);
OP_API int op_backward(const op* opened, const float* x, const float* g, float* dx, float* db, int rows, int columns);
OP_API const char* op_message(int code);

#ifdef __cplusplus
}
#endif
