// The launches that the simulator's counters are judged by. They are of fixed size, so that the H200's profiler counts
// the same work (h200.inc contains what it counted): kernels of the lessons, and probes, in which one warp touches
// memory once, at addresses that are chosen here.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace profile {

enum Kind { kIn, kIn2, kOut, kBins, kTable, kU32, kU64 };
struct Given {
  Kind kind;
  unsigned long long value = 0;
};

constexpr unsigned kNowhere = 0xffffffff;  // probes.cu: this lane stays away

struct Case {
  std::string name;
  const char* image;  // beside the program, without .ptx
  std::string kernel;
  unsigned grid[2], block[2];
  unsigned shared = 0;
  std::vector<Given> arguments;
  std::vector<unsigned> table;
};

// ---- The lessons' kernels

inline std::vector<Case> lessons() {
  constexpr unsigned kNumbers = 1 << 18, kTiles = kNumbers / 4096;
  std::vector<Case> all;
  const auto add = [&](const char* image, const char* kernel, unsigned blocks, unsigned threads,
                       std::vector<Given> arguments, unsigned shared = 0) {
    all.push_back({std::string(image) + "/" + kernel,
                   image,
                   kernel,
                   {blocks, 1},
                   {threads, 1},
                   shared,
                   std::move(arguments),
                   {}});
  };
  for (const char* kernel : {"add", "add_grid_stride"})
    add("vector_add", kernel, kernel[3] == 0 ? 391 : 32, 256, {{kIn}, {kIn2}, {kOut}, {kU32, 100000}});
  add("shared_memory", "reverse_static", 1, 256, {{kIn}, {kOut}});
  add("shared_memory", "reverse_dynamic", 1, 128, {{kIn}, {kOut}, {kU32, 1000}}, 4000);
  add("warps", "add_up", 1, 32, {{kOut}});
  add("warps", "vote", 1, 32, {{kOut}});
  add("warps", "part", 1, 32, {{kOut}});
  for (const char* kernel : {"atomics", "spread", "halves", "shuffles", "many", "vectors"}) {
    const bool fits = std::string(kernel) == "many" || std::string(kernel) == "vectors";
    add("reduction", kernel, fits ? 64 : kNumbers / 256, 256, {{kIn}, {kBins}, {kU64, kNumbers}});
  }
  for (const char* kernel : {"naive", "tiled", "padded", "vectors"}) {
    const unsigned tiles = 512 / (std::string(kernel) == "vectors" ? 64 : 32);
    all.push_back({std::string("transpose/") + kernel,
                   "transpose",
                   kernel,
                   {tiles, tiles},
                   {32, 8},
                   0,
                   {{kIn}, {kOut}, {kU32, 512}},
                   {}});
  }
  const auto multiply = [&](const char* kernel, unsigned x, unsigned y, unsigned threads) {
    all.push_back({std::string("matmul/") + kernel,
                   "matmul",
                   kernel,
                   {256 / x, 256 / y},
                   {threads, 1},
                   0,
                   {{kIn}, {kIn2}, {kOut}, {kU32, 256}},
                   {}});
  };
  multiply("naive", 32, 32, 1024);
  multiply("tiled", 32, 32, 1024);
  multiply("registers", 128, 128, 256);
  multiply("vectors", 256, 128, 256);
  multiply("tensor", 128, 128, 256);
  for (const char* kernel : {"global_bins", "private_bins", "warp_bins"})
    add("histogram", kernel, 32, 256, {{kIn}, {kBins}, {kU64, kNumbers}});
  add("histogram", "scan_tiles", kTiles, 256, {{kIn}, {kOut}, {kBins}});
  add("histogram", "scan_sums", 1, 256, {{kBins}, {kU32, kTiles}});
  add("histogram", "add_sums", kTiles, 256, {{kOut}, {kBins}});
  add("histogram", "sum_tiles", kTiles, 256, {{kIn}, {kBins}});
  add("histogram", "scan_with_sums", kTiles, 256, {{kIn}, {kOut}, {kBins}});
  return all;
}

// ---- Probes

inline unsigned scattered(unsigned lane, unsigned seed) {
  unsigned x = lane * 2654435761u + seed * 2246822519u;
  x ^= x >> 15;
  x *= 2654435761u;
  return x ^ x >> 13;
}

// In units of the access's size: where lane n touches.
struct Pattern {
  const char* name;
  unsigned (*at)(unsigned lane);
};
inline std::vector<Pattern> patterns() {
  return {
      {"side by side", [](unsigned n) { return n; }},
      {"every second", [](unsigned n) { return 2 * n; }},
      {"every fourth", [](unsigned n) { return 4 * n; }},
      {"all the same", [](unsigned) { return 5u; }},
      {"pairs", [](unsigned n) { return n / 2; }},
      {"two apart", [](unsigned n) { return n % 2 + n / 4 * 2; }},
      {"four apart", [](unsigned n) { return n % 4 + n / 8 * 4; }},
      {"fours", [](unsigned n) { return n / 4; }},
      {"eights", [](unsigned n) { return n / 8; }},
      {"sixteens", [](unsigned n) { return n / 16; }},
      {"halves the same", [](unsigned n) { return n % 16; }},
      {"quarters the same", [](unsigned n) { return n % 8; }},
      {"pairs in one half", [](unsigned n) { return n < 16 ? n / 2 : n; }},
      {"even lanes", [](unsigned n) { return n % 2 == 0 ? n : kNowhere; }},
      {"lower half", [](unsigned n) { return n < 16 ? n : kNowhere; }},
      {"one in each quarter", [](unsigned n) { return n % 8 == 0 ? n : kNowhere; }},
      {"random", [](unsigned n) { return scattered(n, 3) % 64; }},
      {"random pairs", [](unsigned n) { return scattered(n / 2, 4) % 64; }},
      {"random, two apart", [](unsigned n) { return scattered(n % 2 + n / 4 * 2, 5) % 64; }},
      {"random, some lanes", [](unsigned n) { return scattered(n, 10) % 3 == 0 ? kNowhere : scattered(n, 11) % 64; }},
  };
}

// One launch for each pattern; or, packed, for four of them.
inline std::vector<Case> probes(const std::string& kernel, unsigned size, bool packed) {
  constexpr unsigned kPlaces = 1024, kPacked = 4;
  std::vector<Case> all;
  for (const Pattern& pattern : patterns()) {
    if (!packed || all.empty() || all.back().table.size() == 32 * kPacked) {
      Case c{kernel + (packed ? "_packed/" : "/") + pattern.name,
             "probes",
             kernel + (packed ? "_packed" : ""),
             {1, 1},
             {32, 1},
             0,
             {{kTable}, {kBins}, {kOut}},
             {}};
      if (kernel.rfind("shared", 0) == 0) c.shared = kPlaces * size;
      if (packed) c.arguments.push_back({kU32, kPacked});
      all.push_back(std::move(c));
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned place = pattern.at(lane);
      all.back().table.push_back(place == kNowhere ? kNowhere : place % kPlaces * size);
    }
  }
  return all;
}

inline std::vector<Case> all_probes() {
  std::vector<Case> all;
  for (const char* space : {"shared", "global"}) {
    for (const auto& [access, size] : std::vector<std::pair<const char*, unsigned>>{{"_load_1", 1},
                                                                                    {"_load_4", 4},
                                                                                    {"_load_8", 8},
                                                                                    {"_load_16", 16},
                                                                                    {"_store_1", 1},
                                                                                    {"_store_4", 4},
                                                                                    {"_store_8", 8},
                                                                                    {"_store_16", 16},
                                                                                    {"_add", 4},
                                                                                    {"_add_quietly", 4}}) {
      for (const bool packed : {false, true}) {
        for (Case& c : probes(std::string(space) + access, size, packed)) all.push_back(std::move(c));
      }
    }
  }
  return all;
}

// A kernel that calls a function with an array of its own.
inline Case calls() { return {"calls", "probes", "calls", {1, 1}, {48, 1}, 0, {{kOut}}, {}}; }

// ---- Running them

// The whole of what the cases touch; the numbers are the same on every device.
class Stage {
 public:
  Stage() {
    CU_CHECK(cuInit(0));
    CUdevice device;
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuCtxCreate(&context_, nullptr, 0, device));
    for (CUdeviceptr& each : memory_) CU_CHECK(cuMemAlloc(&each, kBytes));
    std::vector<unsigned> numbers(kBytes / 4);
    for (int which : {kIn, kIn2}) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<unsigned>(i * 2654435761u + which) ^ static_cast<unsigned>(i >> 9);
      CU_CHECK(cuMemcpyHtoD(memory_[which], numbers.data(), kBytes));
    }
  }
  ~Stage() { cuCtxDestroy(context_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  CUresult run(const Case& c) {
    CUfunction function;
    CU_CHECK(cuModuleGetFunction(&function, module(c.image), c.kernel.c_str()));
    for (int which : {kOut, kBins}) CU_CHECK(cuMemsetD8(memory_[which], 0, kBytes));
    if (!c.table.empty()) CU_CHECK(cuMemcpyHtoD(memory_[kTable], c.table.data(), 4 * c.table.size()));
    std::vector<unsigned long long> values;
    for (const Given& given : c.arguments) values.push_back(given.kind < kU32 ? memory_[given.kind] : given.value);
    std::vector<void*> arguments;
    for (auto& value : values) arguments.push_back(&value);
    CU_CHECK(cuLaunchKernel(function, c.grid[0], c.grid[1], 1, c.block[0], c.block[1], 1, c.shared, nullptr,
                            arguments.data(), nullptr));
    return cuCtxSynchronize();
  }

 private:
  static constexpr std::size_t kBytes = 4 << 20;
  CUmodule module(const std::string& name) {
    CUmodule& loaded = modules_[name];
    if (loaded == nullptr) CU_CHECK(cuModuleLoad(&loaded, cu::image(name + ".ptx").c_str()));
    return loaded;
  }
  CUcontext context_ = nullptr;
  CUdeviceptr memory_[5] = {};
  std::map<std::string, CUmodule> modules_;
};

}  // namespace profile
