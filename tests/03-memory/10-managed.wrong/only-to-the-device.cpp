// Rejected with: "the host causes no page fault"
// The output has to come back, too, and the input is on the device when the host writes it again.
#include "03-memory/10-managed/service.hpp"
#include "common/cu.hpp"

namespace {

CUmemLocation on_device(CUdevice device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
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
    prefetch(output, on_device(device), stream);
    launch();
    CU_THROW(cuStreamSynchronize(stream));
    finish();
  }
}
