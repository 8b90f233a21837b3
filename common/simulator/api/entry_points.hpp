// The table of the driver API's public names: what cuGetProcAddress looks up.
#pragma once
#include <span>

namespace cudasim {

struct EntryPoint {
  const char* name;    // the public name, "cuMemAlloc"
  int since;           // the CUDA version this form came with, 3020
  const char* symbol;  // the exported symbol, "cuMemAlloc_v2"
  void* address;
  int per_thread_since;      // 0: there is no form for per-thread default streams
  void* per_thread_address;  // "…_ptsz" or "…_ptds"
};

// Sorted by name, the forms of one name from the oldest to the newest.
std::span<const EntryPoint> entry_points();

}  // namespace cudasim
