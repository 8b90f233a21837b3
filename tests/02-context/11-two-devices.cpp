// Self-check of 02-context/11-two-devices: judges the learner's share(). So that it can judge on any machine, the calls
// about peers are answered here, as a driver with two devices would; the last case, on two devices, lets them through.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <set>
#include <utility>

bool share(CUcontext a, CUcontext b);

namespace {

// What the machine is made out to be: contexts `a` and `b` are on these devices, every other one on a third.
constexpr CUdevice kDeviceOfA = 2, kDeviceOfB = 5, kThird = 7;
struct Pretended {
  bool on = false;
  CUcontext a = nullptr, b = nullptr;
  std::set<std::pair<CUdevice, CUdevice>> closed;  // {x, y}: kernels of device x cannot use memory of device y
  std::set<std::pair<CUcontext, CUcontext>> open;  // from, to
};
Pretended pretended;

CUdevice device_number(CUcontext context) {
  return context == pretended.a ? kDeviceOfA : context == pretended.b ? kDeviceOfB : kThird;
}

bool reaches(CUdevice from, CUdevice to) { return from != to && pretended.closed.count({from, to}) == 0; }

CUresult tell_device(CUdevice* device, CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = device_number(context);
  return CUDA_SUCCESS;
}

struct TwoContexts {
  CUcontext a, b, other;
  TwoContexts() {
    CUdevice device;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    for (CUcontext* context : {&a, &b, &other}) CU_CHECK(cuCtxCreate(context, nullptr, 0, device));
    CUcontext popped;
    for (int i = 0; i < 2; ++i) CU_CHECK(cuCtxPopCurrent(&popped));
    CU_CHECK(cuCtxSetCurrent(other));
    pretended = {true, a, b, {}, {}};
  }
  ~TwoContexts() {
    pretended = {};
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
    for (CUcontext context : {a, b, other}) cuCtxDestroy(context);
  }
};

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  return pretended.on ? tell_device(device, current()) : DRIVERS(cuCtxGetDevice)(device);
}

#if CUDA_VERSION >= 13000
CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (!pretended.on) return DRIVERS(cuCtxGetDevice_v2)(device, context);
  return tell_device(device, context != nullptr ? context : current());
}
#endif

CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  if (Refusal::meets("cuDeviceCanAccessPeer")) return kRefused;
  if (!pretended.on) return DRIVERS(cuDeviceCanAccessPeer)(can, from, to);
  for (const CUdevice device : {from, to}) {
    if (device != kDeviceOfA && device != kDeviceOfB && device != kThird) return CUDA_ERROR_INVALID_DEVICE;
  }
  *can = reaches(from, to);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext to, unsigned flags) {
  if (Refusal::meets("cuCtxEnablePeerAccess")) return kRefused;
  if (!pretended.on) return DRIVERS(cuCtxEnablePeerAccess)(to, flags);
  const CUcontext from = current();
  if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!reaches(device_number(from), device_number(to))) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  return pretended.open.emplace(from, to).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

TEST_CASE_METHOD(TwoContexts, "both ways are open") {
  CHECK(share(a, b));
  CHECK(pretended.open.count({a, b}) == 1);
  CHECK(pretended.open.count({b, a}) == 1);
}

TEST_CASE_METHOD(TwoContexts, "a way may have been open before") {
  pretended.open = {{a, b}};
  CHECK(share(a, b));
  CHECK(pretended.open.size() == 2);
  CHECK(share(a, b));
  CHECK(pretended.open.size() == 2);
}

TEST_CASE_METHOD(TwoContexts, "devices that cannot reach each other are no error") {
  pretended.closed = {{kDeviceOfA, kDeviceOfB}, {kDeviceOfB, kDeviceOfA}};
  CHECK_FALSE(share(a, b));
  CHECK(pretended.open.empty());
}

TEST_CASE_METHOD(TwoContexts, "where only one way can be opened, none is") {
  pretended.closed = {{kDeviceOfB, kDeviceOfA}};
  CHECK_FALSE(share(a, b));
  CHECK_FALSE(share(b, a));
  CHECK(pretended.open.empty());
}

TEST_CASE_METHOD(TwoContexts, "the caller's stack is the same afterwards") {
  share(a, b);
  CHECK(current() == other);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(TwoContexts, "a context that is none is an error, and leaves the stack alone") {
  CHECK_THROWS_AS(share(a, nullptr), cu::Error);
  CHECK(current() == other);
}

TEST_CASE_METHOD(TwoContexts, "each call is checked: what the driver refuses is thrown, and leaves the stack alone") {
  const auto answer = [&] {
    pretended.open.clear();
    share(a, b);
  };
  CHECK(goes_on({"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess"}, answer) == "");
  CHECK(current() == other);
}

TEST_CASE("two devices that can reach each other do") {
  int devices, there, back;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&devices));
  if (devices < 2) SKIP_TEST("there is one device here");
  CU_CHECK(cuDeviceCanAccessPeer(&there, 0, 1));
  CU_CHECK(cuDeviceCanAccessPeer(&back, 1, 0));
  if (!there || !back) SKIP_TEST("the first two devices here cannot reach each other");
  cu::Context zero(0), one(1);
  CHECK(share(zero.handle, one.handle));
  CHECK(cuCtxDisablePeerAccess(zero.handle) == CUDA_SUCCESS);  // from one, which is current
  cu::Current in(zero.handle);
  CHECK(cuCtxDisablePeerAccess(one.handle) == CUDA_SUCCESS);
}
