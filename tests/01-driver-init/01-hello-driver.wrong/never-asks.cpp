// Rejected with: "the next minor version is too new"
// CUDA_VERSION is the version of the headers. The driver is never asked.
#include <cuda.h>

bool driver_at_least(int major, int minor) { return CUDA_VERSION >= 1000 * major + 10 * minor; }
