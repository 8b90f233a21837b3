// Shuffles, votes, and what lanes see of each other after a branch: all in one warp.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <vector>

// Launches one warp of the kernel, which writes `count` numbers, and fetches them.
std::vector<int> run(const cu::Module& module, const char* kernel, int count) {
  std::vector<int> numbers(count);
  cu::Memory memory(count * sizeof(int));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(module.function(kernel), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, count * sizeof(int)));
  return numbers;
}

// A mask as 32 lanes, lane 0 on the left.
void print_lanes(const char* what, unsigned mask) {
  std::printf("%-34s  ", what);
  for (int lane = 0; lane < 32; ++lane) std::printf("%c", mask >> lane & 1 ? '#' : '.');
  std::printf("  0x%08x\n", mask);
}

int main() try {
  cu::Context context;
  cu::Module module(cu::image("kernels.ptx"));

  std::printf("adding up by shuffles, lanes 0 to 15 of 32\n");
  const std::vector<int> steps = run(module, "add_up", 6 * 32);
  for (int step = 0; step < 6; ++step) {
    if (step == 0) {
      std::printf("  %-13s", "at first");
    } else {
      std::printf("  + %2d further ", 32 >> step);
    }
    for (int lane = 0; lane < 16; ++lane) std::printf(" %4d", steps[32 * step + lane]);
    std::printf("\n");
  }
  const int sum = steps[5 * 32];  // lane 0, after the last step
  std::printf("  lane 0 has %d\n", sum);

  const std::vector<int> answers = run(module, "vote", 4);
  std::printf("\nvotes                               lane 0                     lane 31\n");
  print_lanes("7 * lane modulo 32 is less than 8", answers[0]);
  std::printf("%-34s  %s\n%-34s  %s\n", "any?", answers[1] ? "yes" : "no", "all?", answers[2] ? "yes" : "no");
  print_lanes("lane modulo 5 as in lane 3", answers[3]);

  const std::vector<int> masks = run(module, "part", 3);
  std::printf("\nwho is there\n");
  print_lanes("if (lane < 8)", masks[0]);
  print_lanes("else", masks[1]);
  print_lanes("after __syncwarp()", masks[2]);

  const int at_once = run(module, "hand_over_at_once", 1)[0];
  const int with_barrier = run(module, "hand_over_with_barrier", 1)[0];
  std::printf("\n16 lanes write late, 16 lanes read\n");
  std::printf("%-34s  %d of 16 found\n", "without a barrier", at_once);
  std::printf("%-34s  %d of 16 found\n", "with __syncwarp()", with_barrier);

  return sum == 528 && answers[1] == 1 && answers[2] == 0 && with_barrier == 16 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
