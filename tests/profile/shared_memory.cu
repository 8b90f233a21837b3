// The kernels of a lesson, for launches of fixed size.
#include "04-kernels/07-shared-memory/kernels.cu"
