// The kernels of a lesson, for launches of fixed size.
#include "04-kernels/12-matmul/kernels.cu"
