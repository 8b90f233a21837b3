// Checks the learner's kernel decode() (exercise of 04-kernels/34-decode-attention).
#include "04-kernels/34-decode-attention/shape.hpp"
#include "04-kernels/attribute.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/bfloat16.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr int kHead = 64, kPart = kMostGroup * (kHead + 2);
constexpr std::uint16_t kNaN = 0xffff;

struct Size {
  std::vector<int> lengths;
  int blocks, heads = 2, group = 4;
  float factor = 1;  // of the numbers in q

  int requests() const { return static_cast<int>(lengths.size()); }
  int pairs() const { return requests() * heads; }
  int rows() const { return pairs() * group; }
  int keys() const {
    int sum = 0;
    for (const int length : lengths) sum += length;
    return sum;
  }
  int pages() const {
    int sum = 0;
    for (const int length : lengths) sum += (length + kPage - 1) / kPage;
    return sum;
  }
};

// Numbers from -2 to 2 in steps of 1/32 times a power of two.
std::vector<std::uint16_t> numbers(std::size_t count, unsigned seed, float factor) {
  std::vector<std::uint16_t> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    unsigned hash = static_cast<unsigned>(i) * 2654435761u + seed;
    hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
    const float value = factor * static_cast<float>(static_cast<int>((hash >> 16) % 129) - 64) / 32;
    elements[i] = bfloat16(value);
  }
  return elements;
}

template <class T>
cu::Memory copied(const std::vector<T>& host) {
  cu::Memory memory(host.size() * sizeof(T));
  CU_CHECK(cuMemcpyHtoD(memory.address, host.data(), host.size() * sizeof(T)));
  return memory;
}

// The pages of the requests alternate and are in reverse order. Rows of a page that no key uses are NaN, and so is a
// whole page, whose number is in all entries of the table that no request uses.
class Problem {
 public:
  explicit Problem(const Size& size)
      : size_(size),
        q_(numbers(std::size_t(size.rows()) * kHead, 1, size.factor)),
        k_(std::size_t(size.pages() + 1) * size.heads * kPage * kHead, kNaN),
        v_(k_.size(), kNaN) {
    for (const int length : size.lengths) pitch_ = std::max(pitch_, (length + kPage - 1) / kPage);
    table_.assign(std::size_t(size.requests()) * pitch_, size.pages());
    int page = size.pages();
    for (int i = 0; i < pitch_; ++i) {
      for (int r = 0; r < size.requests(); ++r) {
        if (i * kPage < size.lengths[r]) table_[r * pitch_ + i] = --page;
      }
    }
    const auto keys = numbers(k_.size(), 77, 1), values = numbers(v_.size(), 345, 1);
    for (int r = 0; r < size.requests(); ++r) {
      for (int h = 0; h < size.heads; ++h) {
        for (int key = 0; key < size.lengths[r]; ++key) {
          const std::size_t at = row(r, h, key);
          std::copy_n(&keys[at], kHead, &k_[at]), std::copy_n(&values[at], kHead, &v_[at]);
        }
      }
    }
    on_device_[0] = copied(q_), on_device_[1] = copied(k_), on_device_[2] = copied(v_), on_device_[3] = copied(table_);
    on_device_[4] = copied(size.lengths);
    CU_CHECK(cuMemsetD8(parts_.address, 0xff, std::size_t(size.pairs()) * size.blocks * kPart * 4));
    CU_CHECK(cuMemsetD8(done_.address, 0, std::size_t(4) * size.pairs()));
    clear();
  }

  void launch(CUfunction kernel) {
    CUdeviceptr addresses[5];
    for (int i = 0; i < 5; ++i) addresses[i] = on_device_[i].address;
    void* arguments[] = {&addresses[0], &addresses[1],   &addresses[2],  &addresses[3], &addresses[4], &o_.address,
                         &lse_.address, &parts_.address, &done_.address, &pitch_,       &size_.group,  &scale_};
    CU_CHECK(
        cuLaunchKernel(kernel, size_.blocks, size_.heads, size_.requests(), 32, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void clear() {
    CU_CHECK(cuMemsetD16(o_.address, kNaN, std::size_t(size_.rows()) * kHead));
    CU_CHECK(cuMemsetD32(lse_.address, 0xffffffff, size_.rows()));
  }

  struct Wrong {
    int o, lse;  // how many elements are wrong
  };
  Wrong wrong() const {
    std::vector<std::uint16_t> o(std::size_t(size_.rows()) * kHead);
    std::vector<float> lse(size_.rows());
    CU_CHECK(cuMemcpyDtoH(o.data(), o_.address, 2 * o.size()));
    CU_CHECK(cuMemcpyDtoH(lse.data(), lse_.address, 4 * lse.size()));
    Wrong wrong{0, 0};
    for (int i = 0; i < size_.rows(); ++i) {
      const Row right = exact(i);
      wrong.lse += std::isinf(right.lse) ? lse[i] != right.lse
                                         : !(std::abs(lse[i] - right.lse) <= 1e-4 + 1e-5 * std::abs(right.lse));
      for (int c = 0; c < kHead; ++c) {
        // Weights and o are rounded to bfloat16, each by at most 2^-9 of its value.
        wrong.o += !(std::abs(from_bfloat16(o[std::size_t(i) * kHead + c]) - right.o[c]) <= 0.01 * right.magnitude[c]);
      }
    }
    return wrong;
  }

 private:
  struct Row {
    double o[kHead], magnitude[kHead], lse;
  };
  std::size_t row(int request, int head, int key) const {
    return ((std::size_t(table_[request * pitch_ + key / kPage]) * size_.heads + head) * kPage + key % kPage) * kHead;
  }
  Row exact(int i) const {
    const int pair = i / size_.group, request = pair / size_.heads, head = pair % size_.heads;
    Row found{};
    found.lse = -INFINITY;
    std::vector<double> scores;
    for (int key = 0; key < size_.lengths[request]; ++key) {
      double sum = 0;
      for (int c = 0; c < kHead; ++c) {
        sum += double{from_bfloat16(q_[std::size_t(i) * kHead + c])} * from_bfloat16(k_[row(request, head, key) + c]);
      }
      scores.push_back(sum * scale_);
    }
    if (scores.empty()) return found;
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - most);
    for (std::size_t key = 0; key < scores.size(); ++key) {
      for (int c = 0; c < kHead; ++c) {
        const double product = scores[key] / sum * from_bfloat16(v_[row(request, head, static_cast<int>(key)) + c]);
        found.o[c] += product, found.magnitude[c] += std::abs(product);
      }
    }
    found.lse = most + std::log(sum);
    return found;
  }

  Size size_;
  std::vector<std::uint16_t> q_, k_, v_;
  std::vector<int> table_;
  int pitch_ = 1;
  cu::Memory on_device_[5], o_{std::size_t(2) * size_.rows() * kHead}, lse_{std::size_t(4) * size_.rows()};
  cu::Memory parts_{std::size_t(4) * size_.pairs() * size_.blocks * kPart}, done_{std::size_t(4) * size_.pairs()};
  float scale_ = 0.125f;
};

Problem::Wrong wrong(const Size& size, int launches = 1) {
  cu::Context context;
  const cu::Module module(cu::image("exercise.ptx"));
  Problem problem(size);
  for (int i = 0; i < launches; ++i) {
    problem.clear();
    problem.launch(module.function("decode"));
  }
  return problem.wrong();
}

const Size kCounted{{200, 33}, 3};

template <class Instrumented, class Look>
auto observed(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Problem problem(kCounted);
  problem.launch(kernel.function("decode"));
  CU_CHECK(cuCtxSynchronize());
  return look(kernel);
}

}  // namespace

TEST_CASE("one block and one page: every element of o is right") {
  NEEDS_MMA();
  CHECK(wrong({{kPage}, 1}).o == 0);
}

TEST_CASE("the pages of a request are where the table says") {
  NEEDS_MMA();
  CHECK(wrong({{80, 32}, 1}).o == 0);
}

TEST_CASE("any number of keys: the rows behind the last key may contain anything") {
  NEEDS_MMA();
  for (const int keys : {1, 15, 17, 63, 64, 65}) {
    CAPTURE(keys);
    CHECK(wrong({{keys}, 1}).o == 0);
  }
}

TEST_CASE("several blocks share a head, and their parts have different largest scores") {
  NEEDS_MMA();
  CHECK(wrong({{96, 160}, 3}).o == 0);
  CHECK(wrong({{100, 70}, 4, 2, 4, 16}).o == 0);
}

TEST_CASE("a block may have no page, and a request no key: its output is 0, and its lse -inf") {
  NEEDS_MMA();
  const Problem::Wrong found = wrong({{20, 0, 1}, 5});
  CHECK(found.o == 0);
  CHECK(found.lse == 0);
}

TEST_CASE("one head of q or sixteen use a head of k and v") {
  NEEDS_MMA();
  CHECK(wrong({{40}, 2, 3, 1}).o == 0);
  CHECK(wrong({{40}, 2, 1, 16}).o == 0);
}

TEST_CASE("lse is the natural logarithm of the sum of the exponentials") {
  NEEDS_MMA();
  REQUIRE(wrong({{65, 50}, 3}).o == 0);
  CHECK(wrong({{65, 50}, 3}).lse == 0);
  CHECK(wrong({{65, 50}, 3, 2, 4, 16}).lse == 0);
}

TEST_CASE("the kernel can be launched again") {
  NEEDS_MMA();
  REQUIRE(wrong({{65, 50}, 3}).o == 0);
  CHECK(wrong({{65, 50}, 3}, 2).o == 0);
}

TEST_CASE("all heads of a group use a page together, and no page is loaded twice") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted).o == 0);
  constexpr int kMmasOfPage = 4 * kHead / 16;
  const int pages = kCounted.pages() * kCounted.heads;
  INFO("the requests have " << pages << " pages of a head, and each takes " << kMmasOfPage << " mma");
  const auto executed = [](const Counted& counted) { return counted.executed_by_warps("mma"); };
  CHECK(observed<Counted>(executed) <= pages * kMmasOfPage);
  const std::size_t cache = std::size_t{4} * kCounted.keys() * kCounted.heads * kHead;
  const std::size_t parts = std::size_t{4} * kCounted.pairs() * kCounted.blocks * kCounted.group * kHead;
  INFO("keys and values: " << cache << " bytes; parts: " << parts << " bytes without totals");
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().loaded; }) <= cache + 6 * parts);
}

TEST_CASE("a block stores its part once, and the last one stores o and lse") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted).o == 0);
  const std::size_t parts = std::size_t{4} * kCounted.pairs() * kCounted.blocks * kCounted.group * (kHead + 2);
  const std::size_t results = std::size_t(kCounted.rows()) * (2 * kHead + 4), counters = 4 * kCounted.pairs();
  INFO("parts: " << parts << " bytes, results: " << results << " bytes");
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().stored; }) <= parts + results + counters);
}

TEST_CASE("on a GPU, the kernel reaches 40% of the speed of the lesson's kernel") {
  NEEDS_MMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(wrong(kCounted).o == 0);
  constexpr int kRequests = 16, kHeads = 8, kKeys = 8192, kSplits = 32, kPagesOfRequest = kKeys / kPage;
  std::vector<int> table(kRequests * kPagesOfRequest);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int>(i);
  const cu::Memory tables = copied(table), lengths = copied(std::vector<int>(kRequests, kKeys));
  const std::size_t bytes = std::size_t{2} * kRequests * kHeads * kKeys * kHead, rows = kRequests * kHeads * 4;
  const cu::Memory cache(2 * bytes), q(2 * rows * kHead), o(2 * rows * kHead), lse(4 * rows);
  const cu::Memory parts(std::size_t{4} * kRequests * kHeads * kSplits * kPart), done(4 * rows);
  for (const auto& [memory, size] : {std::pair{&cache, 2 * bytes}, {&q, 2 * rows * kHead}, {&done, 4 * rows}}) {
    CU_CHECK(cuMemsetD8(memory->address, 0, size));
  }
  const cu::Module exercise(cu::image("exercise.ptx")), lesson(cu::image("kernels.ptx"));
  const CUfunction kernel = exercise.function("decode"), even = lesson.function("even_64");
  int pitch = kPagesOfRequest, group = 4;
  float scale = 0.125f;
  CUdeviceptr at[] = {q.address, cache.address, cache.address + bytes, tables.address, lengths.address,
                      o.address, lse.address,   parts.address,         done.address};
  void* arguments[] = {&at[0], &at[1], &at[2], &at[3], &at[4], &at[5], &at[6], &at[7], &at[8], &pitch, &group, &scale};
  const double seconds = cu::median_device_seconds(
      [&] { CU_CHECK(cuLaunchKernel(kernel, kSplits, kHeads, kRequests, 32, 1, 1, 0, nullptr, arguments, nullptr)); });
  using S = Even<64>;
  const auto pointer = [&](int i) { return reinterpret_cast<void*>(at[i]); };
  Decode decode{pointer(0),
                pointer(1),
                pointer(2),
                nullptr,
                nullptr,
                static_cast<int*>(pointer(3)),
                static_cast<int*>(pointer(4)),
                pointer(5),
                static_cast<float*>(pointer(6)),
                static_cast<float*>(pointer(7)),
                static_cast<unsigned*>(pointer(8)),
                kRequests,
                kHeads,
                group,
                pitch,
                1,
                scale};
  const unsigned blocks = kBlocks * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  void* of_lesson[] = {&decode};
  CU_CHECK(cuFuncSetAttribute(even, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes<S>));
  const double least = cu::median_device_seconds([&] {
    CU_CHECK(cuLaunchKernel(even, blocks, 1, 1, kThreads, 1, 1, kSharedBytes<S>, nullptr, of_lesson, nullptr));
  });
  INFO("16 requests of 8192 keys: " << seconds * 1e6 << " us, and " << least * 1e6 << " us for the lesson's kernel");
  CHECK(least / seconds >= 0.4);
}
