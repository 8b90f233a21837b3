// Random kernels (program.hpp) on the device at hand, in modules of fifty. README.md says how two devices are compared.
//
//   FUZZ_SEEDS=0-9999 check '[digests]'   one line per seed: the seed, and eight digits for each register class
//   FUZZ_SEEDS=17-17  check '[values]'    the kernel, and the final value of each register, thread by thread
//   check '[recorded]'                    seeds 0 to 9999, compared with an H200's results
#include "tests/catch.hpp"
#include "tests/fuzz/program.hpp"
#include "tests/instructions/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace {

using namespace fuzz;

constexpr u64 kInModule = 50;

// FUZZ_LEVEL sets the optimization level of the device's compiler. What it gets wrong by default is often right at
// level 0.
CUmodule load_at_level(const std::string& text, std::string& log) {
  const char* level = std::getenv("FUZZ_LEVEL");
  if (level == nullptr) return load(text, log);
  CUjit_option options[] = {CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {reinterpret_cast<void*>(std::strtoul(level, nullptr, 10))};
  CUmodule module = nullptr;
  const CUresult loaded = cuModuleLoadDataEx(&module, text.c_str(), 1, options, values);
  if (loaded != CUDA_SUCCESS) log = cu::name(loaded);
  return module;
}

using Seeds = std::vector<u64>;
Seeds range(u64 first, u64 last) {
  Seeds seeds;
  for (u64 seed = first; seed <= last; ++seed) seeds.push_back(seed);
  return seeds;
}

// What the seeds' kernels leave in their registers; empty if their module does not load.
std::vector<std::vector<u64>> run(const Seeds& seeds, std::string& log) {
  const u64 count = seeds.size();
  std::string text = header(Device::ptx_version(83), 90);
  std::vector<u64> in;
  for (const u64 seed : seeds) {
    Generator generator(seed);
    text += generator.kernel();
    const auto values = generator.inputs();
    in.insert(in.end(), values.begin(), values.end());
  }
  const CUmodule module = load_at_level(text, log);
  if (module == nullptr) return {};
  const u64 values = u64{kFuzzThreads} * kValues, scratch = u64{kFuzzThreads} * kScratch;
  CUstream stream = nullptr;
  CUdeviceptr from = 0, to = 0, own = 0;
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAlloc(&from, values * count * 8));
  CU_CHECK(cuMemAlloc(&to, values * count * 8));
  CU_CHECK(cuMemAlloc(&own, scratch * count));
  CU_CHECK(cuMemcpyHtoDAsync(from, in.data(), values * count * 8, stream));
  CU_CHECK(cuMemsetD8Async(to, 0, values * count * 8, stream));
  CU_CHECK(cuMemsetD8Async(own, 0, scratch * count, stream));
  for (u64 k = 0; k < count; ++k) {
    CUfunction function = nullptr;
    CU_CHECK(cuModuleGetFunction(&function, module, ("k" + std::to_string(seeds[k])).c_str()));
    CUdeviceptr arguments[] = {from + k * values * 8, to + k * values * 8, own + k * scratch};
    void* parameters[] = {&arguments[0], &arguments[1], &arguments[2]};
    CU_CHECK(cuLaunchKernel(function, kBlocks, 1, 1, kBlockThreads, 1, 1, 0, stream, parameters, nullptr));
  }
  std::vector<u64> all(values * count);
  CU_CHECK(cuMemcpyDtoHAsync(all.data(), to, values * count * 8, stream));
  CU_CHECK(cuStreamSynchronize(stream));
  CU_CHECK(cuMemFree(from));
  CU_CHECK(cuMemFree(to));
  CU_CHECK(cuMemFree(own));
  CU_CHECK(cuStreamDestroy(stream));
  CU_CHECK(cuModuleUnload(module));
  std::vector<std::vector<u64>> result;
  for (u64 k = 0; k < count; ++k)
    result.emplace_back(all.begin() + i64(k * values), all.begin() + i64((k + 1) * values));
  return result;
}

// One number for each pool of registers: which of them two devices disagree about is the first thing one wants to know.
std::array<u32, kPools.size()> digests(const std::vector<u64>& values) {
  std::array<u32, kPools.size()> result{};
  for (std::size_t at = 0; at < values.size();) {
    for (std::size_t pool = 0; pool < kPools.size(); ++pool) {
      for (u32 k = 0; k < kPools[pool].count; ++k, ++at) {
        u64 h = (result[pool] ^ values[at]) * 0x9e3779b97f4a7c15;
        h ^= h >> 29, h *= 0xbf58476d1ce4e5b9;
        result[pool] = u32(h >> 32);
      }
    }
  }
  return result;
}
std::string line(const std::array<u32, kPools.size()>& digests) {
  std::string text;
  char number[12];
  for (const u32 d : digests) text += (std::snprintf(number, sizeof number, " %08x", d), number);
  return text;
}

// A line for each seed, several modules at a time.
std::vector<std::string> lines(const Seeds& seeds) {
  const Device device;
  CUcontext context = nullptr;
  CU_CHECK(cuCtxGetCurrent(&context));
  std::vector<std::string> result(seeds.size());
  std::atomic<u64> next{0};
  const auto work = [&] {
    CU_CHECK(cuCtxSetCurrent(context));
    for (u64 at = next.fetch_add(kInModule); at < seeds.size(); at = next.fetch_add(kInModule)) {
      const u64 count = std::min<u64>(kInModule, seeds.size() - at);
      std::string log;
      const auto values = run(Seeds(seeds.begin() + i64(at), seeds.begin() + i64(at + count)), log);
      for (u64 k = 0; k < count; ++k) {
        result[at + k] =
            std::to_string(seeds[at + k]) + (values.empty() ? " does not load: " + log : line(digests(values[k])));
      }
    }
  };
  std::vector<std::thread> threads;
  for (u32 k = std::max(1u, std::thread::hardware_concurrency()); k > 0; --k) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return result;
}

std::pair<u64, u64> asked() {
  const char* text = std::getenv("FUZZ_SEEDS");
  u64 first = 0, last = 99;
  if (text != nullptr) std::sscanf(text, "%lu-%lu", &first, &last);
  return {first, last};
}

// The results of an H200: six digits per seed, a hundred seeds per line. record.py makes them from the lines of
// [digests].
constexpr const char* kRecorded[] = {
#include "tests/fuzz/recorded.inc"
};
constexpr u64 kInLine = 100, kDigits = 6;
constexpr u64 kSeeds = std::size(kRecorded) * kInLine;

// Seeds for which the simulator or a GPU's compiler was once wrong.
constexpr u64 kOnceDifferent[] = {
#include "tests/fuzz/once_different.inc"
};

// Seeds that the GPU's compiler gets wrong when it optimizes. The recorded results are those of level 0, and the test
// skips these seeds on a GPU.
constexpr u64 kCompilersFault[] = {
#include "tests/fuzz/compilers_fault.inc"
};

std::string recorded(u64 seed) { return std::string(kRecorded[seed / kInLine] + seed % kInLine * kDigits, kDigits); }

// Condenses a line of [digests] to six digits.
std::string shortened(const std::string& line) {
  u32 h = 2166136261u;
  std::istringstream stream(line);
  std::string word;
  stream >> word;
  while (stream >> word) h = (h ^ u32(std::strtoul(word.c_str(), nullptr, 16))) * 16777619u;
  char text[12];
  std::snprintf(text, sizeof text, "%06x", h >> 8);
  return text;
}

void check_recorded(const Seeds& seeds) {
  const bool simulated = Device().simulated();
  for (const std::string& line : lines(seeds)) {
    const u64 seed = std::strtoull(line.c_str(), nullptr, 10);
    if (!simulated && std::count(std::begin(kCompilersFault), std::end(kCompilersFault), seed) != 0) continue;
    CAPTURE(line);
    CHECK(shortened(line) == recorded(seed));
  }
}

}  // namespace

TEST_CASE("random kernels give the results of an H200") { check_recorded(range(0, 499)); }

TEST_CASE("random kernels that once gave wrong results give the results of an H200") {
  check_recorded(Seeds(std::begin(kOnceDifferent), std::end(kOnceDifferent)));
}

TEST_CASE("all recorded kernels", "[.][recorded]") {
  const auto [first, last] = asked();
  if (std::getenv("FUZZ_SEEDS") != nullptr)
    check_recorded(range(first, std::min<u64>(last, kSeeds - 1)));
  else
    check_recorded(range(0, kSeeds - 1));
}

TEST_CASE("digests", "[.][digests]") {
  const auto [first, last] = asked();
  for (const std::string& text : lines(range(first, last))) std::cout << text << "\n";
}

TEST_CASE("values", "[.][values]") {
  const auto [first, last] = asked();
  const Device device;
  for (u64 seed = first; seed <= last; ++seed) {
    std::string log;
    std::cout << Generator(seed).kernel() << std::flush;
    const auto values = run({seed}, log);
    std::cout << log;
    for (std::size_t at = 0; !values.empty() && at < values[0].size();) {
      std::printf("%lu thread %zu:", static_cast<unsigned long>(seed), at / kValues);
      for (const Pool& pool : kPools) {
        for (u32 k = 0; k < pool.count; ++k)
          std::printf(" %c%u=%lx", pool.name, k, static_cast<unsigned long>(values[0][at++]));
      }
      std::printf("\n");
    }
  }
}
