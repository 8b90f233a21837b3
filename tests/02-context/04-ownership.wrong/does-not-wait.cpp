// Rejected with: "work that is still running in the old context finishes before the copy"
// Copies in the heir without waiting for the old context. Streams of two contexts are not ordered, so the copy races
// with the work that still writes to the memory.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  cu::Current in(heir);
  cu::Memory saved(bytes);
  CU_THROW(cuMemcpyDtoD(saved.address, memory, bytes));
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuCtxDestroy(from));
  return std::exchange(saved.address, 0);
}
