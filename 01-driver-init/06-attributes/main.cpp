// Reads the limits that later chapters meet, and computes what follows from them.
#include "common/cu.hpp"

int attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// The name under which NVIDIA sells a compute capability; a program that decides by it should use the numbers instead.
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
  CUdevice device;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));

  const int warp = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  std::printf("of one launch\n");
  std::printf("  threads in a warp      %10d\n", warp);
  std::printf("  threads in a block     %10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  std::printf("  blocks in a grid, x    %10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
  std::printf("  blocks in a grid, y    %10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  std::printf("  bytes shared by a block%10d\n", attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  const int for_those_who_ask = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  std::printf("  … for those who ask    %10d\n", for_those_who_ask);

  const int threads = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  const int registers = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  std::printf("of one multiprocessor\n");
  std::printf("  threads                %10d\n", threads);
  std::printf("  registers              %10d\n", registers);

  const int multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const int clock = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const int bus = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  std::printf("of the device\n");
  std::printf("  multiprocessors        %10d\n", multiprocessors);
  std::printf("  memory clock           %10d kHz\n", clock);
  std::printf("  memory bus             %10d bits\n", bus);

  const int major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  std::printf("what follows\n");
  std::printf("  architecture           %10s (compute capability %d.%d)\n", architecture(major, minor), major, minor);
  std::printf("  threads at once        %10d\n", multiprocessors * threads);
  std::printf("  registers for each     %10d\n", registers / threads);
  std::printf("  peak bandwidth         %10.0f GB/s\n", 2.0 * clock * 1e3 * bus / 8 / 1e9);
  return warp == 32 ? 0 : 1;  // of all these numbers the one that no device has changed so far
}
