#include "common/simulator/state/streams/memory_operations.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/errors/failure.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace cudasim {
namespace {

// A word in memory that lives as long as this does, whatever is freed in the meantime.
struct Word {
  AddressSpace::Hold hold;
  std::byte* bytes = nullptr;

  // Throws CUDA_ERROR_ILLEGAL_ADDRESS if there is no such memory any more.
  Word(u64 address, u32 size) {
    const auto allocation = AddressSpace::instance().find(address);
    require(allocation && allocation->base + allocation->size - address >= size, CUDA_ERROR_ILLEGAL_ADDRESS);
    bytes = allocation->host + (address - allocation->base);
  }
  u64 load(u32 size) const {
    return size == 4 ? __atomic_load_n(reinterpret_cast<const u32*>(bytes), __ATOMIC_ACQUIRE)
                     : __atomic_load_n(reinterpret_cast<const u64*>(bytes), __ATOMIC_ACQUIRE);
  }
  void store(u64 value, u32 size) const {
    if (size == 4) {
      __atomic_store_n(reinterpret_cast<u32*>(bytes), static_cast<u32>(value), __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(reinterpret_cast<u64*>(bytes), value, __ATOMIC_RELEASE);
    }
  }
};

void require_word(u64 address, u32 size) {
  require(address != 0 && address % size == 0);
  const auto allocation = AddressSpace::instance().find(address);
  require(allocation && allocation->base + allocation->size - address >= size);
  require(allocation->kind != MemoryKind::managed);  // as the manual says
}

bool fulfilled(u64 found, u64 wanted, u32 size, unsigned how) {
  const u64 mask = size == 4 ? 0xffff'ffffu : ~u64{0};
  const u64 top = size == 4 ? u64{1} << 31 : u64{1} << 63;
  switch (how) {
    case CU_STREAM_WAIT_VALUE_GEQ: return ((found - wanted) & top) == 0;  // in a circle, as the manual says
    case CU_STREAM_WAIT_VALUE_EQ: return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND: return (found & wanted) != 0;
    default: return (~(found | wanted) & mask) != 0;
  }
}

// Looks again and again, less and less often: there is no notification when memory changes. Gives up when the context
// ends.
CUresult wait_for(u64 address, u64 value, u32 size, unsigned how, const Health& health) {
  std::chrono::microseconds pause{10};
  while (!health.ended && !health.ending && health.fault == CUDA_SUCCESS) {
    if (fulfilled(Word(address, size).load(size), value, size, how)) return CUDA_SUCCESS;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds{1000});
  }
  return CUDA_SUCCESS;
}

}  // namespace

Operation wait_operation(u64 address, u64 value, u32 size, unsigned flags, const std::shared_ptr<Health>& health) {
  const unsigned how = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
  require(how <= CU_STREAM_WAIT_VALUE_NOR);
  // The device does not flush remote writes (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0).
  require((flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED);
  require_word(address, size);
  Operation wait;
  wait.kind = OperationKind::memory_operation;
  wait.label = "cuStreamWaitValue";
  wait.run = [=] { return wait_for(address, value, size, how, *health); };
  return wait;
}

Operation write_operation(u64 address, u64 value, u32 size, unsigned flags) {
  require((flags & ~static_cast<unsigned>(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)) == 0);
  require_word(address, size);
  Operation write;
  write.kind = OperationKind::memory_operation;
  write.label = "cuStreamWriteValue";
  write.run = [=] {
    Word(address, size).store(value, size);
    return CUDA_SUCCESS;
  };
  return write;
}

Operation memory_operation(const CUstreamBatchMemOpParams& given, const std::shared_ptr<Health>& health) {
  const auto& wait = given.waitValue;
  const auto& write = given.writeValue;
  switch (static_cast<int>(given.operation)) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return wait_operation(wait.address, wait.value, 4, wait.flags, health);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return wait_operation(wait.address, wait.value64, 8, wait.flags, health);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return write_operation(write.address, write.value, 4, write.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return write_operation(write.address, write.value64, 8, write.flags);
    case CU_STREAM_MEM_OP_BARRIER: return {};  // operations of a stream are in order, and seen by all
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: fail(CUDA_ERROR_NOT_SUPPORTED);
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace cudasim
