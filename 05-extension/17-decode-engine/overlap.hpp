// Kernels that start before the one before has ended, on compute capability 9.0 and later.
#pragma once

namespace engine {

// The next kernel may start: as long as this one runs, it can only load weights.
__device__ inline void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Waits until the kernel before has ended, and all that it has stored is visible.
__device__ inline void wait_for_last() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace engine
