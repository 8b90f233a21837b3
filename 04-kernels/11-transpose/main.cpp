// A ladder: four kernels that transpose a matrix, each checked against the CPU, then timed, beside a plain copy.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

constexpr int kLongestBar = 24;  // characters

struct Rung {
  const char* kernel;
  const char* idea;
  int tile;  // numbers on a side; a block of 32 × 8 threads does one tile
  std::size_t (*written)(std::size_t lane, std::size_t n);  // where a lane of a warp writes, in bytes
  int (*shared)(int lane);                                  // which word of shared memory it reads; null: none
};

const Rung kLadder[] = {
    {"naive", "each thread moves its numbers", 32, [](std::size_t lane, std::size_t n) { return 4 * n * lane; },
     nullptr},
    {"tiled", "a tile by way of shared memory", 32, [](std::size_t lane, std::size_t) { return 4 * lane; },
     [](int lane) { return 32 * lane; }},
    {"padded", "a column more, no bank twice", 32, [](std::size_t lane, std::size_t) { return 4 * lane; },
     [](int lane) { return 33 * lane; }},
    {"vectors", "four numbers at a time", 64,
     [](std::size_t lane, std::size_t n) { return 4 * n * (lane / 8) + 16 * (lane % 8); },
     [](int lane) { return 64 * 4 * (lane % 8) + 4 * (lane % 8) + lane / 8; }},
};

// How many lines of 128 bytes a warp's write goes to.
int lines(const Rung& rung, std::size_t n) {
  std::set<std::size_t> touched;
  for (std::size_t lane = 0; lane < 32; ++lane) touched.insert(rung.written(lane, n) / 128);
  return static_cast<int>(touched.size());
}

// In how many turns shared memory serves a warp's read: as many as the fullest of its 32 banks has to give.
int turns(const Rung& rung) {
  if (rung.shared == nullptr) return 0;
  int banks[32] = {};
  for (int lane = 0; lane < 32; ++lane) ++banks[rung.shared(lane) % 32];
  return *std::max_element(banks, banks + 32);
}

// Two matrices of n × n floats on the device, and what belongs into the first.
struct Matrices {
  int n;
  std::size_t bytes = sizeof(float) * n * n;
  cu::Memory in{bytes}, out{bytes};
  std::vector<float> host;

  explicit Matrices(int side) : n(side), host(static_cast<std::size_t>(side) * side) {
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 16777213);
    CU_CHECK(cuMemcpyHtoD(in.address, host.data(), bytes));
  }

  // Compares with the CPU's, tile by tile, since the CPU has caches, too.
  bool transposed() const {
    constexpr int kSide = 64;
    std::vector<float> got(host.size());
    CU_CHECK(cuMemcpyDtoH(got.data(), out.address, bytes));
    for (int y = 0; y < n; y += kSide) {
      for (int x = 0; x < n; x += kSide) {
        for (int i = 0; i < kSide * kSide; ++i) {
          const std::size_t row = y + i / kSide, column = x + i % kSide;
          if (got[column * n + row] != host[row * n + column]) return false;
        }
      }
    }
    return true;
  }
};

// As large as two of them may be to take a small part of the device's memory: a power of two.
int side_for(std::size_t total_bytes) {
  int n = 64;
  while (2 * sizeof(float) * (2 * n) * (2 * n) <= total_bytes / 200) n *= 2;
  return n;
}

int main() try {
  cu::Context context;
  cu::Module module(cu::image("kernels.ptx"));
  char name[100];
  std::size_t total_bytes;
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  CU_CHECK(cuDeviceTotalMem(&total_bytes, context.device));
  Matrices matrices(side_for(total_bytes));
  CUdeviceptr in = matrices.in.address, out = matrices.out.address;
  std::printf("%s, %d x %d floats\n\n", name, matrices.n, matrices.n);
  std::printf("kernel   idea                            lines  turns     GB/s  of the copy\n");

  // In GB/s, read and written.
  auto bandwidth = [&](auto work) { return 2 * matrices.bytes / cu::median_device_seconds(work, 9) / 1e9; };
  const double copy = bandwidth([&] { CU_CHECK(cuMemcpyDtoDAsync(out, in, matrices.bytes, nullptr)); });
  std::printf("%-8s %-31s %5s  %5s  %7.1f  1.00 %s\n", "", "(cuMemcpyDtoD, for comparison)", "", "", copy,
              cu::bar(1, 1, kLongestBar).c_str());

  bool right = true;
  for (const Rung& rung : kLadder) {
    const CUfunction kernel = module.function(rung.kernel);
    const int tiles = matrices.n / rung.tile;
    void* arguments[] = {&in, &out, &matrices.n};
    auto launch = [&] { CU_CHECK(cuLaunchKernel(kernel, tiles, tiles, 1, 32, 8, 1, 0, nullptr, arguments, nullptr)); };
    CU_CHECK(cuMemsetD8(out, 0, matrices.bytes));
    launch();
    if (!matrices.transposed()) {
      std::printf("%-8s %-31s WRONG: not timed\n", rung.kernel, rung.idea);
      right = false;
      continue;
    }
    const double speed = bandwidth(launch);
    std::printf("%-8s %-31s %5d  %5d  %7.1f  %4.2f %s\n", rung.kernel, rung.idea, lines(rung, matrices.n), turns(rung),
                speed, speed / copy, cu::bar(speed, copy, kLongestBar).c_str());
  }
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
