// Rejected with: "the weights of another process can be read, even after it has been killed"
// Physical memory comes in multiples of the granularity, so cuMemCreate rejects 3 MiB.
#include "common/cu.hpp"
#include "common/processes.hpp"

#include <cstdint>
#include <memory>
#include <utility>

struct Weights {
  CUdeviceptr address;
  std::size_t bytes;
};

struct Mapping {
  Weights weights{0, 0};
  bool mapped = false;

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (mapped) CU_REPORT(cuMemUnmap(weights.address, weights.bytes));
    if (weights.address != 0) CU_REPORT(cuMemAddressFree(weights.address, weights.bytes));
  }
};

struct Handle {
  CUmemGenericAllocationHandle value = 0;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (value != 0) CU_REPORT(cuMemRelease(value));
  }
};

std::shared_ptr<const Weights> map(const Handle& memory, std::size_t bytes, CUdevice device) {
  const auto mapping = std::make_shared<Mapping>();
  Weights& weights = mapping->weights;
  weights.bytes = bytes;
  CU_THROW(cuMemAddressReserve(&weights.address, bytes, 0, 0, 0));
  CU_THROW(cuMemMap(weights.address, bytes, 0, memory.value, 0));
  mapping->mapped = true;
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CU_THROW(cuMemSetAccess(weights.address, bytes, &access, 1));
  return {mapping, &weights};  // points to the weights, and owns the mapping
}

std::shared_ptr<const Weights> publish(std::size_t bytes, CUdevice device, int socket) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  std::size_t granularity;
  CU_THROW(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t rounded = bytes + 0 * granularity;

  Handle memory;
  CU_THROW(cuMemCreate(&memory.value, rounded, &properties, 0));
  cu::Descriptor descriptor;
  CU_THROW(cuMemExportToShareableHandle(&descriptor.number, memory.value, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  const auto weights = map(memory, rounded, device);
  cu::send(socket, rounded, descriptor);
  return weights;
}

std::shared_ptr<const Weights> attach(CUdevice device, int socket) {
  const auto [bytes, descriptor] = cu::receive_with<std::size_t>(socket);
  Handle memory;
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor.number));
  CU_THROW(cuMemImportFromShareableHandle(&memory.value, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  return map(memory, bytes, device);
}
