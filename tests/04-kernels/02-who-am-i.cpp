// Checks the learner's kernel coordinates() (exercise of 04-kernels/02-who-am-i).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

#include <vector>

namespace {

constexpr int kPast = 4096;  // numbers past the end of the volume, in the same allocation
constexpr int kUntouched = -1;

struct Shape {
  int x, y, z;
};

struct Counted {
  int wrong = 0;         // elements of the volume with a wrong value
  int past_the_end = 0;  // numbers past its end that were overwritten
};

// Runs coordinates() on a volume, in as many blocks as cover it.
Counted coordinates(Shape volume, Shape block) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const int count = volume.x * volume.y * volume.z;
  std::vector<int> host(count + kPast, kUntouched);
  cu::Memory memory(host.size() * sizeof(int));
  CU_CHECK(cuMemcpyHtoD(memory.address, host.data(), host.size() * sizeof(int)));

  void* arguments[] = {&memory.address, &volume.x, &volume.y, &volume.z};
  auto blocks = [](int size, int of) { return (size + of - 1) / of; };
  CU_CHECK(cuLaunchKernel(module.function("coordinates"), blocks(volume.x, block.x), blocks(volume.y, block.y),
                          blocks(volume.z, block.z), block.x, block.y, block.z, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(host.data(), memory.address, host.size() * sizeof(int)));

  Counted counted;
  for (int i = 0; i < count; ++i) {
    const int x = i % volume.x, y = i / volume.x % volume.y, z = i / volume.x / volume.y;
    counted.wrong += host[i] != 10000 * z + 100 * y + x;
  }
  for (int i = count; i < count + kPast; ++i) counted.past_the_end += host[i] != kUntouched;
  return counted;
}

}  // namespace

TEST_CASE("one row in one block: every thread finds its element") {
  CHECK(coordinates({32, 1, 1}, {32, 1, 1}).wrong == 0);
}

TEST_CASE("one three-dimensional block: every thread finds its element") {
  CHECK(coordinates({8, 4, 2}, {8, 4, 2}).wrong == 0);
}

TEST_CASE("several blocks in every direction, of any size: every thread finds its element") {
  CHECK(coordinates({32, 12, 6}, {16, 4, 2}).wrong == 0);
  CHECK(coordinates({32, 12, 6}, {8, 2, 3}).wrong == 0);
}

TEST_CASE("blocks that extend past the volume in x do not write into the next row") {
  CHECK(coordinates({30, 12, 6}, {16, 4, 2}).wrong == 0);
}

TEST_CASE("blocks that extend past the volume in y do not write into the next slice") {
  CHECK(coordinates({32, 10, 6}, {16, 4, 2}).wrong == 0);
}

TEST_CASE("blocks that extend past the volume in z write nothing past its end") {
  const Counted counted = coordinates({32, 12, 5}, {16, 4, 2});
  CHECK(counted.wrong == 0);
  CHECK(counted.past_the_end == 0);
}
