// Checks the learner's share() (exercise of 02-context/10-two-devices). The calls that concern peer access are
// simulated, so one device is enough. If there are two devices, the last case passes the calls on to the driver.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <set>
#include <utility>

bool share(CUcontext a, CUcontext b);

namespace {

// The simulated machine: contexts `a` and `b` are on these devices, and every other context is on a third one.
constexpr CUdevice kDeviceOfA = 2, kDeviceOfB = 5, kThird = 7;
struct Simulated {
  bool on = false;
  CUcontext a = nullptr, b = nullptr;
  std::set<std::pair<CUdevice, CUdevice>> closed;  // {x, y}: device x cannot access memory of device y
  std::set<std::pair<CUcontext, CUcontext>> open;  // from, to
};
Simulated simulated;

CUdevice device_number(CUcontext context) {
  return context == simulated.a ? kDeviceOfA : context == simulated.b ? kDeviceOfB : kThird;
}

bool reaches(CUdevice from, CUdevice to) { return from != to && simulated.closed.count({from, to}) == 0; }

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
    simulated = {true, a, b, {}, {}};
  }
  ~TwoContexts() {
    simulated = {};
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
    for (CUcontext context : {a, b, other}) cuCtxDestroy(context);
  }
};

}  // namespace

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  return simulated.on ? tell_device(device, current()) : DRIVERS(cuCtxGetDevice)(device);
}

#if CUDA_VERSION >= 13000
CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (!simulated.on) return DRIVERS(cuCtxGetDevice_v2)(device, context);
  return tell_device(device, context != nullptr ? context : current());
}
#endif

CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  if (Refusal::meets("cuDeviceCanAccessPeer")) return kRefused;
  if (!simulated.on) return DRIVERS(cuDeviceCanAccessPeer)(can, from, to);
  for (const CUdevice device : {from, to}) {
    if (device != kDeviceOfA && device != kDeviceOfB && device != kThird) return CUDA_ERROR_INVALID_DEVICE;
  }
  *can = reaches(from, to);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext to, unsigned flags) {
  if (Refusal::meets("cuCtxEnablePeerAccess")) return kRefused;
  if (!simulated.on) return DRIVERS(cuCtxEnablePeerAccess)(to, flags);
  const CUcontext from = current();
  if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!reaches(device_number(from), device_number(to))) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  return simulated.open.emplace(from, to).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

TEST_CASE_METHOD(TwoContexts, "both directions are enabled") {
  CHECK(share(a, b));
  CHECK(simulated.open.count({a, b}) == 1);
  CHECK(simulated.open.count({b, a}) == 1);
}

TEST_CASE_METHOD(TwoContexts, "a direction may have been enabled before") {
  simulated.open = {{a, b}};
  CHECK(share(a, b));
  CHECK(simulated.open.size() == 2);
  CHECK(share(a, b));
  CHECK(simulated.open.size() == 2);
}

TEST_CASE_METHOD(TwoContexts, "devices that cannot access each other are not an error") {
  simulated.closed = {{kDeviceOfA, kDeviceOfB}, {kDeviceOfB, kDeviceOfA}};
  CHECK_FALSE(share(a, b));
  CHECK(simulated.open.empty());
}

TEST_CASE_METHOD(TwoContexts, "if only one direction is possible, none is enabled") {
  simulated.closed = {{kDeviceOfB, kDeviceOfA}};
  CHECK_FALSE(share(a, b));
  CHECK_FALSE(share(b, a));
  CHECK(simulated.open.empty());
}

TEST_CASE_METHOD(TwoContexts, "the caller's context stack does not change") {
  share(a, b);
  CHECK(current() == other);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(TwoContexts, "a null context is an error, and the stack does not change") {
  CHECK_THROWS_AS(share(a, nullptr), cu::Error);
  CHECK(current() == other);
}

TEST_CASE_METHOD(TwoContexts, "every driver error is thrown, and the stack does not change") {
  const auto solution = [&] {
    simulated.open.clear();
    share(a, b);
  };
  CHECK(ignored_failure({"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess"}, solution) == "");
  CHECK(current() == other);
}

TEST_CASE("peer access between two real devices is enabled") {
  int devices, there, back;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&devices));
  if (devices < 2) SKIP_TEST("this case needs two devices, and there is only one");
  CU_CHECK(cuDeviceCanAccessPeer(&there, 0, 1));
  CU_CHECK(cuDeviceCanAccessPeer(&back, 1, 0));
  if (!there || !back) SKIP_TEST("the first two devices cannot access each other");
  cu::Context zero(0), one(1);
  CHECK(share(zero.handle, one.handle));
  CHECK(cuCtxDisablePeerAccess(zero.handle) == CUDA_SUCCESS);  // the context of device 1 is current
  cu::Current in(zero.handle);
  CHECK(cuCtxDisablePeerAccess(one.handle) == CUDA_SUCCESS);
}
