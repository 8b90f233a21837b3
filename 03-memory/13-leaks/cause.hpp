// Why device memory is missing after a step of a program that should leave everything as it was.
#pragma once
#include <cuda.h>

#include <functional>

enum class Cause {
  nothing,        // as much memory is free as before
  cache,          // the pool keeps memory that nothing uses, and can return it
  fragmentation,  // at least half of what is missing is in the pool and unused, but the pool cannot return it
  leak,           // each run, or one run in several, leaves more memory allocated
  kept            // the first run has allocated memory that later runs use again
};

constexpr int kRuns = 12;  // after the first one

Cause cause(CUmemoryPool pool, const std::function<void()>& step);
