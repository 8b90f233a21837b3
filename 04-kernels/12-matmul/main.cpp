// A ladder: five kernels that multiply matrices, each checked against the CPU, then timed, beside cuBLAS where there is
// one.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "common/product.hpp"
#include "library.hpp"

#include <functional>
#include <vector>

constexpr int kLongestBar = 36;  // characters, for one and a half times the limit

struct Rung {
  const char* kernel;
  const char* idea;
  int rows, columns, threads;  // of c, for a block; of a block
};

constexpr Rung kLadder[] = {
    {"naive", "a thread for every number", 32, 32, 1024},
    {"tiled", "tiles in shared memory", 32, 32, 1024},
    {"registers", "64 numbers a thread", 128, 128, 256},
    {"vectors", "fours, and the next tile meanwhile", 128, 256, 256},
    {"tensor", "tensor cores, half precision", 128, 128, 256},
};

// Three matrices of n × n floats: c = a × b. Their numbers are small integers, so that every order of adding is exact,
// and half precision is, too.
struct Matrices {
  int n;
  std::size_t bytes = sizeof(float) * n * n;
  cu::Memory a{bytes}, b{bytes}, c{bytes};
  std::vector<float> host_a, host_b;

  explicit Matrices(int side) : n(side), host_a(std::size_t(side) * side), host_b(host_a.size()) {
    for (std::size_t i = 0; i < host_a.size(); ++i) {
      host_a[i] = static_cast<float>(static_cast<int>((i * 2654435761u >> 13) % 5) - 2);
      host_b[i] = static_cast<float>(static_cast<int>((i * 2246822519u >> 11) % 5) - 2);
    }
    CU_CHECK(cuMemcpyHtoD(a.address, host_a.data(), bytes));
    CU_CHECK(cuMemcpyHtoD(b.address, host_b.data(), bytes));
  }

  bool right() const {
    std::vector<float> got(host_a.size());
    CU_CHECK(cuMemcpyDtoH(got.data(), c.address, bytes));
    CU_CHECK(cuMemsetD8(c.address, 0, bytes));  // for the next one
    return cu::sampled_product(host_a, host_b, n, [&](std::size_t at, float sum) { return got[at] == sum; });
  }
};

void launch(const cu::Module& module, const Rung& rung, Matrices& matrices) {
  void* arguments[] = {&matrices.a.address, &matrices.b.address, &matrices.c.address, &matrices.n};
  CU_CHECK(cuLaunchKernel(module.function(rung.kernel), matrices.n / rung.columns, matrices.n / rung.rows, 1,
                          rung.threads, 1, 1, 0, nullptr, arguments, nullptr));
}

// A power of two, up to 4096, that the second kernel needs no more than a tenth of a second for, judged by a small one.
int side_for(const cu::Module& module) {
  Matrices small(256);
  double time = cu::median_device_seconds([&] { launch(module, kLadder[1], small); }, 1);
  int n = 256;
  for (; n < 4096 && 8 * time < 0.1; time *= 8) n *= 2;
  return n;
}

// Checks, then measures, then prints; false if it is wrong. `limit` in operations a second.
bool climb(const char* name, const char* idea, Matrices& matrices, const std::function<void()>& work, double limit) {
  work();
  if (!matrices.right()) {
    std::printf("%-10s %-35s WRONG: not timed\n", name, idea);
    return false;
  }
  const double speed = 2.0 * matrices.n * matrices.n * matrices.n / cu::median_device_seconds(work, 5);
  std::printf("%-10s %-35s %8.1f  %4.2f %s\n", name, idea, speed / 1e9, speed / limit,
              cu::bar(speed, 1.5 * limit, kLongestBar).c_str());
  return true;
}

int main() try {
  cu::Context context;
  cu::Module module(cu::image("kernels.ptx"));
  char name[100];
  int multiprocessors, kilohertz;
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
  CU_CHECK(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, context.device));
  const double limit =
      2.0 * 128 * multiprocessors * kilohertz * 1e3;  // 128 multiply-adds a cycle, on most GPUs since 8.6

  Matrices matrices(side_for(module));
  std::printf("%s, %d x %d floats; at most %.0f GFLOP/s without tensor cores\n\n", name, matrices.n, matrices.n,
              limit / 1e9);
  std::printf("kernel     idea                                 GFLOP/s  of the limit\n");
  bool right = true;
  for (const Rung& rung : kLadder) {
    right &= climb(
        rung.kernel, rung.idea, matrices, [&] { launch(module, rung, matrices); }, limit);
  }
  const Cublas cublas;
  if (cublas) {
    const auto work = [&] { cublas.multiply(matrices.a.address, matrices.b.address, matrices.c.address, matrices.n); };
    right &= climb("(cuBLAS)", "for comparison", matrices, work, limit);
  }
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
