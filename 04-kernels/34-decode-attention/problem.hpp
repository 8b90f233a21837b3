// One problem: requests, their keys and values in a cache, and what is right in double precision.
#pragma once
#include "04-kernels/attention.hpp"
#include "common/cu.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

struct Cache {
  bool paged;
  int bytes;  // of an element
  bool operator==(const Cache& other) const { return paged == other.paged && bytes == other.bytes; }
};

struct Size {
  std::vector<int> lengths;  // keys of each request
  int kv_heads, group, head;
  float factor = 1;  // of the random normals in q
};

class Problem {
 public:
  Problem(const cu::Module& module, const Size& size, const Cache& cache, bool poison = false)
      : module_(module), size_(size), cache_(cache), pages_of_(size.lengths) {
    for (int& pages : pages_of_) pages = (pages + kPage - 1) / kPage;
    pitch_ = std::max(1, *std::max_element(pages_of_.begin(), pages_of_.end()));
    pages_ = cache.paged ? std::accumulate(pages_of_.begin(), pages_of_.end(), 0) : pitch_ * requests();
    CU_CHECK(cuMemsetD8(done_.address, 0, 4 * rows()));
    CU_CHECK(cuMemcpyHtoD(lengths_.address, size.lengths.data(), 4 * size.lengths.size()));
    if (cache.paged) fill_table();
    fill_cache(poison);
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    const auto* const scales = static_cast<const float*>(pointer(scales_));
    decode_ = {pointer(q_),
               pointer(k_),
               pointer(v_),
               scales,
               scales + size.kv_heads,
               cache.paged ? static_cast<const int*>(pointer(table_)) : nullptr,
               static_cast<const int*>(pointer(lengths_)),
               pointer(o_),
               static_cast<float*>(pointer(lse_)),
               static_cast<float*>(pointer(parts_)),
               static_cast<unsigned*>(pointer(done_)),
               requests(),
               size.kv_heads,
               size.group,
               pitch_,
               1,
               1 / std::sqrt(static_cast<float>(size.head))};
    void* arguments[] = {&decode_, &exact_.address, &exact_rows_.address};
    launch("decode_exact_" + std::to_string(size.head) + "_" + std::to_string(cache.bytes), requests() * size.kv_heads,
           arguments);
    clear();
  }

  const Size& size() const { return size_; }
  const Cache& cache() const { return cache_; }
  const Decode& decode() const { return decode_; }
  int requests() const { return static_cast<int>(size_.lengths.size()); }
  int heads() const { return requests() * size_.kv_heads; }
  // Bytes of the keys and values that exist.
  double bytes() const {
    return 2.0 * std::accumulate(size_.lengths.begin(), size_.lengths.end(), 0.0) * size_.kv_heads * size_.head *
           cache_.bytes;
  }
  double bytes_of_cache() const { return 2.0 * static_cast<double>(elements()) * cache_.bytes; }

  struct Comparison {  // as in attention_exact.hpp
    unsigned wrong;
    double errors, values;
    double relative() const { return std::sqrt(errors / values); }
  };
  // Compares o and lse with what is right, and overwrites them with NaN for the next kernel.
  Comparison compare() const {
    cu::Memory comparison(sizeof(Comparison));
    CU_CHECK(cuMemsetD8(comparison.address, 0, sizeof(Comparison)));
    Attention attention{};
    attention.o = decode_.o, attention.lse = decode_.lse;
    CUdeviceptr exact = exact_.address, exact_rows = exact_rows_.address, to = comparison.address;
    std::size_t count = rows();
    void* arguments[] = {&attention, &exact, &exact_rows, &count, &to};
    launch("compare_" + std::to_string(size_.head), static_cast<int>(std::min<std::size_t>(count, kMostBlocks)),
           arguments);
    Comparison found;
    CU_CHECK(cuMemcpyDtoH(&found, comparison.address, sizeof found));
    clear();
    return found;
  }
  // The bits of o and of lse.
  std::vector<unsigned short> o() const { return read<unsigned short>(o_, rows() * size_.head); }
  std::vector<unsigned> lse() const { return read<unsigned>(lse_, rows()); }

 private:
  static constexpr std::size_t kMostBlocks = 1024;

  static int multiprocessors() {
    CUdevice device;
    int count;
    CU_CHECK(cuCtxGetDevice(&device));
    CU_CHECK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    return count;
  }
  std::size_t rows() const { return std::size_t(heads()) * size_.group; }
  std::size_t elements() const { return std::size_t(pages_) * size_.kv_heads * kPage * size_.head; }

  // The pages of all requests in an order that no kernel can guess: multiples of a number that has no common factor
  // with their count. Entries that a kernel must not use are -1.
  void fill_table() {
    std::vector<int> table(std::size_t(requests()) * pitch_, -1);
    int step = static_cast<int>(pages_ * 0.618) + 1, page = 0;
    while (std::gcd(step, std::max(pages_, 1)) != 1) ++step;
    for (int r = 0; r < requests(); ++r) {
      for (int i = 0; i < pages_of_[r]; ++i) {
        page = static_cast<int>((std::size_t(page) + step) % pages_);
        table[std::size_t(r) * pitch_ + i] = page;
      }
      last_pages_.push_back(page);
    }
    table_ = cu::Memory(4 * table.size());
    CU_CHECK(cuMemcpyHtoD(table_.address, table.data(), 4 * table.size()));
  }

  void fill_cache(bool poison) {
    std::vector<float> scales(std::size_t(2) * size_.kv_heads);
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = (4 + static_cast<float>(i % 3)) / 256;
    CU_CHECK(cuMemcpyHtoD(scales_.address, scales.data(), 4 * scales.size()));
    k_ = cu::Memory(elements() * cache_.bytes + 16), v_ = cu::Memory(elements() * cache_.bytes + 16);
    fill_normals(q_, rows() * size_.head, 1, size_.factor);
    for (const auto& [memory, seed, at] : {std::tuple{&k_, 0x40000001u, 0}, {&v_, 0x80000001u, size_.kv_heads}}) {
      CUdeviceptr address = memory->address, of_scales = scales_.address + 4 * at;
      std::size_t count = elements();
      unsigned number = seed;
      if (cache_.bytes == 2) {
        fill_normals(*memory, count, seed, 1);
      } else {
        void* arguments[] = {&address, &count, &number, &of_scales, &size_.kv_heads, &size_.head};
        launch("fill_e4m3", kMostBlocks, arguments);
      }
      if (poison) fill_unused(address);
    }
  }
  // Rows behind the last key of a request become NaN.
  void fill_unused(CUdeviceptr cache) const {
    const std::size_t row = std::size_t(size_.head) * cache_.bytes;
    for (int r = 0; r < requests(); ++r) {
      const int room = cache_.paged ? pages_of_[r] * kPage : pitch_ * kPage, unused = room - size_.lengths[r];
      for (int h = 0; h < size_.kv_heads && unused > 0; ++h) {
        const std::size_t end = cache_.paged ? (std::size_t(last_pages_[r]) * size_.kv_heads + h + 1) * kPage
                                             : (std::size_t(r) * size_.kv_heads + h + 1) * room;
        CU_CHECK(cuMemsetD8(cache + (end - unused) * row, 0xff, unused * row));
      }
    }
  }
  void fill_normals(const cu::Memory& memory, std::size_t count, unsigned seed, float factor) const {
    CUdeviceptr address = memory.address;
    void* arguments[] = {&address, &count, &seed, &factor};
    launch("fill_normals", static_cast<int>(std::min(count / 256 + 1, kMostBlocks)), arguments);
  }
  void clear() const {
    CU_CHECK(cuMemsetD8(o_.address, 0xff, 2 * rows() * size_.head));
    CU_CHECK(cuMemsetD8(lse_.address, 0xff, 4 * rows()));
  }
  void launch(const std::string& kernel, int blocks, void** arguments) const {
    CU_CHECK(cuLaunchKernel(module_.function(kernel.c_str()), blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }
  template <class T>
  static std::vector<T> read(const cu::Memory& memory, std::size_t count) {
    std::vector<T> found(count);
    CU_CHECK(cuMemcpyDtoH(found.data(), memory.address, count * sizeof(T)));
    return found;
  }

  const cu::Module& module_;
  Size size_;
  Cache cache_;
  std::vector<int> pages_of_, last_pages_;
  int pitch_ = 1, pages_ = 0;
  cu::Memory q_{2 * rows() * size_.head}, o_{2 * rows() * size_.head}, lse_{4 * rows()}, k_, v_, table_;
  cu::Memory lengths_{4 * size_.lengths.size()}, scales_{8 * std::size_t(size_.kv_heads)}, done_{4 * rows()};
  cu::Memory parts_{std::size_t(2) * kBlocks * multiprocessors() * kPartFloats * sizeof(float)};
  cu::Memory exact_{8 * rows() * size_.head}, exact_rows_{16 * rows()};
  Decode decode_;
};
