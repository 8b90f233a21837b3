// Storage for registers, shared and local memory, and for views: used again and again, since launches are many and
// short.
#include "common/simulator/exec/block.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace cudasim {
namespace {

constexpr u64 kLeast = 4096;
constexpr u64 kKept = u64{64} << 20;  // bytes, unused, all sizes together

struct Store {
  std::mutex mutex;
  std::vector<std::byte*> unused[64];  // by the logarithm of the size
  u64 bytes = 0;
};

Store& store() {
  static Store* made = new Store;  // threads may still give back when the program ends
  return *made;
}

}  // namespace

Buffer::Buffer(u64 size) : capacity_(std::bit_ceil(size < kLeast ? kLeast : size)) {
  {
    Store& s = store();
    std::lock_guard lock(s.mutex);
    auto& unused = s.unused[std::countr_zero(capacity_)];
    if (!unused.empty()) {
      bytes_ = unused.back();
      unused.pop_back();
      s.bytes -= capacity_;
      return;
    }
  }
  bytes_ = static_cast<std::byte*>(std::aligned_alloc(kLeast, capacity_));
  if (bytes_ == nullptr) throw std::bad_alloc();
}

Buffer::~Buffer() {
  if (bytes_ == nullptr) return;
  Store& s = store();
  {
    std::lock_guard lock(s.mutex);
    if (s.bytes + capacity_ <= kKept) {
      s.unused[std::countr_zero(capacity_)].push_back(bytes_);
      s.bytes += capacity_;
      return;
    }
  }
  std::free(bytes_);
}

struct Views::Store {
  std::mutex mutex;
  std::vector<std::unique_ptr<Kept>> unused;
};

Views::Store& Views::store() {
  static Store* made = new Store;
  return *made;
}

Views::Views(u64 context) {
  {
    Store& s = store();
    std::lock_guard lock(s.mutex);
    if (!s.unused.empty()) {
      kept_ = std::move(s.unused.back());
      s.unused.pop_back();
    }
  }
  if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
  if (kept_->context != context) kept_->epoch = ~u64{0};
  kept_->context = context;
}

Views::~Views() {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  s.unused.push_back(std::move(kept_));
}

View* Views::refreshed() {
  const u64 now = AddressSpace::instance().epoch();
  if (kept_->epoch != now) {
    kept_->epoch = now;
    std::fill_n(kept_->views, kViews, View());
  }
  return kept_->views;
}

}  // namespace cudasim
