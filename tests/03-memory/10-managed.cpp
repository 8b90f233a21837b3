// Checks the learner's serve() (exercise of 03-memory/10-managed). A model of the driver's pages counts faults and
// bytes, by the rules of the lesson, because no driver call reports them. The calls reach the driver as well.
#include "03-memory/10-managed/service.hpp"

#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPage = 64 << 10;
enum Side { kHost, kDevice };

struct Page {
  bool resident[2] = {true, false};  // the host has written it
  bool read_mostly = false;
  bool mapped = false;  // the device can use it where it is
};

// The pages of managed memory, and what is waiting in streams. A prefetch or a kernel takes effect when the host waits.
struct Model {
  std::map<CUdeviceptr, Page> pages;
  std::map<CUstream, std::deque<std::function<void()>>> waiting;
  int faults[2] = {0, 0};
  std::size_t bytes = 0;

  template <class Change>
  void each(CUdeviceptr address, std::size_t length, Change change) {
    const auto end = pages.lower_bound(address + length);
    for (auto page = pages.lower_bound(address); page != end; ++page) change(page->second);
  }
  void move(Page& page, Side to, bool copies) {
    bytes += kPage;
    page.resident[to] = true;
    page.resident[1 - to] = copies;
  }
  void access(const Array& array, Side side, bool writes) {
    each(array.address, array.bytes, [&](Page& page) {
      const Side other = side == kHost ? kDevice : kHost;
      if (page.resident[side]) {
        if (writes && page.resident[other]) ++faults[side], page.resident[other] = false;
      } else if (side == kDevice && page.mapped) {
        bytes += kPage;
      } else {
        ++faults[side];
        move(page, side, page.read_mostly && !writes);
      }
    });
  }
  void prefetch(CUdeviceptr address, std::size_t length, Side to) {
    each(address, length, [&](Page& page) {
      if (!page.resident[to]) move(page, to, page.read_mostly);
    });
  }
  void advise(CUdeviceptr address, std::size_t length, CUmem_advise advice, Side side) {
    each(address, length, [&](Page& page) {
      if (advice == CU_MEM_ADVISE_SET_READ_MOSTLY) page.read_mostly = true;
      if (advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY) page.read_mostly = false;
      if (advice == CU_MEM_ADVISE_SET_ACCESSED_BY && side == kDevice) page.mapped = true;
      if (advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY && side == kDevice) page.mapped = false;
    });
  }
  // Streams are not ordered among each other, so the one with the kernels comes first.
  void complete(CUstream first) {
    const auto run = [](std::deque<std::function<void()>>& stream) {
      for (; !stream.empty(); stream.pop_front()) stream.front()();
    };
    run(waiting[first]);
    for (auto& [handle, stream] : waiting) run(stream);
  }
};

Model* model = nullptr;
CUstream kernels_in = nullptr;

struct Served : cu::Primary {
  Model own;
  cu::Stream stream;
  cu::Memory memory;  // cuMemFree frees managed memory, too
  Service service{};
  std::vector<std::string> steps;
  bool is_running = false, has_raced = false;

  Served() {
    constexpr std::size_t kPages[] = {32, 4, 2};
    CU_CHECK(cuMemAllocManaged(&memory.address, 38 * kPage, CU_MEM_ATTACH_GLOBAL));
    CUdeviceptr next = memory.address;
    Array* const arrays[] = {&service.weights, &service.input, &service.output};
    for (int i = 0; i < 3; ++i) {
      *arrays[i] = {next, kPages[i] * kPage};
      for (const CUdeviceptr end = next + arrays[i]->bytes; next < end; next += kPage) own.pages[next] = {};
    }
    service.device = device;
    service.stream = kernels_in = stream.handle;
    service.prepare = [this] {
      steps.push_back("prepare");
      has_raced |= is_running;
      own.access(service.weights, kHost, false);
      own.access(service.input, kHost, true);
    };
    service.launch = [this] {
      steps.push_back("launch");
      is_running = true;
      own.waiting[stream.handle].push_back([this] {
        own.access(service.weights, kDevice, false);
        own.access(service.input, kDevice, false);
        own.access(service.output, kDevice, true);
        is_running = false;
      });
    };
    service.finish = [this] {
      steps.push_back("finish");
      has_raced |= is_running;
      own.access(service.output, kHost, false);
    };
    model = &own;
  }
  ~Served() { model = nullptr; }
};

CUresult completed(CUresult result) {
  if (result == CUDA_SUCCESS && model != nullptr) model->complete(kernels_in);
  return result;
}

CUresult prefetched(CUresult result, CUdeviceptr address, std::size_t bytes, Side to, CUstream stream) {
  if (result == CUDA_SUCCESS && model != nullptr) {
    model->waiting[stream].push_back([=] { model->prefetch(address, bytes, to); });
  }
  return result;
}

CUresult advised(CUresult result, CUdeviceptr address, std::size_t bytes, CUmem_advise advice, Side side) {
  if (result == CUDA_SUCCESS && model != nullptr) model->advise(address, bytes, advice, side);
  return result;
}

}  // namespace

// The calls of serve() are intercepted here.
#if CUDA_VERSION >= 13000
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUmemLocation location, unsigned flags,
                                    CUstream stream) {
  if (Refusal::meets("cuMemPrefetchAsync")) return kRefused;
  const Side to = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? kDevice : kHost;
  return prefetched(DRIVERS(cuMemPrefetchAsync)(address, bytes, location, flags, stream), address, bytes, to, stream);
}
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUmemLocation location) {
  if (Refusal::meets("cuMemAdvise")) return kRefused;
  const Side side = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? kDevice : kHost;
  return advised(DRIVERS(cuMemAdvise)(address, bytes, advice, location), address, bytes, advice, side);
}
#else  // the new form of both calls is in cu.hpp and calls the old one
using Prefetch = CUresult(CUdeviceptr, std::size_t, CUdevice, CUstream);
using Advise = CUresult(CUdeviceptr, std::size_t, CUmem_advise, CUdevice);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice to, CUstream stream) {
  if (Refusal::meets("cuMemPrefetchAsync")) return kRefused;
  const CUresult result =
      reinterpret_cast<Prefetch*>(dlsym(RTLD_NEXT, "cuMemPrefetchAsync"))(address, bytes, to, stream);
  return prefetched(result, address, bytes, to == CU_DEVICE_CPU ? kHost : kDevice, stream);
}
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  if (Refusal::meets("cuMemAdvise")) return kRefused;
  const CUresult result = reinterpret_cast<Advise*>(dlsym(RTLD_NEXT, "cuMemAdvise"))(address, bytes, advice, device);
  return advised(result, address, bytes, advice, device == CU_DEVICE_CPU ? kHost : kDevice);
}
#endif

CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
  return Refusal::meets("cuStreamSynchronize") ? kRefused : completed(DRIVERS(cuStreamSynchronize)(stream));
}
CUresult CUDAAPI cuCtxSynchronize() {
  return Refusal::meets("cuCtxSynchronize") ? kRefused : completed(DRIVERS(cuCtxSynchronize)());
}
CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  return Refusal::meets("cuEventSynchronize") ? kRefused : completed(DRIVERS(cuEventSynchronize)(event));
}

TEST_CASE_METHOD(Served, "each round prepares, launches and finishes") {
  serve(service, 2);
  CHECK(steps == std::vector<std::string>{"prepare", "launch", "finish", "prepare", "launch", "finish"});
}

TEST_CASE_METHOD(Served, "the host waits for the kernel before it finishes") {
  serve(service, 3);
  CHECK_FALSE(has_raced);
}

TEST_CASE_METHOD(Served, "the kernel causes no page fault") {
  serve(service, 5);
  CHECK(own.faults[kDevice] == 0);
}

TEST_CASE_METHOD(Served, "the host causes no page fault") {
  serve(service, 5);
  CHECK(own.faults[kHost] == 0);
}

TEST_CASE_METHOD(Served, "the weights cross the interconnect once") {
  serve(service, 8);
  CHECK(own.bytes < budget(service, 8) + service.weights.bytes);
}

TEST_CASE_METHOD(Served, "no more bytes cross the interconnect than the budget allows") {
  serve(service, 5);
  CHECK(own.bytes <= budget(service, 5));
}

TEST_CASE_METHOD(Served, "memory that is not managed is rejected") {
  const cu::Memory plain(kPage);
  service.weights = {plain.address, kPage};
  CHECK_THROWS_AS(serve(service, 1), cu::Error);
}

TEST_CASE_METHOD(Served, "each call is checked: a driver error is thrown") {
  CHECK(ignored_failure(
            {"cuMemPrefetchAsync", "cuMemAdvise", "cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"},
            [&] { serve(service, 2); }) == "");
}
