// Launches grids of one, two and three dimensions, and prints the coordinates that each thread has recorded.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <vector>

struct Shape {
  unsigned x, y, z;
  unsigned count() const { return x * y * z; }
};

// As in kernels.cu.
struct Thread {
  unsigned block_x, block_y, block_z;
  unsigned thread_x, thread_y, thread_z;
  unsigned warp, lane;
};

// Launches the kernel and returns what its threads recorded, block by block, x fastest.
std::vector<Thread> record(const cu::Module& module, Shape grid, Shape block) {
  std::vector<Thread> threads(grid.count() * block.count());
  cu::Memory memory(threads.size() * sizeof(Thread));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(module.function("record_thread"), grid.x, grid.y, grid.z, block.x, block.y, block.z, 0,
                          nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(threads.data(), memory.address, threads.size() * sizeof(Thread)));
  return threads;
}

void one_dimension(const cu::Module& module) {
  std::printf("one dimension: 3 blocks of 5 threads; x = blockIdx.x * blockDim.x + threadIdx.x\n");
  const std::vector<Thread> threads = record(module, {3, 1, 1}, {5, 1, 1});
  std::printf("  blockIdx.x  ");
  for (const Thread& t : threads) std::printf(" %2u", t.block_x);
  std::printf("\n  threadIdx.x ");
  for (const Thread& t : threads) std::printf(" %2u", t.thread_x);
  std::printf("\n  x           ");
  for (const Thread& t : threads) std::printf(" %2u", t.block_x * 5 + t.thread_x);
  std::printf("\n");
}

// Prints the plane: for each cell, the block that covers it and the thread within the block.
void two_dimensions(const cu::Module& module) {
  std::printf("\ntwo dimensions: 2 x 2 blocks of 4 x 3 threads; each cell: block, thread\n");
  const Shape grid{2, 2, 1}, block{4, 3, 1};
  const unsigned width = grid.x * block.x, height = grid.y * block.y;
  std::vector<Thread> plane(width * height);
  for (const Thread& t : record(module, grid, block)) {
    const unsigned x = t.block_x * block.x + t.thread_x, y = t.block_y * block.y + t.thread_y;
    plane[y * width + x] = t;
  }
  for (unsigned y = 0; y < height; ++y) {
    std::printf("  y = %u ", y);
    for (unsigned x = 0; x < width; ++x) {
      const Thread& t = plane[y * width + x];
      std::printf("%s %u,%u %u,%u", x % block.x == 0 ? " |" : "  ", t.block_x, t.block_y, t.thread_x, t.thread_y);
    }
    std::printf(y % block.y == block.y - 1 && y + 1 < height ? "\n\n" : "\n");
  }
}

void three_dimensions(const cu::Module& module) {
  std::printf("\nthree dimensions: 1 block of 2 x 3 x 2 threads, in the order of their numbers\n  ");
  const char* separator = "";
  for (const Thread& t : record(module, {1, 1, 1}, {2, 3, 2})) {
    std::printf("%s%u,%u,%u", separator, t.thread_x, t.thread_y, t.thread_z);
    separator = "  ";
  }
  std::printf("\n");
}

// Prints the warps of a block whose rows are shorter than a warp. Returns whether each thread's hardware lane is its
// number modulo 32.
bool warps(const cu::Module& module) {
  std::printf("\nwarps: 1 block of 12 x 6 threads; each cell: warp.lane\n");
  const std::vector<Thread> threads = record(module, {1, 1, 1}, {12, 6, 1});
  bool as_computed = true;
  for (unsigned number = 0; number < threads.size(); ++number) {
    const Thread& t = threads[number];
    std::printf("%s%u.%02u%s", t.thread_x == 0 ? "  " : " ", t.warp, t.lane, t.thread_x == 11 ? "\n" : " ");
    as_computed = as_computed && t.lane == number % 32 && t.thread_x == number % 12 && t.thread_y == number / 12;
  }
  return as_computed;
}

// Launches single blocks of three shapes and prints which of them the driver accepts. Returns whether it rejects only
// the one whose size in z exceeds the limit.
bool shapes(const cu::Module& module) {
  std::printf("\nshapes: 1 block of at most 1024 threads\n");
  cu::Memory memory(1024 * sizeof(Thread));
  void* arguments[] = {&memory.address};
  bool as_expected = true;
  for (const Shape block : {Shape{1024, 1, 1}, Shape{32, 32, 1}, Shape{1, 1, 128}}) {
    const CUresult result = cuLaunchKernel(module.function("record_thread"), 1, 1, 1, block.x, block.y, block.z, 0,
                                           nullptr, arguments, nullptr);
    std::printf("  %4u x %2u x %3u = %4u threads  %s\n", block.x, block.y, block.z, block.count(), cu::name(result));
    as_expected = as_expected && result == (block.z > 64 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
  }
  CU_CHECK(cuCtxSynchronize());
  return as_expected;
}

int main() try {
  cu::Primary context;
  cu::Module module(cu::image("kernels.ptx"));
  one_dimension(module);
  two_dimensions(module);
  three_dimensions(module);
  const bool as_computed = warps(module);
  return shapes(module) && as_computed ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
