// Let host and device use managed memory in turn, without page faults.
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

// Runs the rounds of a service: prepare, launch and finish, once per round. All arrays are on the host at first.
// Neither side may cause a page fault, and no more than budget() bytes may cross the interconnect. Throws cu::Error if
// a driver call fails (CU_THROW).
void serve(const Service& service, int rounds) {
  const auto [device, stream, weights, input, output, prepare, launch, finish] = service;
  CU_THROW(cuMemAdvise(weights.address, weights.bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device(device)));
  prefetch(weights, on_device(device), stream);  // a copy: the host keeps its own
  for (int round = 0; round < rounds; ++round) {
    prepare();
    prefetch(input, on_device(device), stream);
    prefetch(output, on_device(device), stream);
    launch();
    prefetch(output, on_host(), stream);
    prefetch(input, on_host(), stream);
    CU_THROW(cuStreamSynchronize(stream));
    finish();
  }
}
