// Four kernels that multiply matrices. Each result is verified, and then the kernel is timed next to cuBLAS.
//   --controls        measures a kernel that is not part of the ladder
//   --profile [SIDE]  launches each kernel once, for a profiler
#include "04-kernels/floats.hpp"
#include "shape.hpp"

using floats::rung;

const std::vector<floats::Rung> kLadder = {
    rung<Element>("naive", "a thread for each element"),
    rung<Element>("coalesced", "lanes along the rows"),
    rung<Element>("tiled", "tiles in shared memory"),
    rung<Square>("register_2d", "8 x 8 elements per thread"),
};
const std::vector<floats::Rung> kControls = {
    rung<Element>("tiled", "for comparison"),
    rung<Strip>("register_1d", "8 elements per thread"),
    rung<Square>("register_2d", "for comparison"),
};

int main(int argc, char** argv) try {
  const floats::Device device("kernels.ptx");
  return floats::run(argc, argv, device, kLadder, kControls, kLadder[2]);
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
