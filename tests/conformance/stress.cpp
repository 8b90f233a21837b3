// Many threads at once, and random calls: nothing may crash, hang or leak. CONFORMANCE_SECONDS says for how long
// (default: 2), CONFORMANCE_CALLS how many random calls (default: 20000).
#include "tests/conformance/scenario.hpp"

#include <atomic>
#include <random>
#include <thread>

namespace {

long setting(const char* name, long otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atol(value) : otherwise;
}

// One thread's work: everything of its own, checked at the end. Returns what went wrong, or nothing.
std::string busy(CUcontext ctx, const std::string& image, std::chrono::steady_clock::time_point end, unsigned seed) {
#define TRY(call)                                                                                       \
  do {                                                                                                  \
    if (const CUresult r = (call); r != CUDA_SUCCESS) return std::string(#call) + " -> " + cu::name(r); \
  } while (false)
  constexpr int n = 1000;
  TRY(cuCtxSetCurrent(ctx));
  std::minstd_rand random(seed);
  while (std::chrono::steady_clock::now() < end) {
    CUmodule mod = nullptr;
    CUfunction vadd = nullptr;
    CUstream s = nullptr;
    CUevent e = nullptr;
    CUdeviceptr a = 0, b = 0, c = 0, coef = 0;
    const float one = 1.0f;
    std::vector<float> x(n, static_cast<float>(random() % 100)), y(n, static_cast<float>(random() % 100)), z(n);
    TRY(cuModuleLoadData(&mod, image.c_str()));
    TRY(cuModuleGetFunction(&vadd, mod, "vadd"));
    TRY(cuModuleGetGlobal(&coef, nullptr, mod, "coef"));
    TRY(cuStreamCreate(&s, random() % 2 ? unsigned{CU_STREAM_NON_BLOCKING} : 0u));
    TRY(cuEventCreate(&e, 0));
    TRY(cuMemAlloc(&a, n * 4));
    TRY(cuMemAlloc(&b, n * 4));
    TRY(cuMemAlloc(&c, n * 4));
    for (int round = 0; round < 5; ++round) {
      int count = n;
      void* arguments[] = {&a, &b, &c, &count};
      TRY(cuMemcpyHtoDAsync(coef, &one, 4, s));
      TRY(cuMemcpyHtoDAsync(a, x.data(), n * 4, s));
      TRY(cuMemcpyHtoDAsync(b, y.data(), n * 4, s));
      TRY(cuLaunchKernel(vadd, 4, 1, 1, 256, 1, 1, 0, s, arguments, nullptr));
      TRY(cuEventRecord(e, s));
      TRY(cuStreamWaitEvent(nullptr, e, 0));
      TRY(cuMemcpyDtoHAsync(z.data(), c, n * 4, s));
      TRY(cuStreamSynchronize(s));
      for (int i = 0; i < n; ++i) {
        if (z[static_cast<std::size_t>(i)] != x[0] + y[0]) return "a wrong sum";
      }
    }
    TRY(cuMemFree(a));
    TRY(cuMemFree(b));
    TRY(cuMemFree(c));
    TRY(cuEventDestroy(e));
    TRY(cuStreamDestroy(s));
    TRY(cuModuleUnload(mod));
  }
  return "";
#undef TRY
}

}  // namespace

FRESH_CASE("Sixteen threads share a context, and memory returns to where it was", "[stress][alone]") {
  const CUcontext ctx = conformance::context().ctx;
  const std::string image = conformance::image();
  std::size_t before = 0, after = 0, total = 0;
  ANSWERS(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(setting("CONFORMANCE_SECONDS", 2));
  std::vector<std::string> wrong(16);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] { wrong[t] = busy(ctx, image, end, t + 1); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& what : wrong) CHECK(what == "");
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  if (conformance::on_simulator()) CHECK(after == before);
}

namespace {

// Values that handles and numbers are drawn from: live ones, stale ones, and nonsense. Only for the simulator: a GPU's
// driver looks into what it is given, and crashes.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  unsigned number(unsigned below) { return static_cast<unsigned>(random_() % below); }
  bool rarely() { return number(16) == 0; }

  // Small numbers mostly, bit patterns at times.
  unsigned value() {
    const unsigned kinds[] = {number(3), number(70), 1u << number(32), static_cast<unsigned>(random_())};
    return kinds[number(4)];
  }

  template <class Handle>
  Handle any(std::vector<Handle>& known) {
    if (!known.empty() && !rarely()) return known[number(static_cast<unsigned>(known.size()))];
    const std::uintptr_t odd[] = {0, 1, 2, 0x1234, random_(), known_value_};
    const auto value = odd[number(6)];
    return reinterpret_cast<Handle>(value);
  }
  template <class Handle>
  void keep(std::vector<Handle>& known, Handle made) {
    known_value_ = reinterpret_cast<std::uintptr_t>(made);
    if (known.size() < 24) {
      known.push_back(made);
    } else {
      known[number(24)] = made;  // the other one is forgotten, not destroyed
    }
  }

 private:
  std::mt19937_64 random_;
  std::uintptr_t known_value_ = 0;  // a handle of whatever kind
};

void CUDA_CB nothing(void*) {}

struct Things {
  std::vector<CUcontext> contexts;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUgraph> graphs;
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphExec> executables;
};

// Long because it is a table: a call in each case.
void random_call(Dice& dice, Things& have, const std::string& image) {
  CUcontext ctx = nullptr;
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUgraph g = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec x = nullptr;
  std::size_t size = 0;
  unsigned u = 0;
  int i = 0;
  float ms = 0;
  switch (dice.number(46)) {
    case 0:
      if (dice.number(4) == 0 &&
          cuCtxCreate(&ctx, nullptr, dice.value() % 9, static_cast<CUdevice>(dice.number(3) / 2)) == CUDA_SUCCESS) {
        dice.keep(have.contexts, ctx);
      }
      break;
    case 1: cuCtxPushCurrent(dice.any(have.contexts)); break;
    case 2: cuCtxPopCurrent(&ctx); break;
    case 3: cuCtxSetCurrent(dice.any(have.contexts)); break;
    case 4:
      if (dice.rarely()) cuCtxDestroy(dice.any(have.contexts));
      break;
    case 5: cuCtxGetDevice(&i); break;
    case 6: cuCtxSetLimit(static_cast<CUlimit>(dice.value()), dice.value()); break;
    case 7: cuCtxGetLimit(&size, static_cast<CUlimit>(dice.value())); break;
    case 8: cuCtxSynchronize(); break;
    case 9: cuDevicePrimaryCtxRetain(&ctx, static_cast<CUdevice>(dice.value())); break;
    case 10: cuDevicePrimaryCtxRelease(static_cast<CUdevice>(dice.number(2))); break;
    case 11: cuDevicePrimaryCtxSetFlags(static_cast<CUdevice>(dice.number(2)), dice.value() & 15); break;
    case 12:
    case 13:
      if (cuStreamCreateWithPriority(&s, dice.value() % 4, static_cast<int>(dice.value())) == CUDA_SUCCESS) {
        dice.keep(have.streams, s);
      }
      break;
    case 14: cuStreamDestroy(dice.any(have.streams)); break;
    case 15: cuStreamQuery(dice.any(have.streams)); break;
    case 16: cuStreamSynchronize(dice.any(have.streams)); break;
    case 17: cuStreamWaitEvent(dice.any(have.streams), dice.any(have.events), dice.value()); break;
    case 18: cuStreamWaitEvent(dice.any(have.streams), dice.any(have.events), 0); break;
    case 19: cuLaunchHostFunc(dice.any(have.streams), dice.rarely() ? nullptr : nothing, nullptr); break;
    case 20: cuStreamGetFlags(dice.any(have.streams), &u); break;
    case 21: cuStreamGetPriority(dice.any(have.streams), &i); break;
    case 22: cuStreamGetCtx(dice.any(have.streams), &ctx); break;
    case 23: cuStreamBeginCapture(dice.any(have.streams), static_cast<CUstreamCaptureMode>(dice.number(4))); break;
    case 24:
    case 25:
      if (cuStreamEndCapture(dice.any(have.streams), &g) == CUDA_SUCCESS) dice.keep(have.graphs, g);
      break;
    case 26:
    case 27:
      if (cuEventCreate(&e, dice.value() % 9) == CUDA_SUCCESS) dice.keep(have.events, e);
      break;
    case 28: cuEventDestroy(dice.any(have.events)); break;
    case 29: cuEventRecord(dice.any(have.events), dice.any(have.streams)); break;
    case 30: cuEventQuery(dice.any(have.events)); break;
    case 31: cuEventSynchronize(dice.any(have.events)); break;
    case 32: cuEventElapsedTime(&ms, dice.any(have.events), dice.any(have.events)); break;
    case 33:
      if (dice.rarely() && cuModuleLoadData(&m, image.c_str()) == CUDA_SUCCESS) dice.keep(have.modules, m);
      break;
    case 34:
      if (dice.rarely()) cuModuleUnload(dice.any(have.modules));
      break;
    case 35:
      if (cuModuleGetFunction(&f, dice.any(have.modules), dice.rarely() ? "nope" : "inc") == CUDA_SUCCESS) {
        dice.keep(have.functions, f);
      }
      break;
    case 36: cuFuncGetAttribute(&i, static_cast<CUfunction_attribute>(dice.value()), dice.any(have.functions)); break;
    case 37:
      cuFuncSetAttribute(dice.any(have.functions), static_cast<CUfunction_attribute>(dice.number(18)),
                         static_cast<int>(dice.value()));
      break;
    case 38:
      cuLaunchKernel(dice.any(have.functions), dice.number(4), 1, 1, dice.number(40), 1, 1, dice.value(),
                     dice.any(have.streams), nullptr, nullptr);
      break;
    case 39:
      cuLaunchKernel(dice.any(have.functions), 1, 1, 1, 1, 1, 1, 0, dice.any(have.streams), nullptr, nullptr);
      break;
    case 40: cuOccupancyMaxActiveBlocksPerMultiprocessor(&i, dice.any(have.functions), 128, dice.value()); break;
    case 41:
      if (cuGraphCreate(&g, dice.rarely() ? 1 : 0) == CUDA_SUCCESS) dice.keep(have.graphs, g);
      break;
    case 42: {
      CUgraphNode after[] = {dice.any(have.nodes)};
      if (cuGraphAddEmptyNode(&node, dice.any(have.graphs), after, dice.number(2)) == CUDA_SUCCESS) {
        dice.keep(have.nodes, node);
      }
      break;
    }
    case 43:
      if (cuGraphInstantiate(&x, dice.any(have.graphs), dice.value() % 10) == CUDA_SUCCESS) {
        dice.keep(have.executables, x);
      }
      break;
    case 44: cuGraphLaunch(dice.any(have.executables), dice.any(have.streams)); break;
    case 45:
      switch (dice.number(4)) {
        case 0: cuGraphDestroy(dice.any(have.graphs)); break;
        case 1: cuGraphExecDestroy(dice.any(have.executables)); break;
        case 2: cuGraphDestroyNode(dice.any(have.nodes)); break;
        case 3:
          if (cuGraphClone(&g, dice.any(have.graphs)) == CUDA_SUCCESS) dice.keep(have.graphs, g);
          break;
      }
      break;
  }
}

}  // namespace

FRESH_CASE("Random calls with live, stale and senseless handles neither crash nor hang", "[stress]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver (580) does not come back from some of these calls");
  const std::string image = conformance::image();
  Dice dice(20261121);
  Things have;
  const long calls = setting("CONFORMANCE_CALLS", 20000);
  for (long call = 0; call < calls; ++call) random_call(dice, have, image);
}
