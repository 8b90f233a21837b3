// The same kernels for a build without optimization (-G): copies and calls that the optimizer removes are in it.
#include "tests/checks/kernels.cu"
#include "tests/checks/library.cu"
