// Shuffles, votes and divergence, in one warp. With --controls, it measures what a divergent branch costs.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cstring>
#include <vector>

// Launches one warp of the kernel, which writes `count` numbers, and returns them.
std::vector<int> run(const cu::Module& module, const char* kernel, int count) {
  std::vector<int> numbers(count);
  cu::Memory memory(count * sizeof(int));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(module.function(kernel), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, count * sizeof(int)));
  return numbers;
}

// Prints a mask as 32 lanes, lane 0 on the left.
void print_lanes(const char* what, unsigned mask) {
  std::printf("%-34s  ", what);
  for (int lane = 0; lane < 32; ++lane) std::printf("%c", mask >> lane & 1 ? '#' : '.');
  std::printf("  0x%08x\n", mask);
}

// Measures a branch whose two sides are long loops. The threads below `split` take the first side.
void measure_divergence(const cu::Module& module, int threads, int split, const char* first, const char* second) {
  long long cycles = 0;
  cu::Memory memory(sizeof cycles);
  void* arguments[] = {&split, &memory.address};
  for (int run = 0; run < 2; ++run) {  // the second run finds its instructions in the cache
    CU_CHECK(cuLaunchKernel(module.function("two_loops"), 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  CU_CHECK(cuMemcpyDtoH(&cycles, memory.address, sizeof cycles));
  std::printf("%-23s | %-24s | %12lld\n", first, second, cycles);
}

int main(int argc, char** argv) try {
  cu::Primary context;
  cu::Module module(cu::image("kernels.ptx"));
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    std::printf("lanes in the first loop | lanes in the second loop | clock cycles\n");
    measure_divergence(module, 32, 32, "32", "0");
    measure_divergence(module, 32, 0, "0", "32");
    measure_divergence(module, 32, 16, "16", "16");
    measure_divergence(module, 32, 8, "8", "24");
    measure_divergence(module, 64, 32, "32 (one warp)", "32 (another warp)");
    return 0;
  }

  std::printf("tree reduction with shuffles, lanes 0 to 15 of 32\n");
  const std::vector<int> steps = run(module, "add_up", 6 * 32);
  for (int step = 0; step < 6; ++step) {
    if (step == 0) {
      std::printf("  %-13s", "start");
    } else {
      std::printf("  distance %2d  ", 32 >> step);
    }
    for (int lane = 0; lane < 16; ++lane) std::printf(" %4d", steps[32 * step + lane]);
    std::printf("\n");
  }
  const int sum = steps[5 * 32];  // lane 0, after the last step
  std::printf("  lane 0 has %d\n", sum);

  const std::vector<int> votes = run(module, "vote", 4);
  std::printf("\nvotes                               lane 0                     lane 31\n");
  print_lanes("7 * lane modulo 32 is less than 8", votes[0]);
  std::printf("%-34s  %s\n%-34s  %s\n", "any?", votes[1] ? "yes" : "no", "all?", votes[2] ? "yes" : "no");
  print_lanes("same remainder modulo 5 as lane 3", votes[3]);

  const std::vector<int> masks = run(module, "part", 3);
  std::printf("\nactive lanes\n");
  print_lanes("if (lane < 8)", masks[0]);
  print_lanes("else", masks[1]);
  print_lanes("after __syncwarp()", masks[2]);

  const int at_once = run(module, "hand_over_at_once", 1)[0];
  const int with_barrier = run(module, "hand_over_with_barrier", 1)[0];
  std::printf("\n16 lanes write late, 16 lanes read\n");
  std::printf("%-34s  %d of 16 found the new value\n", "without a barrier", at_once);
  std::printf("%-34s  %d of 16 found the new value\n", "with __syncwarp()", with_barrier);

  return sum == 528 && votes[1] == 1 && votes[2] == 0 && with_barrier == 16 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
