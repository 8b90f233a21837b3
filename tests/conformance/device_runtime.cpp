// The device runtime: launches, memory, errors and queries of kernels.
#include "tests/conformance/device_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

// An argument of a function of the device runtime, as PTX: what it is declared as, and how it is passed.
struct Passed {
  std::string type;
  unsigned count;  // of words; 0: not an array
  std::vector<std::string> words;
};
Passed word(unsigned value) { return {".b32", 0, {std::to_string(value)}}; }
Passed wide(unsigned long long value) { return {".b64", 0, {std::to_string(value)}}; }
Passed wide(const char* reg) { return {".b64", 0, {reg}}; }
Passed dim(unsigned x, unsigned y, unsigned z) {
  return {".b32", 3, {std::to_string(x), std::to_string(y), std::to_string(z)}};
}
Passed words(std::vector<std::string> each) {  // of 8 bytes: a register each, or a number
  const auto count = static_cast<unsigned>(each.size());
  return {".b64", count, std::move(each)};
}

struct Asked {
  std::string name;  // behind "cuda"
  std::vector<Passed> arguments;
  bool answers_wide = false;
};

// Kernels that call the device runtime, as a compiler of CUDA 12 and later writes the calls.
class Asking {
 public:
  // A call, for a kernel's text; its result is in %r or %w.
  std::string call(const Asked& asked) {
    const std::string name = "__cudaCDP2" + asked.name, type = asked.answers_wide ? ".b64" : ".b32";
    std::string declared, made, list;
    for (std::size_t i = 0; i < asked.arguments.size(); ++i) {
      const Passed& each = asked.arguments[i];
      const std::string p = "p" + std::to_string(i), comma = i == 0 ? "" : ", ";
      const unsigned bytes = each.type == ".b64" ? 8 : 4;
      const std::string brackets = "[" + std::to_string(each.count * bytes) + "]";
      const std::string before =
          each.count == 0 ? ".param " + each.type + " " : ".param .align " + std::to_string(bytes) + " .b8 ";
      const std::string parameter = before + p + (each.count == 0 ? "" : brackets);
      declared += comma + parameter;
      made += "  " + parameter + ";\n";
      for (std::size_t at = 0; at < each.words.size(); ++at) {
        made += "  st.param" + each.type + " [" + p + "+" + std::to_string(at * bytes) + "], " + each.words[at] + ";\n";
      }
      list += comma + p;
    }
    declared_[name] = ".extern .func (.param " + type + " o) " + name + "(" + declared + ");\n";
    return "  {\n" + made + "  .param " + type + " o;\n  call.uni (o), " + name + ", (" + list + ");\n  ld.param" +
           type + " " + (asked.answers_wide ? "%w" : "%r") + ", [o];\n  }\n";
  }
  // A kernel; its parameter is in %out, and %t is the thread's number.
  void kernel(const std::string& name, const std::string& body) {
    kernels_ += ".visible .entry " + name + "(.param .u64 out) {\n" +
                "  .reg .u64 %out, %at, %w, %k;\n  .reg .u32 %r, %t;\n  .reg .pred %p;\n" +
                "  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n" + body + "  ret;\n}\n";
  }
  std::string text() const {
    std::string all = ".version 7.8\n.target sm_90\n.address_size 64\n";
    for (const auto& [name, declared] : declared_) all += declared;
    return all + kernels_;
  }

 private:
  std::map<std::string, std::string> declared_;
  std::string kernels_;
};

std::string store(unsigned index) { return "  st.global.u32 [%out+" + std::to_string(4 * index) + "], %r;\n"; }
std::string at(unsigned byte) { return "  add.u64 %at, %out, " + std::to_string(byte) + ";\n"; }

// Runs a kernel with the address of `memory` on the device, and gives back what is there then.
template <std::size_t N>
void run_asking(CUmodule mod, const char* kernel, unsigned threads, unsigned (&memory)[N]) {
  CUfunction f = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleGetFunction(&f, mod, kernel));
  CU_CHECK(cuMemAlloc(&out, sizeof memory));
  CU_CHECK(cuMemcpyHtoD(out, memory, sizeof memory));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(memory, out, sizeof memory));
  CU_CHECK(cuMemFree(out));
}

}  // namespace

FRESH_CASE("The device runtime's last error is a thread's own, and begins as none in each launch", "[launch]") {
  conformance::context();
  Asking asking;
  const std::string peek = asking.call({"PeekAtLastError", {}}), get = asking.call({"GetLastError", {}});
  const std::string own = "  mad.wide.u32 %at, %t, 4, %out;\n";
  asking.kernel("fails", "  setp.ne.u32 %p, %t, 0;\n  @%p bra PEEK;\n" + at(512) +
                             asking.call({"Malloc", {wide("%at"), wide(0x4000000000)}}) + store(64) +
                             "PEEK:\n  bar.sync 0;\n" + peek + own + "  st.global.u32 [%at], %r;\n  bar.sync 0;\n" +
                             "  @%p ret;\n" + get + store(65) + get + store(66) + at(512) +
                             asking.call({"Malloc", {wide("%at"), wide(0x4000000000)}}));
  asking.kernel("looks", peek + own + "  st.global.u32 [%at], %r;\n");
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  constexpr unsigned kOutOfMemory = 2;  // cudaErrorMemoryAllocation
  unsigned got[160];
  std::fill(std::begin(got), std::end(got), 77);
  run_asking(mod, "fails", 64, got);
  for (unsigned i = 0; i < 67; ++i) {
    CAPTURE(i);
    CHECK(got[i] == (i == 0 || i == 64 || i == 65 ? kOutOfMemory : 0));
  }
  std::fill(std::begin(got), std::end(got), 77);
  run_asking(mod, "looks", 64, got);
  for (unsigned i = 0; i < 64; ++i) {
    CAPTURE(i);
    CHECK(got[i] == 0);
  }
}

namespace {
constexpr const char* kRefusedChild = "A child that the device cannot have is refused where it is launched";
}  // namespace

FRESH_CASE(kRefusedChild, "[launch]") {
  conformance::context();
  struct Shape {
    const char* kernel;
    unsigned grid[3], block[3], shared;
    bool runs;
  };
  const Shape shapes[] = {
      {"child", {1, 1, 1}, {1, 1, 1}, 0, true},       {"child", {1, 1, 1}, {2000, 1, 1}, 0, false},
      {"child", {1, 1, 1}, {0, 1, 1}, 0, false},      {"child", {1, 1, 1}, {32, 33, 1}, 0, false},
      {"child", {1, 1, 1}, {1024, 1, 1}, 0, true},    {"child", {1, 1, 1}, {1, 1, 65}, 0, false},
      {"child", {0, 1, 1}, {1, 1, 1}, 0, false},      {"child", {1, 0, 1}, {1, 1, 1}, 0, false},
      {"child", {1, 65536, 1}, {1, 1, 1}, 0, false},  {"child", {0x80000000, 1, 1}, {1, 1, 1}, 0, false},
      {"child", {1, 1, 1}, {1, 1, 1}, 300000, false}, {"child", {1, 1, 1}, {1, 1, 1}, 65536, false},
      {"child", {1, 1, 1}, {1, 1, 1}, 49153, false},  {"child", {1, 1, 1}, {1, 1, 1}, 49152, true},
      {"wide", {1, 1, 1}, {1, 1, 1}, 16384, true},    {"wide", {1, 1, 1}, {1, 1, 1}, 16385, false},
      {"bounded", {1, 1, 1}, {64, 1, 1}, 0, true},    {"bounded", {1, 1, 1}, {65, 1, 1}, 0, false},
  };
  Asking asking;
  const std::string count = "  setp.ne.u32 %p, %t, 0;\n  @%p ret;\n  atom.global.add.u32 %r, [%out+12], 1;\n";
  asking.kernel("child", count);
  asking.kernel("wide", "  .shared .b32 own[8192];\n  st.shared.u32 [own], %t;\n" + count);
  std::string of = asking.call({"PeekAtLastError", {}}) + store(0);
  for (const unsigned i : {1u, 2u}) of += asking.call({"GetLastError", {}}) + store(i);
  const auto name = [&](const Shape& shape) { return "asks" + std::to_string(&shape - shapes); };
  for (const Shape& s : shapes) {
    const Asked place{
        "GetParameterBufferV2",
        {wide("%k"), dim(s.grid[0], s.grid[1], s.grid[2]), dim(s.block[0], s.block[1], s.block[2]), word(s.shared)},
        true};
    asking.kernel(name(s), "  mov.u64 %k, " + std::string(s.kernel) + ";\n" + asking.call(place) +
                               "  setp.eq.u64 %p, %w, 0;\n  @%p bra LAST;\n  st.u64 [%w], %out;\n" +
                               asking.call({"LaunchDeviceV2", {wide("%w"), wide(0ull)}}) + "LAST:\n" + of);
  }
  std::string text = asking.text();
  const std::string counts =
      "{\n  .reg .u64 %out;\n  .reg .u32 %r, %t;\n  .reg .pred %p;\n  ld.param.u64 %out, [out];\n" +
      std::string("  mov.u32 %t, %tid.x;\n") + count + "  ret;\n}\n";
  text.insert(text.find(".visible .entry asks"),
              ".visible .entry bounded(.param .u64 out) .maxntid 64, 1, 1 " + counts);
  const CUmodule mod = with_runtime(text);
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  for (const Shape& shape : shapes) {
    for (int time = 0; time < 2; ++time) {
      CAPTURE(name(shape), time);
      unsigned got[4] = {77, 77, 77, 0};
      run_asking(mod, name(shape).c_str(), 1, got);
      const unsigned error = shape.runs ? 0 : 9;  // cudaErrorInvalidConfiguration
      CHECK(got[0] == error);
      CHECK(got[1] == error);
      CHECK(got[2] == 0);
      CHECK(got[3] == (shape.runs ? 1u : 0u));
    }
  }
}

// Children that have ended no longer count, and a single thread launches them no faster than they end: an H200 runs all
// of them even with a limit of 32. The simulator runs them later and never counts them.
FRESH_CASE("A thread may launch more children than the limit of pending launches says", "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("child", "  atom.global.add.u32 %r, [%out], 1;\n");
  const Asked place{"GetParameterBufferV2", {wide("%k"), dim(1, 1, 1), dim(1, 1, 1), word(0)}, true};
  asking.kernel("many", "  mov.u32 %t, 5000;\n  mov.u64 %k, child;\nNEXT:\n" + asking.call(place) +
                            "  setp.eq.u64 %p, %w, 0;\n  @%p bra LAST;\n  st.u64 [%w], %out;\n" +
                            asking.call({"LaunchDeviceV2", {wide("%w"), wide(0ull)}}) +
                            "  sub.u32 %t, %t, 1;\n  setp.ne.u32 %p, %t, 0;\n  @%p bra NEXT;\nLAST:\n" +
                            asking.call({"GetLastError", {}}) + store(1));
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[2] = {0, 77};
  run_asking(mod, "many", 1, got);
  CHECK(got[0] == 5000);
  CHECK(got[1] == 0);
}

namespace {
constexpr const char* kPendingTails = "A kernel has as many tail launches pending as the limit says, and no more";
constexpr const char* kManyThreads = "Threads of many warps launch all their children if the limit has room for them";
constexpr const char* kHalfWritten = "A kernel copies unwritten bytes, and uses the others";
}  // namespace

namespace {

constexpr unsigned kLaunchers = 128, kChildrenOfEach = 40;

// A kernel in which each thread launches children until a launch fails; a child counts for its thread. The error of a
// thread whose launch failed follows the counts. It may come from either of the two calls of a launch.
std::string launch_many(Asking& asking, unsigned long long stream) {
  const Asked place{"GetParameterBufferV2", {wide("%k"), dim(1, 1, 1), dim(1, 1, 1), word(0)}, true};
  return "  mov.u64 %k, child;\n  mad.wide.u32 %at, %t, 4, %out;\n  mov.u32 %t, " + std::to_string(kChildrenOfEach) +
         ";\nNEXT:\n" + asking.call(place) + "  setp.eq.u64 %p, %w, 0;\n  @%p bra REFUSED;\n  st.u64 [%w], %at;\n" +
         asking.call({"LaunchDeviceV2", {wide("%w"), wide(stream)}}) + "  setp.ne.u32 %p, %r, 0;\n  @%p bra FAILED;\n" +
         "  sub.u32 %t, %t, 1;\n  setp.ne.u32 %p, %t, 0;\n  @%p bra NEXT;\n  ret;\nREFUSED:\n" +
         asking.call({"GetLastError", {}}) + "FAILED:\n  st.global.u32 [%at+" + std::to_string(4 * kLaunchers) +
         "], %r;\n";
}

}  // namespace

// A tail begins when its parent has ended, so it is pending until then. An H200 (driver 580) counts exactly the limit.
FRESH_CASE(kPendingTails, "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("child", "  atom.global.add.u32 %r, [%out], 1;\n");
  asking.kernel("tails", launch_many(asking, 3));  // cudaStreamTailLaunch
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  constexpr unsigned kTooManyPending = 69, kAll = kLaunchers * kChildrenOfEach;  // cudaErrorLaunchPendingCountExceeded
  for (const unsigned limit : {2048u, 1000u, kAll}) {
    CAPTURE(limit);
    CU_CHECK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, limit));
    unsigned got[2 * kLaunchers] = {};
    run_asking(mod, "tails", kLaunchers, got);
    unsigned launched = 0;
    for (unsigned i = 0; i < kLaunchers; ++i) {
      CAPTURE(i);
      CHECK(got[kLaunchers + i] == (got[i] < kChildrenOfEach ? kTooManyPending : 0));
      launched += got[i];
    }
    CHECK(launched == limit);
  }
}

FRESH_CASE(kManyThreads, "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("child", "  atom.global.add.u32 %r, [%out], 1;\n");
  asking.kernel("many", launch_many(asking, 0));
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CU_CHECK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, kLaunchers * kChildrenOfEach));
  unsigned got[2 * kLaunchers] = {};
  run_asking(mod, "many", kLaunchers, got);
  for (unsigned i = 0; i < kLaunchers; ++i) {
    CAPTURE(i);
    CHECK(got[i] == kChildrenOfEach);
  }
}

FRESH_CASE(kHalfWritten, "[launch]") {
  conformance::context();
  Asking asking;
  // 16 bytes, their copy, and its copy; the host has written the first 8.
  asking.kernel("copies", "  add.u64 %at, %out, 16;\n" +
                              asking.call({"MemcpyAsync", {wide("%at"), wide("%out"), wide(16), word(3), wide(0ull)}}) +
                              "  add.u64 %k, %out, 32;\n" +
                              asking.call({"MemcpyAsync", {wide("%k"), wide("%at"), wide(16), word(3), wide(0ull)}}));
  asking.kernel("reads", "  ld.global.u32 %r, [%out+36];\n  add.u32 %r, %r, 1;\n  st.global.u32 [%out+44], %r;\n");
  asking.kernel("strays", "  ld.global.u32 %r, [%out+40];\n  setp.ne.u32 %p, %r, 0;\n  @%p st.global.u32 [%out], 1;\n");
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 48));
  const unsigned half[] = {5, 6};
  CU_CHECK(cuMemcpyHtoD(out, half, sizeof half));
  void* a[] = {&out};
  for (const char* each : {"copies", "reads", "strays"}) {
    CUfunction f = nullptr;
    CU_CHECK(cuModuleGetFunction(&f, mod, each));
    ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
    ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  }
  unsigned copied[2] = {}, read = 0;
  CU_CHECK(cuMemcpyDtoH(copied, out + 32, sizeof copied));
  CU_CHECK(cuMemcpyDtoH(&read, out + 44, sizeof read));
  CHECK(copied[0] == 5);
  CHECK(copied[1] == 6);
  CHECK(read == 7);
}

namespace {
constexpr const char* kBeside = "A kernel reads what another kernel's child may be writing";
constexpr const char* kNeighbours = "Two kernels write words of one page at the same time";

// Runs kernels with `out`, each in a stream of its own; all are given before one begins.
void side_by_side(CUmodule mod, const std::vector<const char*>& kernels, CUdeviceptr out) {
  static std::atomic<bool> go{false};
  const auto wait = [](void*) {
    while (!go) std::this_thread::yield();
  };
  void* a[] = {&out};
  for (const char* each : kernels) {
    CUfunction f = nullptr;
    CUstream stream = nullptr;
    CU_CHECK(cuModuleGetFunction(&f, mod, each));
    CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_CHECK(cuLaunchHostFunc(stream, wait, nullptr));
    ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, a, nullptr), CUDA_SUCCESS);
  }
  go = true;
}
}  // namespace

FRESH_CASE(kBeside, "[launch]") {
  conformance::context();
  Asking asking;
  const Asked place{"GetParameterBufferV2", {wide("%k"), dim(1, 1, 1), dim(1, 1, 1), word(0)}, true};
  const auto launch = [&](const char* child) {
    return std::string("  mov.u64 %k, ") + child + ";\n" + asking.call(place) + "  st.u64 [%w], %out;\n" +
           asking.call({"LaunchDeviceV2", {wide("%w"), wide(0ull)}});
  };
  asking.kernel("first", "  mov.u32 %r, 1;\n" + store(0));
  asking.kernel("second", "  mov.u32 %r, 2;\n" + store(1));
  asking.kernel("launches", launch("first") + launch("second"));
  asking.kernel("reads", "  ld.global.u32 %r, [%out];\n" + store(2));
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 12));
  CU_CHECK(cuMemsetD32(out, 0, 3));
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  side_by_side(mod, {"launches", "reads"}, out);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned got[3] = {};
  CU_CHECK(cuMemcpyDtoH(got, out, sizeof got));
  CHECK(got[0] == 1);
  CHECK(got[1] == 2);
  CHECK(got[2] <= 1);
}

FRESH_CASE(kNeighbours, "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("first", "  mov.u32 %r, 1;\n" + store(0));
  asking.kernel("second", "  mov.u32 %r, 2;\n" + store(1));
  CUmodule mod = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleLoadData(&mod, asking.text().c_str()));
  CU_CHECK(cuMemAlloc(&out, 8));
  side_by_side(mod, {"first", "second"}, out);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned got[2] = {};
  CU_CHECK(cuMemcpyDtoH(got, out, sizeof got));
  CHECK(got[0] == 1);
  CHECK(got[1] == 2);
}

FRESH_CASE("The checks find what kernels and their children do wrong, and no more", "[launch]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  for (const char* name : {kManyThreads, kNeighbours, kHalfWritten, kBeside}) {
    const auto ending = conformance::spawn({"conformance", conformance::as_pattern(name)},
                                           {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_CHECK", "race,init,sync"}});
    CAPTURE(ending.output);
    CHECK(ending.good());
    const std::string finding = "========= simulated GPU";
    const std::size_t first = ending.output.find(finding);
    const bool fine = name == kManyThreads || name == kNeighbours;
    CHECK((first == std::string::npos) == fine);
    if (fine) continue;
    // The only ones: "copies" and its like are fine, and "second", which comes last, writes elsewhere.
    const char* const kernel = name == kHalfWritten ? "kernel   strays" : "kernel   first";
    CHECK(ending.output.find(kernel, first) != std::string::npos);
    CHECK(ending.output.find(finding, first + 1) == std::string::npos);
  }
}

FRESH_CASE("The simulator says once what child of a kernel is refused, and why", "[launch]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  for (const bool quiet : {false, true}) {
    const auto ending = conformance::spawn({"conformance", conformance::as_pattern(kRefusedChild)},
                                           {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_QUIET", quiet ? "1" : ""}});
    CAPTURE(ending.output, quiet);
    CHECK(ending.good());
    const std::string told =
        "cudasim: kernel asks17 launched bounded in a way that the device does not have "
        "(cudaErrorInvalidConfiguration; nothing runs): the block has 65 threads, and a block of "
        "bounded has at most 64\n";
    const std::size_t first = ending.output.find(told);
    CHECK((first == std::string::npos) == quiet);
    if (!quiet) CHECK(ending.output.find(told, first + 1) == std::string::npos);
    CHECK(ending.output.find("kernel asks0 ") == std::string::npos);
  }
}

FRESH_CASE("The device runtime judges copies, fills, streams and events, and remembers what is wrong", "[launch]") {
  conformance::context();
  const Passed to = wide("%at"), from = wide("%k"), null = wide(0ull), stream = wide(0ull);
  struct Judged {
    Asked asked;
    unsigned answer;
  };
  const Judged judged[] = {
      {{"MemcpyAsync", {to, from, wide(4), word(1), stream}}, 21},  // cudaErrorInvalidMemcpyDirection
      {{"MemcpyAsync", {to, from, wide(4), word(9), stream}}, 21},
      {{"MemcpyAsync", {to, from, wide(4), word(3), stream}}, 0},
      {{"MemcpyAsync", {to, from, wide(4), word(4), stream}}, 0},  // cudaMemcpyDefault
      {{"MemcpyAsync", {to, from, wide(0ull), word(3), stream}}, 0},
      {{"MemcpyAsync", {null, from, wide(0ull), word(3), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(3), word(3), stream}}, 12},  // …InvalidPitchValue
      {{"Memset2DAsync", {to, wide(2), word(0), wide(4), wide(3), stream}}, 1},
      {{"MemsetAsync", {null, word(0), wide(0ull), stream}}, 0},
      {{"StreamCreateWithFlags", {to, word(0)}}, 0},
      {{"StreamCreateWithFlags", {to, word(1)}}, 0},  // cudaStreamNonBlocking
      {{"StreamCreateWithFlags", {to, word(77)}}, 1},
      {{"EventCreateWithFlags", {to, word(0)}}, 1},  // it may not take the time
      {{"EventCreateWithFlags", {to, word(2)}}, 0},  // cudaEventDisableTiming
      {{"EventCreateWithFlags", {to, word(3)}}, 0},
      {{"EventCreateWithFlags", {to, word(6)}}, 1},  // nor be another process's
      {{"EventCreateWithFlags", {to, word(66)}}, 0},  // what means nothing is not looked at
      // No bytes come before what is wrong, and the direction before the pitch.
      {{"MemcpyAsync", {to, from, wide(0ull), word(1), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(0ull), word(1), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(0ull), word(3), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(3), word(1), stream}}, 21},
  };
  Asking asking;
  std::string body;
  unsigned index = 0;
  for (const Judged& each : judged) {
    body += at(512) + "  add.u64 %k, %out, 768;\n" + asking.call(each.asked) + store(index++);
    body += asking.call({"PeekAtLastError", {}}) + store(index++);
    body += asking.call({"GetLastError", {}}) + store(index++);
  }
  asking.kernel("asks", body);
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[256] = {};
  run_asking(mod, "asks", 1, got);
  for (unsigned i = 0; i < index; ++i) {
    const Judged& each = judged[i / 3];
    CAPTURE(each.asked.name, i / 3, i % 3);
    CHECK(got[i] == each.answer);
  }
}

// Long because it asks each question once, all in one kernel.
FRESH_CASE("The device runtime's queries agree with the driver's", "[launch]") {
  conformance::context();
  Asking asking;
  std::string body = "  mov.u64 %k, plain;\n";
  unsigned index = 0;
  std::vector<unsigned> expected;
  // The call's result, and what it has written.
  const auto asks = [&](const char* name, std::vector<Passed> rest, unsigned answer, std::optional<unsigned> value) {
    const unsigned written = 8 * index + 4;
    rest.insert(rest.begin(), wide("%at"));
    body += at(512) + asking.call({name, rest}) + "  st.global.u32 [%out+" + std::to_string(written - 4) + "], %r;\n";
    body += "  ld.global.u32 %r, [%at];\n  st.global.u32 [%out+" + std::to_string(written) + "], %r;\n";
    expected.insert(expected.end(), {answer, value.value_or(0)});
    if (!value) body += "  mov.u32 %r, 0;\n  st.global.u32 [%out+" + std::to_string(written) + "], %r;\n";
    ++index;
  };
  const auto attribute = [](CUdevice_attribute which) {
    int value = 0;
    CU_CHECK(cuDeviceGetAttribute(&value, which, 0));
    return static_cast<unsigned>(value);
  };
  const auto limit = [](CUlimit which) {
    std::size_t value = 0;
    CU_CHECK(cuCtxGetLimit(&value, which));
    return static_cast<unsigned>(value);
  };
  asks("GetDevice", {}, 0, 0);
  asks("RuntimeGetVersion", {}, 0, 6000);  // of CUDA 13.0
  for (const CUdevice_attribute each : {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_WARP_SIZE})
    asks("DeviceGetAttribute", {word(each), word(0)}, 0, attribute(each));
  // Not every question's error is remembered.
  const auto last_error = [&](unsigned error) {
    body += asking.call({"GetLastError", {}}) + store(2 * index) + "  mov.u32 %r, 0;\n" + store(2 * index + 1);
    expected.insert(expected.end(), {error, 0});
    ++index;
  };
  asks("DeviceGetAttribute", {word(9999), word(0)}, 1, std::nullopt);
  last_error(1);
  asks("DeviceGetLimit", {word(77)}, 1, std::nullopt);
  asks("DeviceGetLimit", {word(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)}, 215, std::nullopt);  // cudaErrorUnsupportedLimit
  asks("OccupancyMaxActiveBlocksPerMultiprocessor", {wide("%k"), word(0), wide(0ull)}, 1, 0);
  asks("OccupancyMaxActiveBlocksPerMultiprocessor", {wide("%k"), word(2000), wide(0ull)}, 0, 0);
  last_error(0);
  for (const CUlimit each : {CU_LIMIT_STACK_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT})
    asks("DeviceGetLimit", {word(each)}, 0, limit(each));
  const unsigned blocks = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 256;
  asks("OccupancyMaxActiveBlocksPerMultiprocessor", {wide("%k"), word(256), wide(0ull)}, 0, blocks);
  asks("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", {wide("%k"), word(256), wide(0ull), word(0)}, 0, blocks);
  body += "  mov.u64 %k, wide;\n";
  asks("FuncGetAttributes", {wide("%k")}, 0, 32768);  // bytes of shared memory
  body += "  ld.global.u64 %w, [%at+16];\n  cvt.u32.u64 %r, %w;\n" + store(2 * index);  // of local memory
  body += "  ld.global.u32 %r, [%at+24];\n" + store(2 * index + 1);  // threads of a block
  ++index;
  expected.insert(expected.end(), {0, 1024});
  struct Letter {
    const char* of;
    unsigned error, at;
    char letter;
  };
  for (const auto& [of, error, place, letter] : {
           Letter{"GetErrorName", 2, 0, 'c'},  // cudaErrorMemoryAllocation
           Letter{"GetErrorName", 2, 9, 'M'},  //
           Letter{"GetErrorName", 21, 15, 'd'},  // cudaErrorInvalidMemcpyDirection
           Letter{"GetErrorString", 21, 8, 'c'},  // invalid copy direction for memcpy
           Letter{"GetErrorName", 12345, 0, 'u'},  // unrecognized error code
           Letter{"GetErrorString", 12345, 0, 'u'},
           Letter{"GetErrorString", 12345, 13, 'e'},
       }) {
    body += asking.call({of, {word(error)}, true}) + "  ld.u8 %r, [%w+" + std::to_string(place) + "];\n";
    body += store(2 * index) + "  mov.u32 %r, 0;\n" + store(2 * index + 1);
    expected.insert(expected.end(), {static_cast<unsigned>(letter), 0});
    ++index;
  }
  asking.kernel("plain", "  st.global.u32 [%out], %t;\n");
  asking.kernel("wide",
                "  .shared .b32 own[8192];\n  st.shared.u32 [own], %t;\n  ld.shared.u32 %r, [own+4];\n" + store(0));
  asking.kernel("asks", body);
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[256] = {};
  run_asking(mod, "asks", 1, got);
  for (unsigned i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == expected[i]);
  }
}

FRESH_CASE("Kernels fill and copy boxes by the device runtime", "[launch]") {
  conformance::context();
  Asking asking;
  // A box of 3 bytes by 2 rows by 2 slices; memory has rows of 8 bytes, and 4 of these to a slice.
  std::string body = at(64) + "  add.u64 %k, %out, 128;\n";
  body +=
      asking.call({"Memset3DAsync", {words({"%at", "8", "8", "4"}), word(0x25), words({"3", "2", "2"}), wide(0ull)}});
  body += store(0);
  // cudaMemcpy3DParms, from byte 1 of row 1 of the filled memory to slice 1 of the other.
  body += "  add.u64 %w, %out, 256;\n";
  const char* const parameters[] = {"0", "1", "1",  "0", "%at", "8", "8", "4", "0", "0",
                                    "0", "1", "%k", "8", "8",   "4", "3", "2", "1", "3"};
  for (unsigned i = 0; i < 20; ++i) body += "  st.u64 [%w+" + std::to_string(8 * i) + "], " + parameters[i] + ";\n";
  body += asking.call({"Memcpy3DAsync", {wide("%w"), wide(0ull)}}) + store(1);
  asking.kernel("asks", body);
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[128];
  auto* const bytes = reinterpret_cast<unsigned char*>(got);
  std::memset(got, 0x77, sizeof got);
  run_asking(mod, "asks", 1, got);
  CHECK(got[0] == 0);
  CHECK(got[1] == 0);
  const auto fill = static_cast<unsigned char>(filled(0x25, bytes[64]));
  for (unsigned i = 0; i < 64; ++i) {
    CAPTURE(i);
    const unsigned x = i % 8, y = i / 8 % 4, slice = i / 32;
    CHECK(bytes[64 + i] == (x < 3 && y < 2 ? fill : 0x77));
    // Two of the copied bytes, in the first row, had been filled.
    CHECK(bytes[128 + i] == (slice == 1 && x < 2 && y == 0 ? fill : 0x77));
  }
}
