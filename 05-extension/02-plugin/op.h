// y = x² + b on the GPU, for whoever can call C. x, y, g and dx are rows * columns floats in host memory, row after
// row; b and db are one float a row (with one row: a single b for everything).
//
// Each int is 0 or a code that op_message() explains; nothing is thrown. The op works in the context that is current
// when it is opened, and expects it to be current in every later call.
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
