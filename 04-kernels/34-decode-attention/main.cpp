// Attention of one new token for each request. All results are compared with double precision, then the kernels are
// timed with random normals.
//   --verify   only verifies small problems
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

struct Rung {
  const char *kernel, *idea;
  int head, threads, bytes, blocks;  // elements of a row; a block's threads and shared memory; blocks that must fit
};
constexpr Rung kRungs[] = {
    {"decode_128_3", "two blocks", 128, kThreads, kSharedBytes<128, 3>, 2},
    {"decode_128_6", "one block", 128, kThreads, kSharedBytes<128, 6>, 1},
    {"decode_64_6", "", 64, kThreads, kSharedBytes<64, 6>, 2},
};

struct Size {
  std::vector<int> lengths;  // keys of each request
  int kv_heads, group, head;
  float factor = 1;  // of the random normals in q
};

class Problem {
 public:
  Problem(const cu::Module& module, const Size& size) : module_(module), size_(size) {
    int multiprocessors;
    CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    most_blocks_ = 2 * multiprocessors;
    const int requests = static_cast<int>(size.lengths.size());
    int pitch = 1, pages = 0;
    for (const int keys : size.lengths) {
      pitch = std::max(pitch, (keys + kPage - 1) / kPage);
      pages += (keys + kPage - 1) / kPage;
    }
    // The pages of all requests in an order that no kernel can know: multiples of a number without a common factor.
    std::vector<int> table(std::size_t(requests) * pitch, -1);
    int step = static_cast<int>(pages * 0.618) + 1, page = 0;
    while (std::gcd(step, std::max(pages, 1)) != 1) ++step;
    for (int r = 0; r < requests; ++r) {
      for (int i = 0; i < (size.lengths[r] + kPage - 1) / kPage; ++i) {
        table[std::size_t(r) * pitch + i] = page = (page + step) % pages;
      }
    }
    rows_ = std::size_t(requests) * size.kv_heads * size.group;
    const std::size_t of_cache = std::size_t(pages) * size.kv_heads * kPage * size.head;
    q_ = cu::Memory(2 * rows_ * size.head), o_ = cu::Memory(2 * rows_ * size.head), lse_ = cu::Memory(4 * rows_);
    k_ = cu::Memory(2 * of_cache + 16), v_ = cu::Memory(2 * of_cache + 16);
    fill(q_, rows_ * size.head, 1, size.factor), fill(k_, of_cache, 2, 1), fill(v_, of_cache, 3, 1);
    table_ = cu::Memory(sizeof(int) * table.size()), lengths_ = cu::Memory(sizeof(int) * requests);
    CU_CHECK(cuMemcpyHtoD(table_.address, table.data(), sizeof(int) * table.size()));
    CU_CHECK(cuMemcpyHtoD(lengths_.address, size.lengths.data(), sizeof(int) * requests));
    parts_ = cu::Memory(sizeof(float) * std::size_t(most_blocks_) * kPartFloats<128>);
    done_ = cu::Memory(sizeof(unsigned) * requests * size.kv_heads);
    CU_CHECK(cuMemsetD32(done_.address, 0, std::size_t(requests) * size.kv_heads));
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    decode_ = {pointer(q_),
               pointer(k_),
               pointer(v_),
               static_cast<int*>(pointer(table_)),
               static_cast<int*>(pointer(lengths_)),
               pointer(o_),
               static_cast<float*>(pointer(lse_)),
               static_cast<float*>(pointer(parts_)),
               static_cast<unsigned*>(pointer(done_)),
               requests,
               size.kv_heads,
               size.group,
               pitch,
               1 / std::sqrt(static_cast<float>(size.head))};
    clear();
  }

  const Size& size() const { return size_; }
  // Bytes of k and v that must be loaded.
  double bytes() const {
    const double keys = std::accumulate(size_.lengths.begin(), size_.lengths.end(), 0.0);
    return 4 * keys * size_.kv_heads * size_.head;
  }

  void launch(const Rung& rung, CUstream stream = nullptr) const {
    Decode decode = decode_;
    void* arguments[] = {&decode};
    const CUfunction function = module_.function(rung.kernel);
    CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rung.bytes));
    CU_CHECK(cuLaunchKernel(function, most_blocks_ / 2 * rung.blocks, 1, 1, rung.threads, 1, 1, rung.bytes, stream,
                            arguments, nullptr));
  }

  struct Comparison {  // as in exact.hpp
    unsigned wrong;
    double errors, values;
    double relative() const { return std::sqrt(errors / values); }
  };
  std::vector<char> bits() const {
    std::vector<char> bits((2 * size_.head + 4) * rows_);
    CU_CHECK(cuMemcpyDtoH(bits.data(), o_.address, 2 * size_.head * rows_));
    CU_CHECK(cuMemcpyDtoH(bits.data() + 2 * size_.head * rows_, lse_.address, 4 * rows_));
    return bits;
  }
  Comparison compare() const {
    Decode decode = decode_;
    cu::Memory comparison(sizeof(Comparison));
    CU_CHECK(cuMemsetD8(comparison.address, 0, sizeof(Comparison)));
    void* arguments[] = {&decode, &comparison.address};
    const std::string kernel = "compare_" + std::to_string(size_.head);
    CU_CHECK(cuLaunchKernel(module_.function(kernel.c_str()), static_cast<unsigned>(rows_), 1, 1, size_.head, 1, 1, 0,
                            nullptr, arguments, nullptr));
    Comparison found;
    CU_CHECK(cuMemcpyDtoH(&found, comparison.address, sizeof found));
    clear();
    return found;
  }

 private:
  void clear() const {
    CU_CHECK(cuMemsetD8(o_.address, 0xff, 2 * rows_ * size_.head));
    CU_CHECK(cuMemsetD8(lse_.address, 0xff, 4 * rows_));
  }
  void fill(const cu::Memory& memory, std::size_t count, unsigned seed, float factor) const {
    CUdeviceptr address = memory.address;
    seed *= 0x9e3779b9U;
    void* arguments[] = {&address, &count, &seed, &factor};
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>(count / 256 + 1, 4096));
    CU_CHECK(cuLaunchKernel(module_.function("fill"), blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }

  const cu::Module& module_;
  Size size_;
  int most_blocks_;
  std::size_t rows_;
  cu::Memory q_, k_, v_, o_, lse_, table_, lengths_, parts_, done_;
  Decode decode_;
};

class Lesson {
 public:
  bool verify() const {
    const Size sizes[] = {{{1}, 1, 1, 128},
                          {{0, 63, 64, 65}, 2, 4, 128},
                          {{300, 0, 17, 1000, 1}, 2, 8, 128, 20},
                          {{2000}, 1, 16, 128},
                          {{15, 16, 700}, 3, 3, 64},
                          {{40, 1, 90, 0, 12}, 8, 4, 64, 5}};
    int wrong = 0;
    for (const Size& size : sizes) {
      const Problem problem(module_, size);
      for (const Rung& rung : kRungs) {
        if (rung.head != size.head) continue;
        problem.launch(rung);
        const std::vector<char> bits = problem.bits();
        const Problem::Comparison found = problem.compare();
        problem.launch(rung);
        const bool same = problem.bits() == bits;
        if (found.wrong > 0 || !same) ++wrong, std::printf("WRONG: %s, %zu requests: %u elements, same %d\n", rung.kernel, size.lengths.size(), found.wrong, same);
      }
    }
    if (wrong == 0) std::printf("%zu small problems: all results are right, and the same in a second run\n", std::size(sizes));
    return wrong == 0;
  }

  bool compare() const {
    bool right = true;
    std::printf("requests  keys     kernel          MB      us    GB/s    error\n");
    for (const auto& [requests, keys] : {std::pair{1, 4096}, {1, 16384}, {1, 65536}, {16, 4096}, {16, 16384}, {16, 65536}, {64, 4096}, {64, 16384}}) {
      const Problem problem(module_, {std::vector<int>(requests, keys), 8, 4, 128});
      for (const Rung& rung : kRungs) {
        if (rung.head != 128) continue;
        problem.launch(rung);
        const Problem::Comparison found = problem.compare();
        right &= found.wrong == 0;
        const double seconds = sustained_seconds([&] { problem.launch(rung); }, 0.1);
        std::printf("%-9d %-8d %-12s %7.1f %7.1f %7.0f  %.5f %s\n", requests, keys, rung.kernel, problem.bytes() / 1e6, seconds * 1e6, problem.bytes() / seconds / 1e9, found.relative(), found.wrong > 0 ? "WRONG" : "");
      }
    }
    return right;
  }

 private:
  const cu::Module module_{cu::image("kernels.ptx")};
};

int main(int argc, char** argv) try {
  const cu::Primary context;
  const std::string mode = argc > 1 ? argv[1] : "";
  const Lesson lesson;
  if (mode == "--verify") return lesson.verify() ? 0 : 1;
  cu::print_device(context.device);
  return lesson.verify() && lesson.compare() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
