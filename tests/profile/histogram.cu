// The kernels of a lesson, for launches of fixed size.
#include "04-kernels/13-scan-and-histogram/kernels.cu"
