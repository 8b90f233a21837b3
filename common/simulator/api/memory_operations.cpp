// Stream memory operations (CUDA Driver API manual, "Stream Memory Operations"): a stream writes a word, or waits for
// one to have a value. The second versions only; the first need a driver option that is off by default.
#include "common/simulator/state/memory_operations.hpp"

#include "common/simulator/api/call.hpp"

namespace cudasim {

namespace {

CUresult wait_value(CUstream handle, CUdeviceptr address, u64 value, u32 size, unsigned flags) {
  const auto stream = get_stream(handle);
  stream->enqueue(wait_operation(address, value, size, flags, stream->health));
  return CUDA_SUCCESS;
}

CUresult write_value(CUstream handle, CUdeviceptr address, u64 value, u32 size, unsigned flags) {
  const auto stream = get_stream(handle);
  stream->enqueue(write_operation(address, value, size, flags));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait_value(stream, addr, value, 4, flags);
}

CUresult driver::call_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait_value(stream, addr, value, 8, flags);
}

CUresult driver::call_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return write_value(stream, addr, value, 4, flags);
}

CUresult driver::call_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return write_value(stream, addr, value, 8, flags);
}

CUresult driver::call_cuStreamBatchMemOp_v2(CUstream handle, unsigned count, CUstreamBatchMemOpParams* given,
                                            unsigned flags) {
  const auto stream = get_stream(handle);
  require(count < kBatchLimit && (count == 0 || given != nullptr) && flags == 0);
  std::vector<Operation> operations;
  for (unsigned i = 0; i < count; ++i) operations.push_back(memory_operation(given[i], stream->health));
  for (Operation& operation : operations) stream->enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

}  // namespace cudasim
