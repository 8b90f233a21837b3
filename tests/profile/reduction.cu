// The kernels of a lesson, for launches of fixed size.
#include "04-kernels/10-reduction/kernels.cu"
