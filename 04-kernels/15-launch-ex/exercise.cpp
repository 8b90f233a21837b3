// Launch the largest grid whose blocks can wait for each other, and the largest one with clusters.
#include "common/cu.hpp"

// Launches the kernel cooperatively in the default stream, with as many blocks of `threads` threads and `shared_bytes`
// bytes of dynamic shared memory as fit on the current device at the same time. Returns the result of the launch, or of
// the first call that fails before it.
CUresult launch_all(CUfunction kernel, unsigned threads, unsigned shared_bytes, void** arguments) {
  // Your code here.
  (void)kernel, (void)threads, (void)shared_bytes, (void)arguments;
  return CUDA_ERROR_UNKNOWN;
}

// Launches the kernel in the default stream with blocks of `threads` threads, in clusters of `cluster` blocks (at most
// 8): as many clusters as can run on the current device at the same time. If `early`, the kernel may start before the
// previous kernel in the stream has finished. Returns the result of the launch, or of the first call that fails before
// it.
CUresult launch_clusters(CUfunction kernel, unsigned threads, unsigned cluster, bool early, void** arguments) {
  // Your code here.
  (void)kernel, (void)threads, (void)cluster, (void)early, (void)arguments;
  return CUDA_ERROR_UNKNOWN;
}
