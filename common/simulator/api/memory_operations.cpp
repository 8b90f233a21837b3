// Stream memory operations (CUDA Driver API manual, "Stream Memory Operations"): a stream writes a word, or waits for
// one to have a value. The second versions only; the first need a driver option that is off by default.
#include "common/simulator/state/streams/memory_operations.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"

namespace cudasim {

namespace {

using Operations = std::vector<CUstreamBatchMemOpParams>;

MemoryPart part_of(const Stream& stream, const Operations& operations) {
  const auto context = stream.context.lock();
  return {operations, context ? context->handle : nullptr};
}

// A captured stream's operations become one node; what is wrong with them is found later.
bool captured(const Stream& stream, const Operations& operations) {
  return add_if_captured(stream, [&](const Graph&) { return part_of(stream, operations); });
}

void enqueue(const std::shared_ptr<Stream>& stream, Operation operation, const CUstreamBatchMemOpParams& given) {
  operation.parameters = std::make_shared<MemoryPart>(part_of(*stream, {given}));
  stream->enqueue(std::move(operation));
}

CUstreamBatchMemOpParams described(CUstreamBatchMemOpType what, u64 address, u64 value, unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue.operation = what;  // cuStreamBatchMemOp's writes are described alike
  operation.waitValue.address = address;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return operation;
}

CUresult wait_value(CUstream handle, CUdeviceptr address, u64 value, u32 size, unsigned flags) {
  const auto stream = get_stream(handle);
  const auto what = size == 4 ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WAIT_VALUE_64;
  const CUstreamBatchMemOpParams given = described(what, address, value, flags);
  if (!captured(*stream, {given})) enqueue(stream, wait_operation(address, value, size, flags, stream->health), given);
  return CUDA_SUCCESS;
}

CUresult write_value(CUstream handle, CUdeviceptr address, u64 value, u32 size, unsigned flags) {
  const auto stream = get_stream(handle);
  const auto what = size == 4 ? CU_STREAM_MEM_OP_WRITE_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_64;
  const CUstreamBatchMemOpParams given = described(what, address, value, flags);
  if (!captured(*stream, {given})) enqueue(stream, write_operation(address, value, size, flags), given);
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
  if (captured(*stream, {given, given + count})) return CUDA_SUCCESS;
  std::vector<Operation> operations;
  for (unsigned i = 0; i < count; ++i) operations.push_back(memory_operation(given[i], stream->health));
  for (unsigned i = 0; i < count; ++i) enqueue(stream, std::move(operations[i]), given[i]);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
