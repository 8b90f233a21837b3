// Reads the limits that later chapters run into, and derives other numbers from them.
#include "common/cu.hpp"

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// NVIDIA's name for a range of compute capabilities. Programs should compare the numbers instead.
const char* architecture(int major, int minor) {
  if (major == 5) return "Maxwell";
  if (major == 6) return "Pascal";
  if (major == 7) return minor < 5 ? "Volta" : "Turing";
  if (major == 8) return minor == 9 ? "Ada" : "Ampere";
  if (major == 9) return "Hopper";
  if (major == 10 && minor == 7) return "Rubin";
  if (major >= 10 && major <= 12) return "Blackwell";
  return "unknown";
}

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device = 0;
  CU_CHECK(cuDeviceGet(&device, 0));

  const int warp = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  std::printf("limits of a launch\n");
  std::printf("  threads per warp         %10d\n", warp);
  std::printf("  threads per block        %10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  std::printf("  blocks per grid, x       %10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
  std::printf("  blocks per grid, y       %10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  const int shared = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  const int shared_opt_in = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  std::printf("  shared memory per block  %10d bytes\n", shared);
  std::printf("  … with opt-in            %10d bytes\n", shared_opt_in);

  const int threads = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  const int registers = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  std::printf("resources of a multiprocessor\n");
  std::printf("  threads                  %10d\n", threads);
  std::printf("  registers                %10d\n", registers);

  const int multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const int clock = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const int bus = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  std::printf("resources of the device\n");
  std::printf("  multiprocessors          %10d\n", multiprocessors);
  std::printf("  memory clock             %10d kHz\n", clock);
  std::printf("  memory bus width         %10d bits\n", bus);

  const int major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  const double bytes_per_second = 2.0 * (clock * 1e3) * (bus / 8);
  std::printf("derived\n");
  std::printf("  architecture             %10s (compute capability %d.%d)\n", architecture(major, minor), major, minor);
  std::printf("  resident threads         %10d\n", multiprocessors * threads);
  std::printf("  registers per thread     %10d\n", registers / threads);
  std::printf("  peak bandwidth           %10.0f GB/s\n", bytes_per_second / 1e9);
  return warp == 32 ? 0 : 1;  // the only one of these numbers that is the same on all devices so far
}
