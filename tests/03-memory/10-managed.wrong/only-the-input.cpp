// Rejected with: "the kernel causes no page fault"
// The kernel writes the output, and a write to a page on the host is a fault as well.
#include "03-memory/10-managed/service.hpp"
#include "common/cu.hpp"

namespace {

CUmemLocation on_device(CUdevice device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

CUmemLocation on_host() {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_HOST;
  return location;
}

void prefetch(const Array& array, CUmemLocation location, CUstream stream) {
  CU_THROW(cuMemPrefetchAsync(array.address, array.bytes, location, 0, stream));
}

}  // namespace

void serve(const Service& service, int rounds) {
  const auto [device, stream, weights, input, output, prepare, launch, finish] = service;
  CU_THROW(cuMemAdvise(weights.address, weights.bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device(device)));
  prefetch(weights, on_device(device), stream);  // a copy: the host keeps its own
  for (int round = 0; round < rounds; ++round) {
    prepare();
    prefetch(input, on_device(device), stream);
    launch();
    prefetch(output, on_host(), stream);
    prefetch(input, on_host(), stream);
    CU_THROW(cuStreamSynchronize(stream));
    finish();
  }
}
