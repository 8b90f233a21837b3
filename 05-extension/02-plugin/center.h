// What the exercise implements: y[r][c] = x[r][c] - m[r], where m[r] is the mean of row r. The contract is that of
// op.h, with one addition. This op needs memory for intermediate results, the workspace. The plugin says how many bytes
// it needs, and the host allocates them and passes the address with each call. Their contents are undefined before a
// call.
#pragma once
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct center center;  // the state of one execution; one thread at a time may use it

// When the host prepares a context for execution, which must be current. `kernels` is kernels.cu, which the host has
// loaded for every context and will unload after the last center_detach().
int center_attach(center** made, CUlibrary kernels);
int center_prepare(center* execution, int64_t rows, int64_t columns);
size_t center_workspace(const center* execution);  // the bytes of workspace that a call needs for the prepared shape
void center_detach(center* execution);

// While the model runs. Only adds work to the stream: does not allocate memory and does not wait. Any context may be
// current. x, y and the workspace may be null if the matrix has no elements.
int center_enqueue(center* execution, CUdeviceptr x, CUdeviceptr y, CUdeviceptr workspace, CUstream stream);

#ifdef __cplusplus
}
#endif
