// The driver's functions that the runtime calls (driver_functions.inc). They are looked up when the first of them is
// needed, and not linked: a program that finds no driver must start all the same, because it may have a way to do
// without.
#pragma once
#include <cuda.h>

// cudaProfiler.h, which declares them, is not in every toolkit.
extern "C" CUresult CUDAAPI cuProfilerStart(void);
extern "C" CUresult CUDAAPI cuProfilerStop(void);

namespace runtime {

struct Driver {
  bool found;  // whether there is a libcuda.so.1
#define F(function) decltype(&::function) function;
#include "common/runtime/driver_functions.inc"
#undef F
};

// A function that the driver lacks returns what means cudaErrorCallRequiresNewerDriver to the runtime's caller.
const Driver& driver();

}  // namespace runtime
