// Checks the learner's kernel row_sums() (exercise of 04-kernels/28-hopper-schedule).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

constexpr int kRows = 64, kColumns = 32;  // of a box
constexpr std::size_t kBoxBytes = kRows * kColumns * sizeof(float);
constexpr int kMostTries = 100000;  // at waiting for a barrier, in one launch

// The learner's image with counters: it counts TMA loads, the bytes that barriers expect, and fences. A wait for a
// phase that never completes would hang the check, so threads that try too often exit. The second warp sleeps before it
// reads from shared memory, so that it notices if the next box has been loaded too early. Works on every device.
class Watched {
 public:
  explicit Watched(const std::string& image) {
    std::ifstream file(image);
    std::string text, line;
    std::size_t declarations = 0;
    while (std::getline(file, line)) {
      text += counter(line) + line + '\n';
      if (line.rfind(".address_size", 0) == 0) declarations = text.size();
    }
    text.insert(declarations, ".visible .global .align 8 .b64 watched[4];\n");
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }

  CUfunction function(const char* name) const { return module_.function(name); }

  // What all threads together have executed.
  struct Counts {
    unsigned long long loads, expected_bytes, fences, tries;
  };
  Counts counts() const {
    CUdeviceptr address;
    Counts found;
    CU_CHECK(cuModuleGetGlobal(&address, nullptr, module_.handle, "watched"));
    CU_CHECK(cuMemcpyDtoH(&found, address, sizeof found));
    return found;
  }

 private:
  // Returns PTX that counts or delays the instruction of a line, or "" for other instructions.
  static std::string counter(const std::string& line) {
    static const std::regex load(R"(\s*cp\.async\.bulk\.tensor\..*global\.mbarrier.*)");
    static const std::regex expect(R"(\s*mbarrier\.(?:arrive\.)?expect_tx\..*,\s*([%\w]+);.*)");
    static const std::regex fence(R"(\s*fence\.(?:mbarrier_init|proxy\.async).*)");
    static const std::regex read(R"(.*\bld\.(?:volatile\.)?shared\..*)");
    static const std::regex wait(R"(\s*mbarrier\.(?:try|test)_wait\..*)");
    if (std::regex_match(line, load)) return "red.global.add.u64 [watched], 1;\n";
    if (std::smatch bytes; std::regex_match(line, bytes, expect)) {
      return "{ .reg .b32 %bytes; .reg .b64 %wide; mov.b32 %bytes, " + bytes[1].str() +
             "; cvt.u64.u32 %wide, %bytes; red.global.add.u64 [watched+8], %wide; }\n";
    }
    if (std::regex_match(line, fence)) return "red.global.add.u64 [watched+16], 1;\n";
    if (std::regex_match(line, wait)) {
      return "{ .reg .b64 %tries; .reg .pred %many; atom.global.add.u64 %tries, [watched+24], 1;\n"
             "setp.gt.u64 %many, %tries, " +
             std::to_string(kMostTries) + "; @%many exit; }\n";
    }
    if (std::regex_match(line, read)) {
      return "{ .reg .b32 %thread; .reg .pred %late; mov.u32 %thread, %tid.x; setp.ge.u32 %late, %thread, 32;\n"
             "@%late nanosleep.u32 2000; }\n";
    }
    return "";
  }

  cu::Module module_;
};

// A matrix of floats that are small integers, so that all sums are exact, and its map for boxes of 64 × 32.
struct Matrix {
  int rows, columns;
  std::vector<float> elements;
  cu::Memory memory, sums;
  CUtensorMap map;

  Matrix(int blocks, int boxes)
      : rows(blocks * kRows),
        columns(boxes * kColumns),
        elements(static_cast<std::size_t>(rows) * columns),
        memory(elements.size() * sizeof(float)),
        sums(rows * sizeof(float)) {
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i * 2654435761u % 32768 % 101);
    CU_CHECK(cuMemcpyHtoD(memory.address, elements.data(), elements.size() * sizeof(float)));
    CU_CHECK(cuMemsetD32(sums.address, 0xffffffff, rows));
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t pitch[] = {columns * sizeof(float)};
    const cuuint32_t box[] = {kColumns, kRows}, strides[] = {1, 1};
    CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(memory.address),
                                    sizes, pitch, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  }

  void launch(CUfunction kernel) {
    int boxes = columns / kColumns;
    void* arguments[] = {&map, &sums.address, &boxes};
    CU_CHECK(cuLaunchKernel(kernel, rows / kRows, 1, 1, kRows, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Describes the first wrong sum, or returns "".
  std::string wrong() const {
    std::vector<float> got(rows);
    CU_CHECK(cuMemcpyDtoH(got.data(), sums.address, got.size() * sizeof(float)));
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      for (int column = 0; column < columns; ++column)
        sum += elements[static_cast<std::size_t>(row) * columns + column];
      if (got[row] != sum)
        return "the sum of row " + std::to_string(row) + " is " + std::to_string(got[row]) + ", not " +
               std::to_string(sum);
    }
    return "";
  }
};

bool has_tma() {
  CUdevice device;
  int major;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  return major >= 9;
}
#define NEEDS_TMA() \
  if (!has_tma()) SKIP_TEST("the TMA needs compute capability 9.0")

// What one launch of the instrumented kernel has done.
struct Observed {
  std::string wrong;  // a description of the first wrong sum, or ""
  Watched::Counts counts;
};
Observed observed(int blocks, int boxes) {
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Matrix matrix(blocks, boxes);
  matrix.launch(watched.function("row_sums"));
  CU_CHECK(cuCtxSynchronize());
  return {matrix.wrong(), watched.counts()};
}

}  // namespace

TEST_CASE("every wait for the barrier ends") {
  NEEDS_TMA();
  for (const int boxes : {1, 2, 5}) {
    const auto tries = observed(1, boxes).counts.tries;
    INFO(boxes << " boxes: the threads have polled the barrier " << tries << " times, and were stopped");
    CHECK(tries < kMostTries);
  }
}

TEST_CASE("one box: every row has its sum") {
  NEEDS_TMA();
  CHECK(observed(1, 1).wrong == "");
}

TEST_CASE("several boxes: every row has its sum") {
  NEEDS_TMA();
  for (const int boxes : {2, 3, 8}) {
    CAPTURE(boxes);
    CHECK(observed(1, boxes).wrong == "");
  }
}

TEST_CASE("several blocks: every row has its sum") {
  NEEDS_TMA();
  CHECK(observed(3, 4).wrong == "");
}

TEST_CASE("the TMA loads each box once") {
  NEEDS_TMA();
  const Observed found = observed(2, 5);
  INFO("2 blocks of 5 boxes: " << found.counts.loads << " TMA loads");
  CHECK(found.counts.loads == 10);
}

TEST_CASE("the barrier expects the bytes of each box") {
  NEEDS_TMA();
  const Observed found = observed(2, 5);
  INFO("2 blocks of 5 boxes of " << kBoxBytes << " bytes: the barrier expects " << found.counts.expected_bytes);
  CHECK(found.counts.expected_bytes == 10 * kBoxBytes);
}

// Without the fence, the result may be right by luck.
TEST_CASE("a fence makes the new barrier visible to the TMA") {
  NEEDS_TMA();
  CHECK(observed(1, 1).counts.fences >= 1);
}

TEST_CASE("shared memory is read without bank conflicts") {
  NEEDS_TMA();
  REQUIRE(observed(1, 3).wrong == "");
  cu::Context context;
  const Traffic traffic(cu::image("exercise.ptx"));
  Matrix matrix(1, 3);
  matrix.launch(traffic.function("row_sums"));
  CU_CHECK(cuCtxSynchronize());
  CHECK(traffic.conflicting() == "");
}

TEST_CASE("on a GPU, the kernel reaches 50% of the peak bandwidth") {
  NEEDS_TMA();
  if (cu::Context context; is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(observed(3, 4).wrong == "");
  cu::Context context;
  const double peak = cu::memory_limit(context.device);
  if (peak == 0) SKIP_TEST("the driver does not report the memory's clock");
  cu::Module module(cu::image("exercise.ptx"));
  Matrix matrix(2048, 64);  // 1 GiB
  const double seconds = cu::median_device_seconds([&] { matrix.launch(module.function("row_sums")); });
  const double share = static_cast<double>(matrix.rows) * matrix.columns * sizeof(float) / seconds / 1e9 / peak;
  INFO("The kernel reaches " << share << " of " << peak << " GB/s.");
  CHECK(share >= 0.5);
}
