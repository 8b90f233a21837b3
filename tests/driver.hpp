// What the checks of several lessons ask the driver, and how a check listens in on an answer's calls.
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>
#include <cstddef>

inline CUcontext current() {
  CUcontext context = nullptr;
  CU_CHECK(cuCtxGetCurrent(&context));
  return context;
}

// Free bytes on the device of the current context.
inline std::size_t free_bytes() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

// A function of the program takes the place of a library's of the same name. A check that defines cuCtxDestroy, say,
// gets the answer's calls, counts them, and hands them on:
//   return DRIVERS(cuCtxDestroy)(context);
// The name passes through a second macro, so that cuda.h turns it into the one that is exported, cuCtxDestroy_v2.
#define DRIVERS(call) DRIVERS_NAMED(call)
#define DRIVERS_NAMED(call) reinterpret_cast<decltype(&call)>(dlsym(RTLD_NEXT, #call))
