// Enables peer access between two contexts, in both directions.
#include "common/cu.hpp"

// Lets kernels of each context use memory of the other. Returns true if both directions are enabled afterwards; they
// may have been enabled before. Returns false, and enables nothing, if the two devices cannot access each other in both
// directions. The caller's context stack does not change. Throws cu::Error if a driver call fails for another reason
// (CU_THROW).
bool share(CUcontext a, CUcontext b) {
  // Your code here.
  (void)a;
  (void)b;
  return false;
}
