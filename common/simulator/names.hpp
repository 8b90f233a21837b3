// cuda.h, and what the simulator uses of it that older toolkits lack.
#pragma once
#include <cuda.h>

#if CUDA_VERSION < 12030
constexpr CUresult CUDA_ERROR_LOSSY_QUERY = static_cast<CUresult>(402);
#endif
#if CUDA_VERSION < 12040
using CUgreenCtx = struct CUgreenCtx_st*;
#endif

namespace cudasim {

// The version that cuDriverGetVersion reports: that of the headers.
constexpr int kDriverVersion = CUDA_VERSION;

}  // namespace cudasim
