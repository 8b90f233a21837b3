// Seven kernels that multiply matrices, from the last one of 04-22 on. Each result is verified, and then the kernel is
// timed next to cuBLAS.
//   --controls        measures kernels that are not part of the ladder
//   --profile [SIDE]  launches each kernel once, for a profiler
#include "04-kernels/floats.hpp"
#include "shape.hpp"

#include <fstream>

using floats::rung;

const std::vector<floats::Rung> kLadder = {
    rung<Square>("register_2d", "8 x 8 elements per thread"),  rung<Square>("vectorized", "128-bit loads and stores"),
    rung<Square>("transposed", "columns of a are contiguous"), rung<Square>("warp_tiled", "a tile for each warp"),
    rung<Square>("double_buffered", "tiles loaded ahead"),     rung<Large>("larger", "8 x 16 elements per thread"),
    rung<Large>("prefetched", "fragments loaded ahead"),
};
const std::vector<floats::Rung> kControls = {
    rung<Square>("transposed", "for comparison"), rung<Square>("unpermuted", "rows of a are not permuted"),
    rung<Large>("larger", "for comparison"),      rung<Large>("larger_one_buffer", "tiles are not loaded ahead"),
    rung<Large>("prefetched", "for comparison"),  rung<Large>("straight", "all rows from left to right"),
};

// Before compute capability 8.0, a device has no asynchronous copies; in the image for such devices, ordinary loads and
// stores replace them.
const char* best_image() {
  const cu::Primary context;
  int major;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context.device));
  const char* const asynchronous = "kernels_80.ptx";
  return major >= 8 && std::ifstream(cu::image(asynchronous)) ? asynchronous : "kernels.ptx";
}

int main(int argc, char** argv) try {
  const floats::Device device(best_image());
  return floats::run(argc, argv, device, kLadder, kControls, kLadder[0]);
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
